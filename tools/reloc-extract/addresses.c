/* addresses.c - text addresses that data and code hold. */
#include <stdlib.h>
#include "tools/reloc-extract/extract.h"

enum { TOGETHER = 4, TOGETHER_BYTES = 512 };	/* return addresses in data that make a table */

bool extract_reloc_text(const struct extract *x, const struct object_reloc *r, uint64_t *text)
{
	const struct machine *m = x->c.m;
	if (code_in_got(&x->c, r->offset))
		return false;
	if (r->type == m->relative || r->type == m->irelative) {
		*text = (uint64_t)r->addend;
	} else if (r->type == m->absolute && r->symbol && r->symbol < x->dynsyms.n && r->addend
	           && x->dynsyms.v[r->symbol].section != SHN_UNDEF) {
		*text = x->dynsyms.v[r->symbol].value + (uint64_t)r->addend;	/* symbol + 0 follows the symbol */
	} else if (r->type == m->jump_slot) {
		const uint8_t *p = object_at(&x->o, r->offset, x->o.eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4);
		if (!p)
			return false;
		*text = object_word(&x->o, p, x->o.eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4);
	} else {
		return false;
	}
	return code_in(&x->c, *text) && object_is_code(&x->o, *text);
}

void extract_set_entry(struct extract *x, uint64_t a)
{
	bit_set(x->entries, a - x->c.lo);
	code_set_head(&x->c, a);
}

static int slot_order(const void *a, const void *b)
{
	const struct object_reloc *x = a, *y = b;
	return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : 0;
}

static const struct object_reloc *reloc_at(const struct extract *x, uint64_t a)
{
	struct object_reloc key = { .offset = a };
	return x->relocs.n ? bsearch(&key, x->relocs.v, x->relocs.n, sizeof key, slot_order) : NULL;
}

bool extract_slot(void *context, uint64_t a, uint64_t *text)
{
	const struct extract *x = context;
	const struct object_reloc *r = reloc_at(x, a);
	if (!r && x->o.eh.e_type == ET_EXEC) {		/* linked to its address: no relocations */
		const uint8_t *p = object_at(&x->o, a, 8);
		return p && code_in(&x->c, *text = object_word(&x->o, p, 8)) && object_is_code(&x->o, *text);
	}
	return r && r->type == x->c.m->relative && extract_reloc_text(x, r, text);
}

static int by_address(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return *x != *y ? (*x < *y ? -1 : 1) : 0;
}

static bool holds(const uint32_t *v, size_t n, uint64_t a)
{
	uint32_t key = (uint32_t)a;
	return n && a <= UINT32_MAX && bsearch(&key, v, n, sizeof key, by_address);
}

/* Sorts what the tables say: the slots of those that hold addresses, the bases of the others. */
static void sort_tables(struct extract *x)
{
	for (size_t i = 0; i < x->tables.n; i++) {
		const struct jump_table *t = &x->tables.v[i];
		for (uint32_t k = 0; k < t->count && !t->base; k++)
			vec_push(&x->label_slots, t->at + k * t->width);
		if (t->base)
			vec_push(&x->table_bases, t->base);
	}
	if (x->label_slots.n)
		qsort(x->label_slots.v, x->label_slots.n, sizeof *x->label_slots.v, by_address);
	if (x->table_bases.n)
		qsort(x->table_bases.v, x->table_bases.n, sizeof *x->table_bases.v, by_address);
}

/* Does an absolute jump table have this slot? */
static bool in_label_table(const struct extract *x, uint64_t a) { return holds(x->label_slots.v, x->label_slots.n, a); }
static bool is_table_base(const struct extract *x, uint64_t a) { return holds(x->table_bases.v, x->table_bases.n, a); }

