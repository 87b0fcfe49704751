/* bind.c - writes our functions into the C library's symbol table in memory, before anything is bound to it.

   la_symbind would be the loader's own way, but the loader does not ask it about references by GLOB_DAT or in data, and these are
   all there are in what was compiled with -fno-plt, as Rust's library is.  It does not tell the version either, and the two
   realpath of x86-64 differ.  In the symbol table a value counts from the load address and wraps around, so it reaches any place. */
#define RUN_NO_LIBC
#include "runtime/text.h"
#include "tools/so-run/audit/bind.h"
#include "tools/so-run/audit/kernel.h"

enum { VERSION_HIDDEN = 0x8000, TYPE_FUNCTION = 2, NAME_LONGEST = 64 };

struct table {
	ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions;
	const uint32_t *hash;
};

/* The loader has added the load address to the entries already, except on machines where they are read-only. */
static uintptr_t dynamic(const struct link_map *map, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_ptr < map->l_addr ? d->d_un.d_ptr + map->l_addr : d->d_un.d_ptr;
	return 0;
}

static struct table table_of(const struct link_map *map)
{
	return (struct table){
		.symbols = (void *)dynamic(map, DT_SYMTAB), .strings = (const void *)dynamic(map, DT_STRTAB),
		.versions = (const void *)dynamic(map, DT_VERSYM), .hash = (const void *)dynamic(map, DT_GNU_HASH),
	};
}

/* The pages of the segment that holds the symbol table.  In older libraries it has code, too, and stays executable all the time: where
   that is forbidden we may be allowed to take the right away, and not to give it back. */
static bool find_segment(struct bind *b, uintptr_t at)
{
	enum { PAGE = 4096 };
	const ElfW(Ehdr) *eh = (const void *)b->map->l_addr;
	const ElfW(Phdr) *ph;

	if (!eh || memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return false;
	ph = (const void *)(b->map->l_addr + eh->e_phoff);
	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && at - b->map->l_addr - ph[i].p_vaddr < ph[i].p_filesz) {
			b->table = (b->map->l_addr + ph[i].p_vaddr) & -(uintptr_t)PAGE;
			b->end = b->map->l_addr + ph[i].p_vaddr + ph[i].p_filesz;
			b->protection = PROT_READ | (ph[i].p_flags & PF_X ? PROT_EXEC : 0);
			return !(ph[i].p_flags & PF_W);
		}
	return false;
}

bool bind_open(struct bind *b, const struct link_map *map)
{
	struct table t = table_of(map);

	b->map = map;
	return t.symbols && t.strings && t.versions && t.hash && find_segment(b, (uintptr_t)t.symbols) &&
	       kernel_protect(b->table, b->end - b->table, b->protection | PROT_WRITE);
}

void bind_close(const struct bind *b)
{
	kernel_protect(b->table, b->end - b->table, b->protection);
}

static bool is_named(const struct table *t, uint32_t i, const char *name)
{
	const char *s = t->strings + t->symbols[i].st_name;
	size_t n = text_length(name, NAME_LONGEST);

	return text_length(s, NAME_LONGEST) == n && !memcmp(s, name, n) && t->symbols[i].st_shndx != SHN_UNDEF &&
	       (t->symbols[i].st_info & 15) == TYPE_FUNCTION;
}

/* The chain of symbols whose names have that hash: *i is the first's number; the words end with one that is odd. */
static const uint32_t *chain(const struct table *t, const char *name, uint32_t *i)
{
	uint32_t hash = 5381, buckets = t->hash[0], first = t->hash[1], bloom = t->hash[2];
	const uint32_t *bucket = t->hash + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(uint32_t));

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	*i = buckets ? bucket[hash % buckets] : 0;
	return *i < first || !*i ? NULL : bucket + buckets + (*i - first);
}

/* The same function is often there by an older version, too. */
bool bind_function(const struct bind *b, const char *name, uintptr_t ours, void *real)
{
	struct table t = table_of(b->map);
	uint32_t first, i;
	const uint32_t *words = chain(&t, name, &first);
	uintptr_t value = 0, was;

	if (!words)
		return false;
	for (i = first; ; i++) {
		if (is_named(&t, i, name) && !(t.versions[i] & VERSION_HIDDEN))
			value = t.symbols[i].st_value;
		if (words[i - first] & 1)
			break;
	}
	if (!value)
		return false;
	was = b->map->l_addr + value;
	memcpy(real, &was, sizeof was);
	for (i = first; ; i++) {
		if (is_named(&t, i, name) && t.symbols[i].st_value == value)
			t.symbols[i].st_value = ours - b->map->l_addr;
		if (words[i - first] & 1)
			return true;
	}
}
