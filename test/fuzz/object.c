/* object.c - libFuzzer target: any bytes as an ELF object, and everything that object.h tells of it.
   Built as image.h says. */
#include <string.h>
#include "lib/elf/object.h"
#include "test/fuzz/image.h"

static volatile uint64_t sink;

static void try_address(const struct object *o, uint64_t address)
{
	const uint8_t *p = object_at(o, address, 8);
	const struct object_section *s = object_section_at(o, address);

	if (p)
		sink = object_word(o, p, 8);
	if (p && object_offset(o, address) != p - o->image)
		abort();
	if (p && !object_segment(o, address))
		abort();
	if (s && !(s->h.sh_flags & SHF_ALLOC))
		abort();
	object_is_code(o, address);
}

static void try_symbols(const struct object *o, struct object_symbols s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (strlen(s.v[i].name) > o->size)
			abort();
		try_address(o, s.v[i].value);
	}
	free(s.v);
}

static void try_object(const struct object *o)
{
	struct object_relocs r = object_relocs(o);
	unsigned char digest[16];
	unsigned n;
	const uint8_t *id = object_build_id(o, &n);

	for (unsigned i = 0; id && i < n; i++)
		if (id + i >= o->image + o->size)
			abort();
	for (size_t i = 0; i < r.n; i++)
		try_address(o, r.v[i].offset);
	free(r.v);
	try_symbols(o, object_dynsyms(o));
	try_symbols(o, object_symtab(o));
	object_is_profiled(o);
	object_digest(o, digest);
	object_section(o, ".text");
	if (object_soname(o) && strlen(object_soname(o)) >= o->size)
		abort();
	for (size_t i = 0; i < o->dynnum; i++)
		object_dynstr(o, o->dynamic[i].d_un.d_val);
	for (size_t i = 0; i < o->phnum; i++)
		try_address(o, o->phdrs[i].p_vaddr + o->phdrs[i].p_filesz - 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct object o;

	if (!object_open(&o, image_file(bytes, n))) {
		try_object(&o);
		object_close(&o);
	}
	return 0;
}
