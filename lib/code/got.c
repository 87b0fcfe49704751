/* got.c - the global offset table of machines whose code has addresses from there, and the prologues that make its address. */
#include <stdlib.h>
#include "lib/code/code.h"

enum { GP_OFFSET = 0x7ff0 };	/* of gp from the GOT's first word; the patent's paragraph 14 has 0 */

static uint32_t dyn(const struct object *o, int64_t tag)
{
	const GElf_Dyn *d = object_dyn(o, tag);
	return d ? (uint32_t)d->d_un.d_val : 0;
}

void code_got(struct code *c)
{
	struct code_got *g = &c->got;
	uint32_t locals = dyn(c->o, DT_MIPS_LOCAL_GOTNO), symbols = dyn(c->o, DT_MIPS_SYMTABNO), first = dyn(c->o, DT_MIPS_GOTSYM);
	g->lo = dyn(c->o, DT_PLTGOT);
	g->first_global = first;
	if (!g->lo || locals > CODE_BEYOND / 4 || symbols < first || symbols - first > CODE_BEYOND / 4 - locals)
		return;
	g->gp = g->lo + GP_OFFSET;
	g->local_end = g->lo + 4 * locals;
	g->end = g->hi = g->local_end + 4 * (symbols - first);
	const struct object_section *s = object_section_at(c->o, g->lo);
	if (s && s->h.sh_addr == g->lo && s->h.sh_addr + s->h.sh_size > g->hi && s->h.sh_addr + s->h.sh_size < CODE_BEYOND)
		g->hi = (uint32_t)(s->h.sh_addr + s->h.sh_size);
}

static bool is_data(const struct code *c, const struct object_section *s)
{
	return (s->h.sh_flags & SHF_ALLOC) && (s->h.sh_flags & SHF_WRITE) && !(s->h.sh_flags & (SHF_EXECINSTR | SHF_TLS)) && s->h.sh_type == SHT_PROGBITS
		&& !code_in_got(c, s->h.sh_addr);
}

void code_scan_words(const struct code *c, struct object_relocs *relocs)
{
	VEC(struct object_reloc) v = { relocs->v, relocs->n, relocs->n };
	for (size_t i = 0; i < relocs->n; i++)
		if (relocs->v[i].type == c->m->relative && relocs->v[i].table != RELOC_PLT)
			return;
	for (size_t i = 1; i < c->o->shnum; i++) {
		const struct object_section *s = &c->o->sections[i];
		const uint8_t *p = is_data(c, s) ? object_at(c->o, s->h.sh_addr, s->h.sh_size) : NULL;
		for (uint64_t k = 0; p && k + 4 <= s->h.sh_size; k += 4) {
			uint64_t word = object_word(c->o, p + k, 4);
			if (word <= c->lo || word >= c->hi || word & 3)
				continue;
			struct object_reloc r = { .offset = s->h.sh_addr + k, .addend = (int64_t)word, .type = c->m->relative, .table = RELOC_REL, .index = UINT32_MAX };
			vec_push(&v, r);
		}
	}
	relocs->v = v.v;
	relocs->n = v.n;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return *x != *y ? (*x < *y ? -1 : 1) : 0;
}

void code_got_slots(struct code *c, const struct object_relocs *relocs)
{
	VEC(uint32_t) v = { 0 };
	for (size_t i = 0; i < relocs->n; i++)
		if (relocs->v[i].type == c->m->relative && relocs->v[i].offset >= c->got.end && code_in_got(c, relocs->v[i].offset))
			vec_push(&v, (uint32_t)relocs->v[i].offset);
	if (v.n)
		qsort(v.v, v.n, sizeof *v.v, by_value);
	c->got.slots = v.v;
	c->got.slot_count = v.n;
	c->got.several = v.n > 0;	/* what else lies there has to do with threads */
}

bool code_constant(const void *code, uint64_t a, uint64_t *value)
{
	const struct code *c = code;
	uint32_t key = (uint32_t)a;
	if (!code_in_got(c, a) || a & 3 || a < c->got.lo + 8)
		return false;
	if (a >= c->got.local_end && (!c->got.slot_count || !bsearch(&key, c->got.slots, c->got.slot_count, sizeof key, by_value)))
		return false;
	const uint8_t *p = object_at(c->o, a, 4);
	if (!p)
		return false;
	*value = object_word(c->o, p, 4);
	return true;
}

bool code_fixed(const void *code, uint64_t a, uint64_t *value)
{
	const struct code *c = code;
	const GElf_Phdr *p = object_segment(c->o, a);
	const uint8_t *word = p && !(p->p_flags & PF_W) && !(a & 3) ? object_at(c->o, a, 4) : NULL;
	if (word)
		*value = object_word(c->o, word, 4);
	return word != NULL;
}

void code_find_prologue(struct code *c, const struct code_range *r, uint32_t entry)
{
	struct prologue q;
	const uint8_t *p = entry < r->end ? code_bytes(c, entry, r->end - entry) : NULL;
	if (!p || !c->m->prologue(p, r->end - entry, entry, &q) || !c->got.lo)
		return;
	if (q.gp != c->got.gp && (!c->got.several || q.gp < c->got.gp || q.gp - GP_OFFSET >= c->got.hi))
		return;
	vec_push(&c->prologues, q);
}

static int by_entry(const void *a, const void *b)
{
	const struct prologue *x = a, *y = b;
	return x->entry != y->entry ? (x->entry < y->entry ? -1 : 1) : 0;
}

void code_prologues_sort(struct code *c)
{
	if (c->prologues.n)
		qsort(c->prologues.v, c->prologues.n, sizeof *c->prologues.v, by_entry);
}

const struct prologue *code_prologue(const struct code *c, uint32_t entry)
{
	struct prologue key = { .entry = entry };
	return c->prologues.n ? bsearch(&key, c->prologues.v, c->prologues.n, sizeof key, by_entry) : NULL;
}

static int by_at(const void *a, const void *b)
{
	const struct code_address *x = a, *y = b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : 0;
}

void code_addresses_sort(struct code *c)
{
	if (c->addresses.n)
		qsort(c->addresses.v, c->addresses.n, sizeof *c->addresses.v, by_at);
}

const struct code_address *code_address(const struct code *c, uint32_t at)
{
	struct code_address key = { .at = at };
	return c->addresses.n ? bsearch(&key, c->addresses.v, c->addresses.n, sizeof key, by_at) : NULL;
}
