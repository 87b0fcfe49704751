/* liveness.c - how each block can be counted: whether the condition flags are live at its head, computed over the whole
   object's graph, and for the few blocks where they are, which registers are dead.

   Calls: only one that leaves the object follows the ABI for certain.  gcc's -fipa-ra keeps values in caller-saved registers
   across local calls, and hand-written assembly returns values in flags. */
#include <stdlib.h>
#include <string.h>
#include "formats/relocations.h"
#include "tools/so-gen/gen.h"

enum live { DEAD, LIVE, PASSES };

struct flags {
	struct gen *g;
	uint8_t *live;			/* for each block */
	uint8_t *returns_live;		/* its return gives the caller flags that are read */
	VEC(int32_t) stack;
	uint8_t *marked;
};

static enum live local(const struct gen *g, const struct block *b)
{
	const struct code *c = &g->c;
	uint32_t i = b->old - c->lo, end = i + b->size;
	for (uint32_t w = i & ~63u; w < end; w += 64) {
		uint64_t reads = c->reads[w >> 6], both = reads | c->kills[w >> 6];
		if (w < i)
			both &= ~UINT64_C(0) << (i & 63);
		if (end - w < 64)
			both &= ~(~UINT64_C(0) << (end - w));
		if (both)
			return reads & both & -both ? LIVE : DEAD;
	}
	return PASSES;
}

const struct row_table *gen_table(const struct gen *g, uint32_t jump)
{
	size_t lo = 0, hi = g->rows->tables.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (g->rows->tables.v[mid].jump < jump)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->rows->tables.n && g->rows->tables.v[lo].jump == jump ? &g->rows->tables.v[lo] : NULL;
}

typedef bool visit(void *context, int32_t block);	/* false: stop */

/* Where an indirect jump leads, as far as the rows tell.  False when visit stopped it or when it may lead elsewhere. */
static bool each_table_target(const struct gen *g, uint32_t jump, visit *f, void *context)
{
	const struct row_table *t = gen_table(g, jump);
	if (!t)
		return false;
	size_t n = t->base ? g->rows->jump_entries.n : g->rows->labels.n;
	const struct row_pair *v = t->base ? g->rows->jump_entries.v : g->rows->labels.v;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct row_pair *p = rows_find(v, n, t->at + i * t->width);
		int32_t k = p ? gen_block_at(g, p->text) : CODE_NONE;
		if (k == CODE_NONE || !f(context, k))
			return false;
	}
	return true;
}

static bool is_entry(const struct gen *g, uint32_t a) { return rows_find(g->rows->entries.v, g->rows->entries.n, a) != NULL; }

static bool visit_dead(void *context, int32_t k) { return ((struct flags *)context)->live[k] != LIVE; }

/* The block that control goes on to when it does not branch, or CODE_NONE: old text. */
static int32_t next_block(const struct gen *g, size_t i)
{
	const struct block *b = &g->blocks.v[i];
	if (b->flags & BLOCK_JOIN)
		return gen_block_at(g, b->old + b->size);
	return i + 1 < g->blocks.n ? (int32_t)i + 1 : CODE_NONE;
}

/* Code that stays and is entered at a: does it read flags before it makes its own? */
static bool stays_reading(const struct gen *g, uint32_t a)
{
	const struct code_range *r = code_range_at(&g->c, a);
	if (!r || !r->swept || r->kind == RANGE_PLT)
		return false;
	uint32_t e = code_end_from(&g->c, r, a), end = e < r->ends + r->ends_n ? g->c.ends.v[e].at + 1 : r->end;
	uint32_t read = bit_next(g->c.reads, a - g->c.lo, end - g->c.lo);
	return read < end - g->c.lo && read <= bit_next(g->c.kills, a - g->c.lo, end - g->c.lo);
}

static bool live_there(const struct flags *f, int32_t k, uint32_t a)
{
	return k != CODE_NONE ? f->live[k] == LIVE : is_entry(f->g, a) ? stays_reading(f->g, a) : true;
}