enum address_use extract_use(const struct extract *x, const struct object_reloc *r, uint64_t *text)
{
	if (!extract_reloc_text(x, r, text))
		return USE_NONE;
	const struct code_range *range = code_range_at(&x->c, *text);
	if (!range || range->why || !code_starts(&x->c, *text))
		return USE_NONE;
	if (r->type == x->c.m->jump_slot)
		return range->kind == RANGE_PLT ? USE_ENTRY : USE_NONE;
	if (r->type == x->c.m->absolute)
		return USE_NONE;
	if (extract_is_entry(x, *text))
		return USE_ENTRY;
	return r->type == x->c.m->relative && in_label_table(x, r->offset) ? USE_LABEL : USE_NONE;
}

static void keep(struct extract *x, struct code_range *r, const char *format, uint64_t at)
{
	if (!r->why)
		r->why = code_reason(&x->c, format, (unsigned long long)at);
}

static void data_addresses(struct extract *x)
{
	for (size_t i = 0; i < x->relocs.n; i++) {
		const struct object_reloc *r = &x->relocs.v[i];
		uint64_t text;
		if (!extract_reloc_text(x, r, &text))
			continue;
		struct code_range *range = code_range_at(&x->c, text);
		if (!range)
			continue;
		if (r->type == x->c.m->jump_slot) {
			if (range->kind == RANGE_PLT && code_starts(&x->c, text))
				code_set_head(&x->c, text);
		} else if (r->type == x->c.m->absolute) {
			keep(x, range, "a symbol plus an addend at 0x%llx leads into it", r->offset);
		} else if (!extract_is_entry(x, text) && !(r->type == x->c.m->relative && code_starts(&x->c, text) && in_label_table(x, r->offset))) {
			keep(x, range, "an address inside it is held in data at 0x%llx", r->offset);
		}
	}
}

static bool may_hold_addresses(const struct object_section *s)
{
	return (s->h.sh_flags & SHF_ALLOC) && !(s->h.sh_flags & SHF_EXECINSTR) && s->h.sh_type == SHT_PROGBITS;
}

/* Is it where a call returns to? */
static bool is_behind_call(const struct extract *x, const struct code_range *r, uint64_t text)
{
	uint32_t i = code_end_from(&x->c, r, (uint32_t)text);
	const struct code_end *e = i > r->ends ? &x->c.ends.v[i - 1] : NULL;
	return e && e->at + e->len == text && (e->kind == INSN_CALL || e->kind == INSN_CALL_INDIRECT);
}

struct held { uint64_t at; struct code_range *range; };
typedef VEC(struct held) held_addresses;

/* The words of data that look like places where calls return to, by address. */
static void find_return_addresses(const struct extract *x, held_addresses *v)
{
	for (size_t i = 1; i < x->o.shnum; i++) {
		const struct object_section *s = &x->o.sections[i];
		const uint8_t *p = may_hold_addresses(s) ? object_at(&x->o, s->h.sh_addr, s->h.sh_size) : NULL;
		for (uint64_t k = -s->h.sh_addr & 7; p && k + 8 <= s->h.sh_size; k += 8) {
			uint64_t text = object_word(&x->o, p + k, 8);
			struct held h = { s->h.sh_addr + k, code_starts(&x->c, text) ? code_range_at(&x->c, text) : NULL };
			if (h.range && !extract_is_entry(x, text) && !in_label_table(x, h.at) && is_behind_call(x, h.range, text))
				vec_push(v, h);
		}
	}
}

/* Of an executable that was linked to its address no relocation tells where addresses are held.  Who jumps to such an address gets
   to old code.  Who looks one up has to find it, as OCaml finds frames in a table of where calls return to; one such word alone is
   a text of three letters more often than not, but where some stand together all are taken for what they look like. */
static void return_addresses(struct extract *x)
{
	held_addresses v = { 0 };
	bool table = false;
	find_return_addresses(x, &v);
	for (size_t i = TOGETHER - 1; i < v.n; i++)
		table |= v.v[i].at - v.v[i - (TOGETHER - 1)].at <= TOGETHER_BYTES;
	for (size_t i = 0; i < v.n && table; i++)
		keep(x, v.v[i].range, "an address inside it is held in data at 0x%llx", v.v[i].at);
	vec_free(&v);
}

