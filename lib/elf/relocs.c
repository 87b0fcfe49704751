/* relocs.c - the dynamic relocations of an object, from the raw bytes: large libraries have most of a million. */
#include "lib/elf/object.h"
#include <stdlib.h>
#include <string.h>

typedef VEC(struct object_reloc) reloc_vec;

/* A table whose place in the file object_open has checked. */
struct table { const uint8_t *p; uint64_t address, size; };

static struct table table(const struct object *o, int64_t tag, int64_t size_tag)
{
	const GElf_Dyn *at = object_dyn(o, tag), *size = object_dyn(o, size_tag);
	struct table t = {0};

	if (!at || !size || !size->d_un.d_val)
		return t;
	t.address = at->d_un.d_ptr;
	t.size = size->d_un.d_val;
	t.p = object_at(o, t.address, t.size);
	if (!t.p)
		t.size = 0;
	return t;
}

static uint32_t relative_type(const struct object *o)
{
	switch (o->eh.e_machine) {
	case EM_X86_64: return R_X86_64_RELATIVE;
	case EM_386: return R_386_RELATIVE;
	case EM_AARCH64: return R_AARCH64_RELATIVE;
	case EM_ARM: return R_ARM_RELATIVE;
	case EM_MIPS: return R_MIPS_REL32;
	case EM_PPC: return R_PPC_RELATIVE;
	case EM_PPC64: return R_PPC64_RELATIVE;
	case EM_RISCV: return R_RISCV_RELATIVE;
	case EM_S390: return R_390_RELATIVE;
	}
	return 0;
}

static bool is_host_64(const struct object *o)
{
	return o->eh.e_ident[EI_CLASS] == ELFCLASS64 && o->eh.e_ident[EI_DATA] == ELFDATA2LSB && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

/* The word at a slot, 0 where the file has none (bss). */
static int64_t in_place(const struct object *o, uint64_t address, unsigned width)
{
	const uint8_t *p = object_at(o, address, width);

	return p ? (int64_t)object_word(o, p, width) : 0;
}

static void split_info(const struct object *o, uint64_t info, struct object_reloc *r)
{
	if (o->eh.e_ident[EI_CLASS] == ELFCLASS32) {
		r->symbol = ELF32_R_SYM((uint32_t)info);
		r->type = ELF32_R_TYPE((uint32_t)info);
	} else if (o->eh.e_machine == EM_MIPS && o->eh.e_ident[EI_DATA] == ELFDATA2LSB) {
		/* Four fields in big-endian order behind a little-endian symbol. */
		r->symbol = (uint32_t)info;
		r->type = (info >> 56 & 0xff) | (info >> 48 & 0xff) << 8 | (info >> 40 & 0xff) << 16;
	} else {
		r->symbol = ELF64_R_SYM(info);
		r->type = ELF64_R_TYPE(info);
	}
}

static void read_entry(const struct object *o, const uint8_t *p, bool has_addend, struct object_reloc *r)
{
	unsigned w = o->eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;

	r->offset = object_word(o, p, w);
	split_info(o, object_word(o, p + w, w), r);
	if (o->eh.e_machine == EM_MIPS && r->type == R_MIPS_REL32 && r->symbol)
		r->type = R_MIPS_32;	/* one type does for both there; only without a symbol it is a RELATIVE one */
	if (!has_addend)
		r->addend = in_place(o, r->offset, w);
	else
		r->addend = w == 4 ? (int32_t)object_word(o, p + 8, 4) : (int64_t)object_word(o, p + 16, 8);
}

static void read_host_rela(const uint8_t *p, struct object_reloc *r)
{
	Elf64_Rela rela;

	memcpy(&rela, p, sizeof rela);
	r->offset = rela.r_offset;
	r->addend = rela.r_addend;
	r->symbol = ELF64_R_SYM(rela.r_info);
	r->type = ELF64_R_TYPE(rela.r_info);
}

/* Adds a table's entries, but those whose bytes lie in SKIP. */
static void add_entries(const struct object *o, reloc_vec *v, struct table t, bool has_addend, enum object_reloc_table kind, struct table skip)
{
	size_t entry = (o->eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4) * (has_addend ? 3 : 2), n = t.size / entry;
	bool quick = has_addend && is_host_64(o) && o->eh.e_machine != EM_MIPS;

	vec_reserve(v, v->n + n);
	for (size_t i = 0; i < n; i++) {
		struct object_reloc *r = &v->v[v->n];
		const uint8_t *p = t.p + i * entry;

		if (t.address + i * entry - skip.address < skip.size)
			continue;
		if (quick)
			read_host_rela(p, r);
		else
			read_entry(o, p, has_addend, r);
		r->table = kind;
		r->index = i;
		v->n++;
	}
}

static void add_slot(const struct object *o, reloc_vec *v, uint64_t address, uint32_t *index)
{
	unsigned w = o->eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	struct object_reloc r = {
		.offset = address, .addend = in_place(o, address, w), .type = relative_type(o), .table = RELOC_RELR, .index = (*index)++,
	};

	vec_push(v, r);
}

/* gABI: an even word is the address of a slot; each odd one is a bitmap of the slots that follow. */
static void add_relr(const struct object *o, reloc_vec *v, struct table t)
{
	unsigned w = o->eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	uint64_t where = 0;
	uint32_t index = 0;
	bool begun = false;

	for (uint64_t i = 0; i + w <= t.size; i += w) {
		uint64_t word = object_word(o, t.p + i, w);

		if (!(word & 1)) {
			add_slot(o, v, word, &index);
			where = word + w;
			begun = true;
			continue;
		}
		if (!begun)
			continue;
		for (unsigned bit = 1; bit < 8 * w; bit++)
			if (word >> bit & 1)
				add_slot(o, v, where + (uint64_t)(bit - 1) * w, &index);
		where += (uint64_t)(8 * w - 1) * w;
	}
}

struct object_relocs object_relocs(const struct object *o)
{
	const GElf_Dyn *pltrel = object_dyn(o, DT_PLTREL);
	struct table plt = table(o, DT_JMPREL, DT_PLTRELSZ), none = {0};
	reloc_vec v = {0};

	/* Some linkers count the PLT's entries in DT_RELASZ too. */
	add_entries(o, &v, table(o, DT_RELA, DT_RELASZ), true, RELOC_RELA, plt);
	add_entries(o, &v, table(o, DT_REL, DT_RELSZ), false, RELOC_REL, plt);
	add_entries(o, &v, plt, !pltrel || pltrel->d_un.d_val != DT_REL, RELOC_PLT, none);
	add_relr(o, &v, table(o, DT_RELR, DT_RELRSZ));
	return (struct object_relocs){ v.v, v.n };
}
