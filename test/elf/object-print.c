/* object-print.c - prints what lib/elf/object.h says of a file, one fact a line; or, with -n, as if it had no section headers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/elf/object.h"

static void print_relocs(const struct object *o)
{
	static const char *const tables[] = { "rela", "rel", "plt", "relr" };
	struct object_relocs r = object_relocs(o);

	for (size_t i = 0; i < r.n; i++)
		printf("reloc %s %" PRIu32 " %" PRIx64 " %" PRIx64 " %" PRIu32 " %" PRIu32 "\n", tables[r.v[i].table], r.v[i].index,
		       r.v[i].offset, (uint64_t)r.v[i].addend, r.v[i].type, r.v[i].symbol);
	free(r.v);
}

static void print_symbols(const char *what, struct object_symbols s)
{
	for (size_t i = 0; i < s.n; i++)
		printf("%s %" PRIx64 " %" PRIx64 " %u %u %u %u %s\n", what, s.v[i].value, s.v[i].size, s.v[i].section, s.v[i].type,
		       s.v[i].bind, s.v[i].visibility, s.v[i].name);
	free(s.v);
}

static void print(const struct object *o)
{
	unsigned n;
	const uint8_t *id = object_build_id(o, &n);

	printf("soname %s\nid ", object_soname(o) ? object_soname(o) : "-");
	for (unsigned i = 0; i < n; i++)
		printf("%02x", id[i]);
	printf("\nprofiled %d\n", object_is_profiled(o));
	for (size_t i = 1; i < o->shnum; i++)
		printf("section %s %d %d\n", o->sections[i].name, object_is_code(o, o->sections[i].h.sh_addr),
		       object_section(o, o->sections[i].name) != NULL);
	print_relocs(o);
	print_symbols("dynsym", object_dynsyms(o));
	print_symbols("symtab", object_symtab(o));
}

int main(int argc, char **argv)
{
	bool bare = argc > 2 && !strcmp(argv[1], "-n");
	struct object o;
	size_t shnum;
	const char *why = object_open(&o, argv[1 + bare]);

	if (why) {
		puts(why);
		return 1;
	}
	shnum = o.shnum;
	if (bare)
		o.shnum = 0;
	print(&o);
	o.shnum = shnum;
	object_close(&o);
	return 0;
}