static bool goes_on_live(const struct flags *f, size_t i)
{
	const struct block *b = &f->g->blocks.v[i];
	return live_there(f, next_block(f->g, i), b->old + b->size);
}

/* Are flags live at the end of block i? */
static bool live_out(struct flags *f, size_t i)
{
	const struct gen *g = f->g;
	const struct block *b = &g->blocks.v[i];
	if (b->end == CODE_NONE)
		return goes_on_live(f, i);
	const struct code_end *e = &g->c.ends.v[b->end];
	int32_t to = g->end_block[b->end];
	switch (e->kind) {
	case INSN_RETURN: return f->returns_live[i];
	case INSN_TRAP: case INSN_CALL_INDIRECT: return false;
	case INSN_CALL: return to != CODE_NONE ? f->live[to] == LIVE : stays_reading(g, e->target);
	case INSN_SYSCALL: return goes_on_live(f, i);
	case INSN_JUMP_INDIRECT: return !e->pc_pos && !each_table_target(g, e->at, visit_dead, f);
	case INSN_JUMP: return live_there(f, to, e->target);
	default: return live_there(f, to, e->target) || goes_on_live(f, i);
	}
}

static void solve(struct flags *f)
{
	bool changed = true;
	while (changed) {
		changed = false;
		for (size_t i = f->g->blocks.n; i-- > 0; )
			if (f->live[i] == PASSES && live_out(f, i)) {
				f->live[i] = LIVE;
				changed = true;
			}
	}
}

static bool push(void *context, int32_t k)
{
	struct flags *f = context;
	if (!f->marked[k]) {
		f->marked[k] = 1;
		vec_push(&f->stack, k);
	}
	return true;
}

/* All returns that a call of block `callee` can end in give flags back. */
static bool mark_returns(struct flags *f, int32_t callee)
{
	const struct gen *g = f->g;
	bool changed = false;
	push(f, callee);
	while (f->stack.n) {
		size_t i = f->stack.v[--f->stack.n];
		const struct block *b = &g->blocks.v[i];
		unsigned kind = b->end == CODE_NONE ? (unsigned)INSN_OTHER : g->c.ends.v[b->end].kind;
		if (kind == INSN_RETURN && !f->returns_live[i])
			f->returns_live[i] = changed = true;
		if (b->end != CODE_NONE && g->end_block[b->end] != CODE_NONE && kind != INSN_CALL)
			push(f, g->end_block[b->end]);
		if (kind == INSN_JUMP_INDIRECT)
			each_table_target(g, g->c.ends.v[b->end].at, push, f);
		if (insn_falls_through(kind) && next_block(g, i) != CODE_NONE)
			push(f, next_block(g, i));
	}
	return changed;
}

static bool find_returns(struct flags *f)
{
	const struct gen *g = f->g;
	bool changed = false;
	for (size_t i = 0; i < g->blocks.n; i++) {
		const struct block *b = &g->blocks.v[i];
		if (b->end != CODE_NONE && g->c.ends.v[b->end].kind == INSN_CALL && g->end_block[b->end] != CODE_NONE && goes_on_live(f, i))
			changed |= mark_returns(f, g->end_block[b->end]);
	}
	return changed;
}

/* Registers: a search along all paths from one block. */
struct search {
	const struct gen *g;
	regset used;
	struct { int32_t block; regset open; } stack[256], seen[128];
	unsigned depth, seen_n;
};

static void search_push(struct search *s, int32_t k, regset open)
{
	open &= ~s->used;
	for (unsigned i = 0; i < s->seen_n; i++)
		if (s->seen[i].block == k) {
			regset more = open & ~s->seen[i].open;
			s->seen[i].open |= open;
			open = more;
			goto found;
		}
	if (s->seen_n == sizeof s->seen / sizeof *s->seen) {
		s->used |= open;
		return;
	}
	s->seen[s->seen_n].block = k;
	s->seen[s->seen_n++].open = open;
found:
	if (!open)
		return;
	if (k == CODE_NONE || s->depth == sizeof s->stack / sizeof *s->stack) {
		s->used |= open;
		return;
	}
	s->stack[s->depth].block = k;
	s->stack[s->depth++].open = open;
}

