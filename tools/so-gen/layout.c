/* layout.c - where each block goes: in the order of the original, branches in the shortest form that reaches. */
#include "tools/so-gen/gen.h"

enum { FUNCTION_ALIGN = 16, MAX_ALIGN = 64 };	/* bytes */

static const struct code_end *direct_end(const struct gen *g, const struct block *b)
{
	return b->end != CODE_NONE && insn_is_direct(g->c.ends.v[b->end].kind) ? &g->c.ends.v[b->end] : NULL;
}

static uint32_t end_size(const struct gen *g, const struct block *b, const struct code_end *e)
{
	struct insn insn = code_end_insn(e);
	(void)g;
	return g->c.m->branch_size(code_bytes(&g->c, e->at, e->len), &insn, b->flags & BLOCK_NEAR);
}

/* Bytes up to and with the moved instructions, branch included; what may follow (a fork check, a join) left out. */
static uint32_t content(const struct gen *g, const struct block *b)
{
	const struct code_end *e = direct_end(g, b);
	uint32_t n = b->inserted + b->size;
	return e ? n - e->len + end_size(g, b, e) : n;
}

uint32_t gen_block_bytes(const struct gen *g, const struct block *b)
{
	uint32_t n = content(g, b);
	if (b->flags & BLOCK_FORK)
		n += g->c.m->fork_check_size;
	if (b->flags & BLOCK_JOIN)
		n += g->c.m->spring_size;
	return n;
}

static bool needs_near(const struct gen *g, const struct block *b, const struct code_end *e)
{
	struct insn insn = code_end_insn(e);
	int32_t to = g->end_block[b->end];
	if (to == CODE_NONE || !g->c.m->branch_size(code_bytes(&g->c, e->at, e->len), &insn, false))
		return true;
	int64_t distance = (int64_t)g->blocks.v[to].new - (int64_t)(b->new + content(g, b));
	return distance != (int8_t)distance;
}

/* Function starts, and the loop heads and jump targets that the compiler had aligned. */
static void find_alignment(struct gen *g)
{
	for (size_t i = 0; i < g->blocks.n; i++) {
		struct block *b = &g->blocks.v[i];
		bool behind_padding = i && b[-1].old + b[-1].size != b->old;
		if (((b->flags & BLOCK_FIRST) || behind_padding) && b->old % FUNCTION_ALIGN == 0)
			b->flags |= BLOCK_ALIGN;
	}
	for (size_t i = 0; i < g->blocks.n; i++) {
		const struct code_end *e = direct_end(g, &g->blocks.v[i]);
		int32_t to = e && e->kind != INSN_CALL ? g->end_block[g->blocks.v[i].end] : CODE_NONE;
		if (to != CODE_NONE && (size_t)to <= i && g->blocks.v[to].old % FUNCTION_ALIGN == 0)
			g->blocks.v[to].flags |= BLOCK_ALIGN;
	}
}

static uint32_t alignment(const struct block *b)
{
	uint32_t own = b->old & -b->old;
	return !(b->flags & BLOCK_FIRST) || own < FUNCTION_ALIGN ? FUNCTION_ALIGN : own < MAX_ALIGN ? own : MAX_ALIGN;
}

static void assign(struct gen *g)
{
	uint32_t at = 0;
	for (size_t i = 0; i < g->blocks.n; i++) {
		struct block *b = &g->blocks.v[i];
		b->pad = b->flags & BLOCK_ALIGN ? -at & (alignment(b) - 1) : 0;
		at += b->pad;
		b->new = at;
		at += gen_block_bytes(g, b);
	}
	g->text_size = at;
}

void gen_layout(struct gen *g)
{
	find_alignment(g);
	for (bool changed = true; changed; ) {
		changed = false;
		assign(g);
		for (size_t i = 0; i < g->blocks.n; i++) {
			struct block *b = &g->blocks.v[i];
			const struct code_end *e = direct_end(g, b);
			if (e && !(b->flags & BLOCK_NEAR) && needs_near(g, b, e)) {
				b->flags |= BLOCK_NEAR;
				changed = true;
			}
		}
	}
}

bool gen_place(const struct gen *g, uint64_t a, uint64_t *to)
{
	int32_t k = gen_block_of(g, a);
	if (k == CODE_NONE) {			/* padding that was left out: what follows it */
		const struct code_range *r = code_range_at(&g->c, a);
		uint64_t size, start;
		if (!r || r->why)
			return false;
		uint32_t i = bit_next(g->is_block, a - g->c.lo, r->end - g->c.lo);
		if (i == r->end - g->c.lo)
			return gen_range(g, r->start, r->end - r->start, &start, &size) && (*to = start + size, true);
		k = gen_block_at(g, i + g->c.lo);
		*to = g->blocks.v[k].new;
		return true;
	}
	const struct block *b = &g->blocks.v[k];
	uint32_t within = a - b->old, mark = b->flags & BLOCK_MARK ? g->c.m->mark_size : 0;
	*to = b->new + (within == 0 || (mark && within == mark) ? within : within + b->inserted);
	return true;
}

bool gen_range(const struct gen *g, uint64_t start, uint64_t size, uint64_t *to, uint64_t *to_size)
{
	const struct code_range *r = code_range_at(&g->c, start);
	int32_t first = gen_block_at(g, start);
	if (!r || r->why || r->kind == RANGE_PLT || r->start != start || r->end != start + size || first == CODE_NONE)
		return false;
	size_t last = first;
	while (last + 1 < g->blocks.n && g->blocks.v[last + 1].old < r->end)	/* at most once a function and FDE */
		last++;
	*to = g->blocks.v[first].new;
	*to_size = g->blocks.v[last].new + gen_block_bytes(g, &g->blocks.v[last]) - *to;
	return true;
}
