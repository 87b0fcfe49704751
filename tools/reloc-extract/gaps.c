/* gaps.c - code that no FDE covers.  It is followed from where something enters it; one undecodable byte on the way and all
   that hangs together with it stays where it is: data in text is common there. */
#include <stdlib.h>
#include <string.h>
#include "tools/reloc-extract/extract.h"

enum { MAX_INSNS = 200000 };

struct seen { uint32_t at; uint8_t len; };
struct gaps {
	struct extract *x;
	VEC(uint32_t) seeds, stack;
	VEC(struct seen) trace;
	uint64_t *done;			/* seeds tried */
	uint64_t *taken;		/* bytes of traces that were found good; their instructions' starts stay set in code.starts */
};

static void seed(struct gaps *g, uint64_t a)
{
	struct code *c = &g->x->c;
	if (!code_in(c, a) || bit(g->done, a - c->lo) || code_range_at(c, a))
		return;
	bit_set(g->done, a - c->lo);
	vec_push(&g->seeds, (uint32_t)a);
}

static int by_at(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : 0;
}

static bool traced(const struct gaps *g, uint32_t at) { return bit(g->x->c.starts, at - g->x->c.lo); }

/* Follows one path; false: it runs into what is no code. */
static bool path(struct gaps *g, uint32_t a, const struct object_section *s)
{
	struct code *c = &g->x->c;
	struct insn insn;
	uint64_t end = s->h.sh_addr + s->h.sh_size;
	while (a < end && !traced(g, a)) {
		struct code_range *r = code_range_at(c, a);
		if (r)
			return a == r->start || code_starts(c, a);
		if (bit(g->taken, a - c->lo))
			return false;		/* within an instruction of another trace */
		if (!c->m->decode(code_bytes(c, a, 1), end - a, a, &insn) || g->trace.n > MAX_INSNS)
			return false;
		struct seen seen = { a, insn.len };
		vec_push(&g->trace, seen);
		bit_set(c->starts, a - c->lo);
		if (insn_is_direct(insn.kind)) {
			if (insn.kind == INSN_CALL)
				seed(g, insn.target);
			else if (insn.target >= s->h.sh_addr && insn.target < end)
				vec_push(&g->stack, (uint32_t)insn.target);
			else
				seed(g, insn.target);
		}
		if (!insn_falls_through(insn.kind))
			return true;
		a += insn.len;
	}
	return a < end;
}

static bool trace(struct gaps *g, uint32_t a)
{
	const struct object_section *s = object_section_at(&g->x->o, a);
	bool good = s && (s->h.sh_flags & SHF_EXECINSTR);
	g->trace.n = g->stack.n = 0;
	if (good)
		vec_push(&g->stack, a);
	while (good && g->stack.n)
		good = path(g, g->stack.v[--g->stack.n], s);
	if (good && g->trace.n)
		qsort(g->trace.v, g->trace.n, sizeof *g->trace.v, by_at);
	for (size_t i = 1; good && i < g->trace.n; i++)
		good = g->trace.v[i].at >= g->trace.v[i - 1].at + g->trace.v[i - 1].len;
	for (size_t i = 0; !good && i < g->trace.n; i++)
		bit_clear(g->x->c.starts, g->trace.v[i].at - g->x->c.lo);
	return good && g->trace.n;
}

/* Makes ranges of the trace's runs: they are sorted and decoded when no seed is left. */
static void take(struct gaps *g)
{
	struct code *c = &g->x->c;
	for (size_t i = 0, k; i < g->trace.n; i = k) {
		for (k = i + 1; k < g->trace.n && g->trace.v[k].at == g->trace.v[k - 1].at + g->trace.v[k - 1].len; )
			k++;
		uint32_t end = g->trace.v[k - 1].at + g->trace.v[k - 1].len;
		code_add(c, g->trace.v[i].at, end - g->trace.v[i].at, RANGE_CODE, NULL);
		for (uint32_t a = g->trace.v[i].at; a < end; a++)
			bit_set(g->taken, a - c->lo);
	}
}

/* Is there padding from a up to the next range (or 16 bytes of it)? */
static bool is_padding(const struct code *c, uint32_t a)
{
	struct insn insn;
	for (uint32_t end = a + 16; a < end && !code_range_at(c, a); a += insn.len)
		if (!code_in(c, a + 16) || !c->m->decode(code_bytes(c, a, 16), 16, a, &insn) || insn.kind != INSN_NOP)
			return false;
	return true;
}

/* Where a range ends without a jump, return or call, what follows is entered from it. */
static void seed_behind(struct gaps *g, const struct code_range *r)
{
	const struct code *c = &g->x->c;
	const struct code_end *e = r->ends_n ? &c->ends.v[r->ends + r->ends_n - 1] : NULL;
	if (e && e->at + e->len == r->end && (!insn_falls_through(e->kind) || e->kind == INSN_CALL || e->kind == INSN_CALL_INDIRECT))
		return;
	if (code_in(c, r->end) && code_bytes(c, r->end, 16) && !is_padding(c, r->end))
		seed(g, r->end);
}

static void first_seeds(struct gaps *g)
{
	struct extract *x = g->x;
	const GElf_Dyn *d;
	if ((d = object_dyn(&x->o, DT_INIT)))
		seed(g, d->d_un.d_ptr);
	if ((d = object_dyn(&x->o, DT_FINI)))
		seed(g, d->d_un.d_ptr);
	for (size_t i = 0; i < x->relocs.n; i++) {
		uint64_t text;
		if (extract_reloc_text(x, &x->relocs.v[i], &text))
			seed(g, text);
	}
	for (size_t i = 0; i < x->c.ranges.n; i++)
		if (x->c.ranges.v[i].swept)
			seed_behind(g, &x->c.ranges.v[i]);
	for (int t = 0; t < 2; t++) {
		const struct object_symbols *s = t ? &x->symtab : &x->dynsyms;
		for (size_t i = 0; i < s->n; i++)
			if (s->v[i].section != SHN_UNDEF && (s->v[i].type == STT_FUNC || s->v[i].type == STT_GNU_IFUNC || s->v[i].type == STT_NOTYPE))
				seed(g, s->v[i].value);
	}
}

