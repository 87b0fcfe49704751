/* layout.c - where each block goes: in the order of the original, branches in the shortest form that reaches. */
#include "tools/so-gen/gen.h"

enum { FUNCTION_ALIGN = 16, MAX_ALIGN = 64 };	/* bytes */

static const struct code_end *direct_end(const struct gen *g, const struct block *b)
{
	return b->end != CODE_NONE && insn_is_direct(g->c.ends.v[b->end].kind) ? &g->c.ends.v[b->end] : NULL;
}

/* Jumps that go through a table of old addresses, and are led on. */
static bool is_led_on(const struct gen *g, const struct code_end *e)
{
	const struct row_table *t = e->kind == INSN_JUMP_INDIRECT ? gen_table(g, e->at) : NULL;
	return t && t->count;
}

bool gen_tail(const struct gen *g, size_t i, struct rewrite *w)
{
	const struct block *b = &g->blocks.v[i];
	const struct code_end *e = b->end != CODE_NONE ? &g->c.ends.v[b->end] : NULL;
	const struct code_address *a = g->c.m->through_gp && g->block_address[i] != CODE_NONE ? &g->c.addresses.v[g->block_address[i]] : NULL;
	uint64_t text = g->text ? g->text->address : 0;
	if (!g->c.m->through_gp || (!a && !(e && (insn_is_direct(e->kind) || is_led_on(g, e)))))
		return false;
	*w = (struct rewrite){ .dead = g->registers->dead_end[i], .what = g->c.gentle ? REWRITE_GENTLE : 0 };
	w->p = code_bytes(&g->c, e ? e->at : a->at, 4);
	if (e)
		w->insn = code_end_insn(e);
	else
		w->insn = (struct insn){ .at = a->at, .len = a->len };
	if (a) {
		w->what |= REWRITE_ADDRESS;
		w->address = g->text ? gen_address(g, a->target) : 0;
		w->old_address = a->target;
		w->gp = a->gp;
	}
	if (e && insn_is_direct(e->kind)) {
		int32_t to = g->end_block[b->end];
		w->target = to == CODE_NONE ? e->target : text + g->blocks.v[to].new;
		if (code_prologue(&g->c, e->target))
			w->what |= REWRITE_BY_REGISTER;
		else if (b->flags & BLOCK_NEAR)
			w->what |= REWRITE_FAR;
	} else if (e && is_led_on(g, e)) {
		w->what |= REWRITE_TABLE;
		w->places = g->places ? g->places->address - g->c.lo : 0;
	}
	return true;
}

size_t gen_spring_size(const struct gen *g, uint32_t entry)
{
	return g->c.m->spring ? g->c.m->spring(NULL, 0, 0, 0, code_prologue(&g->c, entry) != NULL) : g->c.m->spring_size;
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
	struct rewrite w;
	if (g->c.m->through_gp)
		return gen_tail(g, b - g->blocks.v, &w) ? n - w.insn.len + g->c.m->rewrite(NULL, 0, &w) : n;
	return e ? n - e->len + end_size(g, b, e) : n;
}

uint32_t gen_block_bytes(const struct gen *g, const struct block *b)
{
	uint32_t n = content(g, b);
	if (b->flags & BLOCK_FORK)
		n += g->c.m->fork_check_size;
	if (b->flags & BLOCK_JOIN)
		n += g->c.m->join ? g->c.m->join(NULL, 0, 0, b->flags & BLOCK_JOIN_FAR, g->registers->dead_end[b - g->blocks.v]) : g->c.m->spring_size;
	return n;
}

static bool needs_near(const struct gen *g, const struct block *b, const struct code_end *e)
{
	struct insn insn = code_end_insn(e);
	int32_t to = g->end_block[b->end];
	if (to == CODE_NONE || (!g->c.m->through_gp && !g->c.m->branch_size(code_bytes(&g->c, e->at, e->len), &insn, false)))
		return true;
	int64_t distance = (int64_t)g->blocks.v[to].new - (int64_t)(b->new + content(g, b));
	return (distance < 0 ? ~distance : distance) > (int64_t)g->c.m->short_reach;
}

/* Where a block goes on by a jump of which the machine has two forms. */
static bool needs_far_join(const struct gen *g, const struct block *b)
{
	int32_t to = gen_block_at(g, b->old + b->size);
	int64_t distance = to == CODE_NONE ? INT64_MAX : (int64_t)g->blocks.v[to].new - (int64_t)b->new;
	return (distance < 0 ? ~distance : distance) > (int64_t)g->c.m->short_reach - 4096;
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

/* A far branch needs the register that held the base. */
static void lose_base(struct gen *g, int32_t to)
{
	struct block *b = to != CODE_NONE ? &g->blocks.v[to] : NULL;
	if (!b || b->form != COUNT_ON_BASE)
		return;
	b->form = COUNT_PLAIN;			/* by gp */
	b->inserted = g->c.m->count_size(gen_how(g, b));
	g->forms[COUNT_ON_BASE]--;
	g->forms[COUNT_PLAIN]++;
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
				lose_base(g, g->end_block[b->end]);
				changed = true;
			}
			if (g->c.m->join && (b->flags & BLOCK_JOIN) && !(b->flags & BLOCK_JOIN_FAR) && needs_far_join(g, b)) {
				b->flags |= BLOCK_JOIN_FAR;
				changed = true;
			}
		}
	}
}

/* What cannot be written at its new place: the function stays. */
bool gen_keep_unwritable(struct gen *g)
{
	const struct machine *m = g->c.m;
	bool changed = false;
	for (size_t i = 0; m->through_gp && i < g->blocks.n; i++) {
		const struct block *b = &g->blocks.v[i];
		const char *why = NULL;
		uint64_t at = b->old + b->size;
		struct rewrite w;
		if (gen_tail(g, i, &w) && !m->rewrite(NULL, 0, &w)) {
			at = w.insn.at;
			why = w.what & REWRITE_FAR ? "the branch at 0x%llx is out of reach, and no register is free for a longer one"
				: "no register is free for the address of text that is obtained at 0x%llx";
		} else if ((b->flags & BLOCK_JOIN) && !m->join(NULL, 0, 0, b->flags & BLOCK_JOIN_FAR, g->registers->dead_end[i])) {
			why = "no register is free to go on to 0x%llx";
		}
		if (!why)
			continue;
		code_range_at(&g->c, b->old)->why = code_reason(&g->c, why, (unsigned long long)at);
		changed = true;
	}
	return changed;
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
