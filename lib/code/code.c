/* code.c - decoding of code ranges. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/code/code.h"

const char *const code_range_kinds[] = { "fde", "code", "plt", "gap" };

uint32_t bit_next(const uint64_t *map, uint32_t i, uint32_t end)
{
	if (i >= end)
		return end;
	uint64_t word = map[i >> 6] & ~UINT64_C(0) << (i & 63);
	for (i &= ~63u; !word; word = map[i >> 6])
		if ((i += 64) >= end)
			return end;
	i += (uint32_t)__builtin_ctzll(word);
	return i < end ? i : end;
}

const char *code_init(struct code *c, const struct object *o)
{
	memset(c, 0, sizeof *c);
	c->o = o;
	c->m = machine_for(o->eh.e_machine, o->eh.e_ident[EI_CLASS], o->eh.e_ident[EI_DATA]);
	if (!c->m)
		return machine_missing(o->eh.e_machine, o->eh.e_ident[EI_CLASS]);
	const char *fault = c->m->refuse ? c->m->refuse(o->eh.e_flags) : NULL;
	if (fault)
		return fault;
	c->gentle = c->m->gentle && c->m->gentle(o->eh.e_flags);
	uint64_t lo = UINT64_MAX, hi = 0;
	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;
		if (!(h->sh_flags & SHF_EXECINSTR) || !(h->sh_flags & SHF_ALLOC) || h->sh_type == SHT_NOBITS || !h->sh_size)
			continue;
		if (!object_at(o, h->sh_addr, h->sh_size))
			return "an executable section lies outside the file";
		lo = h->sh_addr < lo ? h->sh_addr : lo;
		hi = h->sh_addr + h->sh_size > hi ? h->sh_addr + h->sh_size : hi;
	}
	for (size_t i = 0; i < o->phnum; i++)
		if (o->phdrs[i].p_type == PT_LOAD && o->phdrs[i].p_vaddr + o->phdrs[i].p_memsz > CODE_BEYOND)
			return "addresses beyond 3 GiB";
	if (lo >= hi)
		return "no code";
	c->lo = lo & ~(uint64_t)63;
	c->hi = hi;
	size_t words = (c->hi - c->lo) / 64 + 2;
	c->starts = xcalloc(words, 8);
	c->heads = xcalloc(words, 8);
	c->reads = xcalloc(words, 8);
	c->kills = xcalloc(words, 8);
	if (c->m->through_gp)
		code_got(c);
	return NULL;
}

void code_reset(struct code *c)
{
	size_t bytes = ((c->hi - c->lo) / 64 + 2) * 8;
	memset(c->starts, 0, bytes);
	memset(c->heads, 0, bytes);
	memset(c->reads, 0, bytes);
	memset(c->kills, 0, bytes);
	c->ranges.n = c->ends.n = c->refs.n = c->splits.n = c->addresses.n = c->prologues.n = 0;
}

void code_free(struct code *c)
{
	free(c->starts);
	free(c->heads);
	free(c->reads);
	free(c->kills);
	arena_free(&c->arena);
	vec_free(&c->ranges);
	vec_free(&c->ends);
	vec_free(&c->refs);
	vec_free(&c->splits);
	vec_free(&c->addresses);
	vec_free(&c->prologues);
	free(c->got.slots);
}

void code_add(struct code *c, uint64_t start, uint64_t size, enum code_range_kind kind, const char *why)
{
	struct code_range r = { .start = start, .end = start + size, .kind = kind, .why = why };
	vec_push(&c->ranges, r);
}

const char *code_reason(struct code *c, const char *format, ...)
{
	char s[200];
	va_list ap;
	va_start(ap, format);
	vsnprintf(s, sizeof s, format, ap);
	va_end(ap);
	return arena_strdup(&c->arena, s);
}

static int by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;
	return x->start != y->start ? (x->start < y->start ? -1 : 1) : x->swept != y->swept ? (x->swept ? -1 : 1) : 0;
}

void code_sort(struct code *c)
{
	if (c->ranges.n)
		qsort(c->ranges.v, c->ranges.n, sizeof *c->ranges.v, by_start);
	size_t n = 0;
	for (size_t i = 0; i < c->ranges.n; i++) {
		struct code_range r = c->ranges.v[i];
		if (n && r.start < c->ranges.v[n - 1].end)
			continue;
		c->ranges.v[n++] = r;
	}
	c->ranges.n = n;
}

const uint8_t *code_bytes(const struct code *c, uint32_t a, uint32_t n) { return object_at(c->o, a, n); }

bool code_sweep(struct code *c, struct code_range *r)
{
	const uint8_t *p = code_bytes(c, r->start, r->end - r->start);
	bool (*decode)(const uint8_t *, size_t, uint64_t, struct insn *) = c->m->decode;
	r->ends = c->ends.n;
	r->refs = c->refs.n;
	struct insn insn;
	if (!p || !code_in(c, r->start) || r->end > c->hi)
		goto fail;
	bit_set(c->heads, r->start - c->lo);
	for (uint32_t a = r->start; a < r->end; a += insn.len) {
		if (!decode(p + (a - r->start), r->end - a, a, &insn)) {
			for (uint32_t i = r->start - c->lo; i < r->end - c->lo; i++) {
				bit_clear(c->starts, i);
				bit_clear(c->reads, i);
				bit_clear(c->kills, i);
			}
			goto fail;
		}
		uint32_t i = a - c->lo;
		bit_set(c->starts, i);
		if (insn.flags & INSN_READS_FLAGS)
			bit_set(c->reads, i);
		else if (insn.flags & INSN_KILLS_FLAGS)
			bit_set(c->kills, i);
		if (insn_ends_block(insn.kind)) {
			struct code_end e = { a, insn.target, insn.len, insn.kind, insn.flags, insn.pc_pos };
			vec_push(&c->ends, e);
			if (a + insn.len < r->end)
				bit_set(c->heads, i + insn.len);
			if (insn_is_direct(insn.kind) && code_in(c, insn.target))
				bit_set(c->heads, insn.target - c->lo);
		}
		if (insn.pc_size && !insn_is_direct(insn.kind)) {
			struct code_ref ref = { a, insn.target, insn.len, insn.pc_pos, insn.flags, insn_ends_block(insn.kind) };
			vec_push(&c->refs, ref);
		}
	}
	r->ends_n = c->ends.n - r->ends;
	r->refs_n = c->refs.n - r->refs;
	r->swept = true;
	return true;
fail:
	c->ends.n = r->ends;
	c->refs.n = r->refs;
	if (!r->why)
		r->why = "undecodable bytes";
	r->ends_n = r->refs_n = 0;
	return false;
}

struct code_range *code_range_from(const struct code *c, uint64_t a)
{
	size_t lo = 0, hi = c->ranges.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (c->ranges.v[mid].end <= a)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->ranges.n ? &c->ranges.v[lo] : NULL;
}

struct code_range *code_range_at(const struct code *c, uint64_t a)
{
	struct code_range *r = code_range_from(c, a);
	return r && r->start <= a ? r : NULL;
}

void code_check_targets(struct code *c)
{
	for (size_t i = 0; i < c->ends.n; i++) {
		const struct code_end *e = &c->ends.v[i];
		if (!insn_is_direct(e->kind) || !code_in(c, e->target) || code_starts(c, e->target))
			continue;
		struct code_range *r = code_range_at(c, e->target);
		if (!r || !r->swept) {
			bit_clear(c->heads, e->target - c->lo);
			continue;
		}
		uint32_t before = e->target - 1;
		const uint8_t *p = code_bytes(c, before, 1);
		struct insn insn;
		if (before >= r->start && code_starts(c, before) && c->m->decode(p, r->end - before, before, &insn) && (insn.flags & INSN_LOCK)) {
			if (!bit(c->starts, e->target - c->lo)) {
				vec_push(&c->splits, e->target);
				bit_set(c->starts, e->target - c->lo);
				code_set_head(c, before);
				if (before + insn.len < r->end)
					code_set_head(c, before + insn.len);
				bit_set(bit(c->kills, before - c->lo) ? c->kills : c->reads, e->target - c->lo);
			}
		} else {
			bit_clear(c->heads, e->target - c->lo);
			if (!r->why)
				r->why = "a jump into the middle of an instruction";
		}
	}
	/* Of a range that turned out to be undecodable the targets of its first "branches" are left. */
	for (uint32_t w = 0; w <= (c->hi - c->lo) / 64; w++)
		c->heads[w] &= c->starts[w];
}

uint32_t code_end_from(const struct code *c, const struct code_range *r, uint32_t a)
{
	uint32_t lo = r->ends, hi = r->ends + r->ends_n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (c->ends.v[mid].at < a)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct insn code_end_insn(const struct code_end *e)
{
	bool rel = insn_is_direct(e->kind);
	return (struct insn){ .at = e->at, .len = e->len, .kind = e->kind, .flags = e->flags, .pc_pos = e->pc_pos,
		.pc_size = e->pc_pos ? (rel ? e->len - e->pc_pos : 4) : 0, .target = e->target };
}