static void seeds_from(struct gaps *g, size_t from)
{
	struct code *c = &g->x->c;
	for (size_t i = from; i < c->ends.n; i++)
		if (insn_is_direct(c->ends.v[i].kind))
			seed(g, c->ends.v[i].target);
}

static bool is_filler(const uint8_t *p, uint32_t n, const struct machine *m)
{
	struct insn insn;
	for (uint32_t i = 0; i < n; )
		if (p[i] == 0 || p[i] == 0xcc)
			i++;
		else if (m->decode(p + i, n - i, i, &insn) && insn.kind == INSN_NOP)
			i += insn.len;
		else
			return false;
	return true;
}

static void name_hole(struct extract *x, uint32_t start, uint32_t end)
{
	const uint8_t *p = end > start ? code_bytes(&x->c, start, end - start) : NULL;
	if (p && !is_filler(p, end - start, x->c.m))
		code_add(&x->c, start, end - start, RANGE_GAP, "no unwinding entry covers it and nothing is known to enter it");
}

/* Does a direct branch to `to` end at the n-th byte of p, as far as one can tell from its bytes alone? */
static bool ends_branch(const struct machine *m, const uint8_t *p, uint32_t n, uint64_t at, uint64_t to)
{
	struct insn insn;
	for (uint32_t size = 5; size <= 6 && size <= n; size++)
		if (m->decode(p + n - size, size, at + n - size, &insn) && insn.len == size && insn_is_direct(insn.kind) && insn.target == to)
			return true;
	return false;
}

/* Pieces of hand-written code jump into each other's middle: what the bytes of a hole might enter that way is not moved.  (Bytes
   that look like such a jump by accident only cost that piece.) */
static void keep_entered_from(struct extract *x, const struct code_range *hole)
{
	struct code_range *behind = code_range_at(&x->c, hole->end);
	if (behind && behind->kind == RANGE_CODE && !behind->why && !extract_is_entry(x, behind->start))
		behind->why = code_reason(&x->c, "code before 0x%x, which nothing is known to enter, may fall into it", hole->end);
	uint32_t size = hole->end - hole->start;
	const uint8_t *p = code_bytes(&x->c, hole->start, size);
	for (uint32_t end = 5; p && end <= size; end++) {
		uint64_t to = hole->start + end + (uint64_t)(int32_t)object_word(&x->o, p + end - 4, 4);
		struct code_range *r = code_in(&x->c, to) ? code_range_at(&x->c, to) : NULL;
		if (r && r->kind == RANGE_CODE && !r->why && code_starts(&x->c, to) && !extract_is_entry(x, to)
		    && ends_branch(x->c.m, p, end, hole->start, to))
			r->why = code_reason(&x->c, "code before 0x%x, which nothing is known to enter, may enter it", hole->start + end);
	}
}

void extract_name_holes(struct extract *x)
{
	size_t n = x->c.ranges.n;
	for (size_t i = 1; i < x->o.shnum; i++) {
		const GElf_Shdr *h = &x->o.sections[i].h;
		if (!(h->sh_flags & SHF_EXECINSTR) || !(h->sh_flags & SHF_ALLOC) || h->sh_type == SHT_NOBITS || !h->sh_size)
			continue;
		uint32_t at = h->sh_addr, end = at + h->sh_size;
		for (size_t k = 0; k < n && at < end; k++) {
			const struct code_range r = x->c.ranges.v[k];
			if (r.end <= at || r.start >= end)
				continue;
			name_hole(x, at, r.start);
			at = r.end;
		}
		name_hole(x, at, end);
	}
	code_sort(&x->c);
	for (size_t i = 0; i < x->c.ranges.n && x->c.m->insn_align == 1; i++)
		if (x->c.ranges.v[i].kind == RANGE_GAP)
			keep_entered_from(x, &x->c.ranges.v[i]);
}

void extract_gaps(struct extract *x)
{
	struct code *c = &x->c;
	size_t words = (c->hi - c->lo) / 64 + 2;
	struct gaps g = { .x = x, .done = xcalloc(words, 8), .taken = xcalloc(words, 8) };
	first_seeds(&g);
	seeds_from(&g, 0);
	while (g.seeds.n) {
		size_t ends = c->ends.n, ranges = c->ranges.n;
		VEC(uint32_t) entries = { 0 };
		while (g.seeds.n) {
			uint32_t a = g.seeds.v[--g.seeds.n];
			bool known = bit(g.taken, a - c->lo) && code_starts(c, a);
			if (!known && (bit(g.taken, a - c->lo) || !trace(&g, a)))
				continue;
			if (!known)
				take(&g);
			vec_push(&entries, a);
		}
		if (c->ranges.n > ranges)
			code_sort(c);
		for (size_t i = 0; i < c->ranges.n; i++)
			if (c->ranges.v[i].kind == RANGE_CODE && !c->ranges.v[i].swept && !c->ranges.v[i].why)
				code_sweep(c, &c->ranges.v[i]);
		for (size_t i = 0; i < entries.n; i++)
			extract_set_entry(x, entries.v[i]);
		vec_free(&entries);
		seeds_from(&g, ends);
	}
	vec_free(&g.seeds);
	vec_free(&g.stack);
	vec_free(&g.trace);
	free(g.done);
	free(g.taken);
}