static bool leaves_object(const struct gen *g, const struct code_end *e)
{
	const struct code_range *r = e->kind == INSN_CALL ? code_range_at(&g->c, e->target) : NULL;
	return r && r->kind == RANGE_PLT;
}

static void search_block(struct search *s, int32_t k, regset open)
{
	const struct gen *g = s->g;
	const struct block *b = &g->blocks.v[k];
	struct insn insn;
	for (uint32_t a = b->old; a < b->old + b->size && open; a += insn.len) {
		const uint8_t *p = code_bytes(&g->c, a, 1);
		regset reads, writes;
		if (!g->c.m->decode(p, b->old + b->size - a, a, &insn) || !g->c.m->uses(p, insn.len, &reads, &writes)) {
			s->used |= open;
			return;
		}
		s->used |= reads & open;
		open &= ~(reads | writes);
	}
	const struct code_end *e = b->end == CODE_NONE ? NULL : &g->c.ends.v[b->end];
	if (!e) {
		search_push(s, (size_t)k + 1 < g->blocks.n && !(b->flags & BLOCK_JOIN) ? k + 1 : CODE_NONE, open);
	} else if (e->kind == INSN_JUMP || e->kind == INSN_BRANCH || e->kind == INSN_BRANCH_SHORT) {
		search_push(s, g->end_block[b->end], open);
		if (insn_falls_through(e->kind))
			search_push(s, (size_t)k + 1 < g->blocks.n && !(b->flags & BLOCK_JOIN) ? k + 1 : CODE_NONE, open);
	} else if (leaves_object(g, e)) {
		s->used |= open & ~((regset)1 << 11);	/* the PLT's and the callee's scratch register */
	} else {
		s->used |= open;
	}
}

static regset dead_registers(const struct gen *g, int32_t k)
{
	struct search s;
	s.g = g;
	s.used = (regset)1 << g->c.m->stack_reg;
	s.depth = s.seen_n = 0;
	regset all = ((regset)1 << g->c.m->regs) - 1;
	search_push(&s, k, all);
	while (s.depth && s.used != all) {
		s.depth--;
		search_block(&s, s.stack[s.depth].block, s.stack[s.depth].open & ~s.used);
	}
	return all & ~s.used;
}

static void plan(struct gen *g, const struct flags *f)
{
	const struct machine *m = g->c.m;
	for (size_t i = 0; i < g->blocks.n; i++) {
		struct block *b = &g->blocks.v[i];
		if (g->options->identity)
			continue;
		struct count_how how = m->count_plan(&(struct count_where){ .flags_dead = true, .atomic = g->options->atomic });
		if (f->live[i] == LIVE) {
			b->flags |= BLOCK_FLAGS;
			how = m->count_plan(&(struct count_where){ .dead = dead_registers(g, i), .atomic = g->options->atomic });
		}
		b->form = how.form;
		b->reg = how.reg;
		b->inserted = m->count_size(how);
		g->forms[how.form]++;
		g->counted++;
	}
}

void gen_liveness(struct gen *g)
{
	g->counted = 0;
	memset(g->forms, 0, sizeof g->forms);
	if (g->c.m->through_gp) {
		gen_registers_plan(g);
		return;
	}
	struct flags f = { .g = g, .live = xcalloc(g->blocks.n + 1, 1), .returns_live = xcalloc(g->blocks.n + 1, 1), .marked = xcalloc(g->blocks.n + 1, 1) };
	if (!g->options->identity) {
		for (size_t i = 0; i < g->blocks.n; i++)
			f.live[i] = local(g, &g->blocks.v[i]);
		do
			solve(&f);
		while (find_returns(&f));
	}
	plan(g, &f);
	free(f.live);
	free(f.returns_live);
	free(f.marked);
	vec_free(&f.stack);
}