static bool has_loose_jump(const struct extract *x, const struct code_range *r)
{
	for (uint32_t i = 0; i < r->ends_n; i++) {
		const struct code_end *e = &x->c.ends.v[r->ends + i];
		if (e->kind == INSN_JUMP_INDIRECT && !e->pc_pos)
			return true;
	}
	return false;
}

/* "Where am I": the address of the instruction behind, for a stack trace.  Old text answers as well, as long as nothing can jump there. */
static bool is_current_pc(const struct extract *x, const struct code_ref *ref, const struct code_range *r)
{
	return ref->target == ref->at + ref->len && ref->at >= r->start && !has_loose_jump(x, r);
}

/* Linkers give out PLT entries as addresses of local ifuncs. */
static bool is_plt_entry(struct extract *x, const struct code_ref *ref, const struct code_range *r)
{
	if (r->kind != RANGE_PLT || !code_starts(&x->c, ref->target) || (ref->target - r->start) % 8)
		return false;
	extract_set_entry(x, ref->target);
	return true;
}

static void code_addresses(struct extract *x)
{
	for (size_t i = 0; i < x->c.refs.n; i++) {
		const struct code_ref *ref = &x->c.refs.v[i];
		if (!code_in(&x->c, ref->target))
			continue;
		struct code_range *range = code_range_at(&x->c, ref->target);
		if (!range)
			continue;
		if (!(ref->flags & INSN_ADDRESS))
			keep(x, range, "it is read as data at 0x%llx", ref->at);
		else if (!extract_is_entry(x, ref->target) && !is_table_base(x, ref->target)
		         && !is_current_pc(x, ref, range) && !is_plt_entry(x, ref, range))
			keep(x, range, "an address inside it is taken at 0x%llx", ref->at);
	}
}

/* A label that its own function alone uses is led on when it is jumped to. */
static void got_addresses(struct extract *x)
{
	for (size_t i = 0; i < x->c.addresses.n; i++) {
		const struct code_address *a = &x->c.addresses.v[i];
		struct code_range *range = code_range_at(&x->c, a->target);
		if (range && !extract_is_entry(x, a->target) && !(a->at >= range->start && a->at < range->end && has_loose_jump(x, range)))
			keep(x, range, "an address inside it is taken at 0x%llx", a->at);
	}
}

/* A word of the GOT that holds such an address may be meant as the page that other addresses are made of. */
static void page_addresses(struct extract *x)
{
	for (uint32_t a = x->c.got.lo + 8; a < x->c.got.hi; a += 4) {
		uint64_t v;
		struct code_range *r = code_constant(&x->c, a, &v) && !(v & 0xffff) && code_in(&x->c, v) ? code_range_at(&x->c, v) : NULL;
		if (r && r->start == v)
			keep(x, r, "its address is a page of the GOT, at 0x%llx", a);
	}
}

static void own_addresses(struct extract *x)
{
	for (size_t k = 0; k < x->c.ranges.n; k++) {
		struct code_range *r = &x->c.ranges.v[k];
		for (uint32_t i = 0; i < r->ends_n; i++) {
			const struct code_end *e = &x->c.ends.v[r->ends + i];
			if (e->kind == INSN_CALL && e->target == e->at + e->len)
				keep(x, r, "it takes its own address by a call at 0x%llx", e->at);
		}
	}
}

void extract_addresses(struct extract *x)
{
	sort_tables(x);
	data_addresses(x);
	if (x->o.eh.e_type == ET_EXEC && !x->c.m->through_gp)	/* there the words are among the relocations */
		return_addresses(x);
	got_addresses(x);
	page_addresses(x);
	code_addresses(x);
	own_addresses(x);
}
