/* symbols.c - the symbols of an object: .dynsym as the loader finds it, .symtab by its section header. */
#include "lib/elf/object.h"
#include <stdlib.h>
#include <string.h>

static size_t symbol_size(const struct object *o)
{
	return o->eh.e_ident[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

static void read_symbol(const struct object *o, const uint8_t *p, struct object_symbol *s, uint32_t *name)
{
	bool is_64 = o->eh.e_ident[EI_CLASS] == ELFCLASS64;
	const uint8_t *tail = is_64 ? p + 4 : p + 12;	/* info, other, section index */

	*name = object_word(o, p, 4);
	s->value = is_64 ? object_word(o, p + 8, 8) : object_word(o, p + 4, 4);
	s->size = is_64 ? object_word(o, p + 16, 8) : object_word(o, p + 8, 4);
	s->type = ELF64_ST_TYPE(tail[0]);
	s->bind = ELF64_ST_BIND(tail[0]);
	s->visibility = ELF64_ST_VISIBILITY(tail[1]);
	s->section = object_word(o, tail + 2, 2);
}

/* The dynamic symbol count where no section header gives it: all that the GNU hash table's chains reach. */
static size_t count_gnu_hash(const struct object *o, uint64_t address)
{
	unsigned w = o->eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	const uint8_t *h = object_at(o, address, 16), *p;
	uint64_t buckets, first, bloom, last = 0;

	if (!h)
		return 0;
	buckets = object_word(o, h, 4);
	first = object_word(o, h + 4, 4);
	bloom = object_word(o, h + 8, 4);
	address += 16 + bloom * w;
	p = object_at(o, address, buckets * 4);
	for (uint64_t i = 0; p && i < buckets; i++) {
		uint64_t b = object_word(o, p + 4 * i, 4);

		if (b > last)
			last = b;
	}
	if (last < first)
		return first;
	for (address += 4 * buckets; (p = object_at(o, address + 4 * (last - first), 4)); last++)
		if (object_word(o, p, 4) & 1)
			break;
	return last + 1;
}

/* Undefined symbols are in no chain, but something refers to them. */
static size_t count_relocs(const struct object *o)
{
	struct object_relocs r = object_relocs(o);
	size_t n = 0;

	for (size_t i = 0; i < r.n; i++)
		if (r.v[i].symbol >= n)
			n = (size_t)r.v[i].symbol + 1;
	free(r.v);
	return n;
}

static size_t count_dynsyms(const struct object *o, uint64_t address)
{
	const GElf_Dyn *d;
	const uint8_t *p;
	size_t n, relocs;

	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;

		if (h->sh_type == SHT_DYNSYM && h->sh_addr == address)
			return h->sh_size / symbol_size(o);
	}
	d = object_dyn(o, DT_HASH);
	if (d && (p = object_at(o, d->d_un.d_ptr, 8)))
		return object_word(o, p + 4, 4);
	d = object_dyn(o, DT_GNU_HASH);
	n = d ? count_gnu_hash(o, d->d_un.d_ptr) : 0;
	relocs = count_relocs(o);
	return n > relocs ? n : relocs;
}

/* How many bytes of the file follow the address in its segment. */
static uint64_t room(const struct object *o, uint64_t address)
{
	const GElf_Phdr *p = object_segment(o, address);
	uint64_t in = p ? address - p->p_vaddr : 0;

	return p && in < p->p_filesz ? p->p_filesz - in : 0;
}

struct object_symbols object_dynsyms(const struct object *o)
{
	const GElf_Dyn *d = object_dyn(o, DT_SYMTAB);
	struct object_symbols s = {0};
	const uint8_t *p;
	size_t n;

	if (!d)
		return s;
	n = count_dynsyms(o, d->d_un.d_ptr);
	if (n > room(o, d->d_un.d_ptr) / symbol_size(o))
		n = room(o, d->d_un.d_ptr) / symbol_size(o);
	p = object_at(o, d->d_un.d_ptr, n * symbol_size(o));
	if (!n || !p)
		return s;
	s.v = xcalloc(n, sizeof *s.v);
	s.n = n;
	for (size_t i = 0; i < n; i++) {
		uint32_t name;

		read_symbol(o, p + i * symbol_size(o), &s.v[i], &name);
		s.v[i].name = object_dynstr(o, name);
	}
	return s;
}

struct object_symbols object_symtab(const struct object *o)
{
	const struct object_section *sym = NULL, *str = NULL;
	struct object_symbols s = {0};
	const char *names = NULL;
	size_t size = 0;

	for (size_t i = 1; i < o->shnum && !sym; i++)
		if (o->sections[i].h.sh_type == SHT_SYMTAB)
			sym = &o->sections[i];
	if (!sym || sym->h.sh_size < symbol_size(o))
		return s;
	if (sym->h.sh_link && sym->h.sh_link < o->shnum)
		str = &o->sections[sym->h.sh_link];
	if (str && str->h.sh_type == SHT_STRTAB) {
		names = (const char *)o->image + str->h.sh_offset;
		size = str->h.sh_size;
	}
	while (size && names[size - 1])
		size--;
	s.n = sym->h.sh_size / symbol_size(o);
	s.v = xcalloc(s.n, sizeof *s.v);
	for (size_t i = 0; i < s.n; i++) {
		uint32_t name;

		read_symbol(o, o->image + sym->h.sh_offset + i * symbol_size(o), &s.v[i], &name);
		s.v[i].name = name < size ? names + name : "";
	}
	return s;
}
