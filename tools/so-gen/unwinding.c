/* unwinding.c - what the unwinding tables (unwind.h) have to know about new text. */
#include <stdlib.h>
#include "tools/so-gen/gen.h"

static bool place(void *context, uint64_t old, uint64_t *to) { return gen_place(context, old, to); }
static bool range(void *context, uint64_t start, uint64_t size, uint64_t *to, uint64_t *to_size)
{
	return gen_range(context, start, size, to, to_size);
}

/* First block whose new end lies behind offset at. */
static size_t block_behind(const struct gen *g, uint64_t at)
{
	size_t lo = 0, hi = g->blocks.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (g->blocks.v[mid].new + gen_block_bytes(g, &g->blocks.v[mid]) <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Counting code that keeps flags on the stack lowers the stack pointer for some instructions. */
static bool adjust(void *context, uint64_t from, uint64_t before, uint64_t *to, int64_t *delta)
{
	const struct gen *g = context;
	for (size_t i = block_behind(g, from); i < g->blocks.n && g->blocks.v[i].new < before; i++) {
		const struct block *b = &g->blocks.v[i];
		unsigned begin, end, bytes;
		if (b->form == COUNT_PLAIN || !(bytes = g->c.m->count_stack(gen_how(g, b), &begin, &end)))
			continue;
		uint64_t start = b->new + (b->flags & BLOCK_MARK ? g->c.m->mark_size : 0);
		if (start + begin >= from && start + begin < before) {
			*to = start + begin;
			*delta = bytes;
			return true;
		}
		if (start + end >= from && start + end < before) {
			*to = start + end;
			*delta = 0;
			return true;
		}
	}
	return false;
}

struct rules { uint8_t *v; size_t n, cap; };

static void byte(struct rules *r, unsigned b)
{
	vec_reserve(r, r->n + 1);
	r->v[r->n++] = b;
}

static void rule(struct rules *r, uint32_t distance, unsigned cfa_offset)
{
	if (distance < 64) {
		byte(r, 0x40 | distance);				/* DW_CFA_advance_loc */
	} else {
		byte(r, 0x04);						/* DW_CFA_advance_loc4 */
		for (unsigned i = 0; i < 4; i++)
			byte(r, distance >> 8 * i & 255);
	}
	byte(r, 0x0e);							/* DW_CFA_def_cfa_offset */
	byte(r, cfa_offset);
}

/* A PLT's FDE tells the CFA from its own address, sixteen bytes an entry; moved entries have another length: plain rules
   instead.  A push adds a word, what follows a jump is a new entry; the first entry begins with the index pushed. */
static struct rules plt_rules(const struct gen *g, const struct code_range *r, uint64_t start)
{
	struct rules rules = { 0 };
	const struct machine *m = g->c.m;
	struct insn insn;
	unsigned offset = 8, said = 8;
	uint64_t at = start;
	for (uint32_t a = r->start; a < r->end; a += insn.len) {
		const uint8_t *p = code_bytes(&g->c, a, 1);
		uint64_t to;
		if (!m->decode(p, r->end - a, a, &insn))
			break;
		bool push_memory = p[0] == 0xff && (p[1] & 0x38) == 0x30, push = p[0] == 0x68 || push_memory;
		if (a == r->start && push_memory)
			offset = 16;
		if (offset != said && gen_place(g, a, &to)) {
			rule(&rules, to - at, offset);
			at = to;
			said = offset;
		}
		if (push)
			offset += 8;
		if (insn.kind == INSN_JUMP || insn.kind == INSN_JUMP_INDIRECT)
			offset = 8;
	}
	return rules;
}

const char *gen_unwind(struct gen *g)
{
	struct unwind_map map = { .context = g, .place = place, .range = range, .adjust = adjust };
	VEC(struct unwind_extra) extra = { 0 };
	for (size_t i = 0; i < g->c.ranges.n; i++) {
		const struct code_range *r = &g->c.ranges.v[i];
		int32_t first = r->kind == RANGE_PLT && !r->why ? gen_block_at(g, r->start) : CODE_NONE;
		if (first == CODE_NONE || !frames_find(&g->f, r->start))
			continue;
		size_t last = first;
		while (last + 1 < g->blocks.n && g->blocks.v[last + 1].old < r->end)
			last++;
		struct unwind_extra x = { .to = g->blocks.v[first].new };
		x.size = g->blocks.v[last].new + gen_block_bytes(g, &g->blocks.v[last]) - x.to;
		struct rules rules = plt_rules(g, r, x.to);
		x.insns = rules.v;
		x.insns_size = rules.n;
		vec_push(&extra, x);
	}
	const char *fault = unwind_build(&g->unwind, &g->o, &g->f, &map, extra.v, extra.n);
	for (size_t i = 0; i < extra.n; i++)
		free((uint8_t *)extra.v[i].insns);
	vec_free(&extra);
	return fault;
}
