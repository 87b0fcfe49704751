/* registers.c - which registers are free at each block, over the whole object's graph, for machines whose counting code needs some.

   gcc's -fipa-ra keeps values in caller-saved registers across calls of functions that it knows.  So only a call that leaves
   the object, or goes through a pointer, kills them; and inserted code changes only registers that its function changes itself. */
#include <stdlib.h>
#include "tools/so-gen/gen.h"

#define ALL UINT32_MAX

struct flow {
	struct gen *g;
	uint32_t *use, *def, *in;	/* for each block */
	uint32_t *needs;		/* what is read from it on, returns left out: of interest to callers */
	uint32_t *written;		/* for each range */
	int32_t *range;			/* of each block */
	uint32_t *pads;			/* for each range: live at its landing pads */
	uint32_t *back;			/* and where its returns lead, as far as calls are seen: assembly hands back what it likes */
	uint8_t *leaves;		/* ends with a call that leaves the object */
	uint8_t *no_gp;			/* for each range: it uses gp, or calls somebody */
	bool returns;			/* the second pass: returns count */
};

static const struct code_end *end_of(const struct gen *g, size_t i)
{
	return g->blocks.v[i].end == CODE_NONE ? NULL : &g->c.ends.v[g->blocks.v[i].end];
}

static bool call_leaves(const struct gen *g, const struct block *b)
{
	int32_t offset = INT32_MAX;
	uint64_t word;
	if (!g->c.m->call_leaves(code_bytes(&g->c, b->old, b->size), b->size, &offset))
		return false;
	return offset == INT32_MAX || !code_constant(&g->c, (uint32_t)(gen_gp(g, b) + (uint32_t)offset), &word);
}

static void scan_block(struct flow *f, size_t i)
{
	const struct gen *g = f->g;
	const struct block *b = &f->g->blocks.v[i];
	struct insn insn;
	for (uint32_t a = b->old; a < b->old + b->size; a += insn.len) {
		const uint8_t *p = code_bytes(&g->c, a, 4);
		regset reads, writes;
		if (!g->c.m->decode(p, b->old + b->size - a, a, &insn) || !g->c.m->uses(p, insn.len, &reads, &writes)) {
			f->use[i] |= ~f->def[i];
			return;
		}
		f->use[i] |= (uint32_t)reads & ~f->def[i];
		f->def[i] |= (uint32_t)writes;
		f->no_gp[f->range[i]] |= ((reads | writes) & g->c.m->gp_reg) != 0;
		f->written[f->range[i]] |= (uint32_t)writes;
	}
	const struct code_end *e = end_of(g, i);
	f->no_gp[f->range[i]] |= e && (e->kind == INSN_CALL || e->kind == INSN_CALL_INDIRECT);
	if (e && e->kind == INSN_CALL_INDIRECT && call_leaves(g, b)) {
		f->leaves[i] = 1;
		f->written[f->range[i]] |= (uint32_t)g->c.m->call_kills;
	}
}

static void scan(struct flow *f)
{
	struct gen *g = f->g;
	size_t r = 0;
	for (size_t i = 0; i < g->blocks.n; i++) {
		while (g->c.ranges.v[r].end <= g->blocks.v[i].old)
			r++;
		f->range[i] = (int32_t)r;
		scan_block(f, i);
	}
}

/* Nobody hands over anything in the assembler's register. */
static uint32_t at_target(const struct flow *f, int32_t to) { return to != CODE_NONE ? f->in[to] : ALL & ~(1u << f->g->c.m->jump_reg); }

static uint32_t next_in(const struct flow *f, size_t i)
{
	return i + 1 < f->g->blocks.n && !(f->g->blocks.v[i].flags & BLOCK_JOIN) ? f->in[i + 1] : at_target(f, CODE_NONE);
}

static uint32_t at_table(const struct flow *f, size_t i, const struct code_end *e)
{
	const struct gen *g = f->g;
	const struct machine *m = g->c.m;
	const struct row_table *t = gen_table(g, e->at);
	uint32_t live = 0;
	if (!t || (!t->count && !m->jump_by_call_reg(code_bytes(&g->c, e->at, 4))))
		return at_target(f, CODE_NONE);
	if (!t->count) {		/* a tail call */
		live = (uint32_t)(m->call_uses | m->callee_saved) | 1u << 31;
		return f->returns ? live | ~(f->written[f->range[i]] | 1u << m->jump_reg) : live;
	}
	for (uint32_t k = 0; k < t->count; k++) {
		size_t n = t->base ? g->rows->jump_entries.n : g->rows->labels.n;
		const struct row_pair *v = t->base ? g->rows->jump_entries.v : g->rows->labels.v, *p = rows_find(v, n, t->at + k * t->width);
		int32_t to = p ? gen_block_at(g, p->text) : CODE_NONE;
		live |= at_target(f, to);
	}
	return live;
}

static uint32_t live_out(const struct flow *f, size_t i)
{
	const struct gen *g = f->g;
	const struct machine *m = g->c.m;
	const struct code_end *e = end_of(g, i);
	if (!e)
		return next_in(f, i);
	int32_t to = g->end_block[g->blocks.v[i].end];
	uint32_t uses = (uint32_t)m->call_uses, own = f->written[f->range[i]] | 1u << m->jump_reg;
	switch (e->kind) {
	case INSN_RETURN: return f->returns ? ~own | (uint32_t)(m->return_uses | m->callee_saved) | f->back[f->range[i]] : 0;
	case INSN_TRAP: return 0;
	case INSN_JUMP: return at_target(f, to);
	case INSN_BRANCH: return at_target(f, to) | next_in(f, i);
	case INSN_JUMP_INDIRECT: return at_table(f, i, e);
	case INSN_CALL: return (to != CODE_NONE ? f->returns ? f->needs[to] : f->in[to] : at_target(f, CODE_NONE)) | next_in(f, i) | f->pads[f->range[i]];
	case INSN_CALL_INDIRECT: return uses | (next_in(f, i) & ~(f->leaves[i] ? (uint32_t)m->call_kills : 0)) | f->pads[f->range[i]];
	default: return next_in(f, i);
	}
}

static bool add_pads(struct flow *f)
{
	const struct gen *g = f->g;
	bool changed = false;
	for (size_t i = 0; i < g->rows->pads.n; i++) {
		int32_t k = gen_block_at(g, g->rows->pads.v[i].at);
		if (k == CODE_NONE || !(f->in[k] & ~f->pads[f->range[k]]))
			continue;
		f->pads[f->range[k]] |= f->in[k];
		changed = true;
	}
	return changed;
}

static bool hand_back(struct flow *f, int32_t to, uint32_t live)
{
	if (to == CODE_NONE || !(live & ~f->back[f->range[to]]))
		return false;
	f->back[f->range[to]] |= live;
	return true;
}

/* What is live behind calls is live at the returns of what they call, and of what that jumps to. */
static bool add_returns(struct flow *f)
{
	const struct gen *g = f->g;
	bool changed = false;
	for (size_t i = 0; f->returns && i < g->blocks.n; i++) {
		const struct code_end *e = end_of(g, i);
		int32_t to = e && insn_is_direct(e->kind) ? g->end_block[g->blocks.v[i].end] : CODE_NONE;
		bool call = e && (e->kind == INSN_CALL || e->kind == INSN_CALL_INDIRECT);
		changed |= hand_back(f, to, call ? next_in(f, i) : f->back[f->range[i]]);
		if (!call && (!e || insn_falls_through(e->kind)) && i + 1 < g->blocks.n)
			changed |= hand_back(f, (int32_t)i + 1, f->back[f->range[i]]);
	}
	return changed;
}

static void solve(struct flow *f)
{
	for (bool changed = true; changed; ) {
		changed = false;
		for (size_t i = f->g->blocks.n; i-- > 0; ) {
			uint32_t in = f->use[i] | (live_out(f, i) & ~f->def[i]);
			if (in == f->in[i])
				continue;
			f->in[i] = in;
			changed = true;
		}
		changed |= add_pads(f);
		changed |= add_returns(f);
	}
}

static void keep_results(struct flow *f)
{
	struct gen *g = f->g;
	for (size_t i = 0; i < g->blocks.n; i++) {
		uint32_t own = (f->written[f->range[i]] | 1u << g->c.m->jump_reg) & ~(uint32_t)g->c.m->always_live;
		g->registers->dead[i] = ~f->in[i] & own;
		g->registers->dead_end[i] = ~live_out(f, i) & own;
	}
}

uint32_t gen_gp(const struct gen *g, const struct block *b)
{
	const struct code_range *r = code_range_at(&g->c, b->old);
	const struct prologue *q = r ? code_prologue(&g->c, r->start) : NULL;
	return q ? q->gp : g->c.got.gp;
}

/* gp: valid behind the prologue and where it was loaded from the frame, not behind calls. */
static bool gp_behind(const struct gen *g, const int32_t *slots, size_t i, bool valid)
{
	const struct block *b = &g->blocks.v[i];
	const struct code_range *r = code_range_at(&g->c, b->old);
	const struct prologue *q = r ? code_prologue(&g->c, r->start) : NULL;
	struct insn insn;
	for (uint32_t a = b->old; a < b->old + b->size; a += insn.len) {
		const uint8_t *p = code_bytes(&g->c, a, 4);
		if (!g->c.m->decode(p, b->old + b->size - a, a, &insn))
			return false;
		int makes = g->c.m->makes_gp(p, &insn, slots[r - g->c.ranges.v]);
		if (makes)
			valid = makes > 0 && q && q->in_gp;
	}
	return valid;
}

static void lead(struct gen *g, int32_t to, bool valid, bool *changed)
{
	if (to == CODE_NONE || valid || !g->registers->gp_valid[to] || (g->blocks.v[to].flags & BLOCK_MAKES_GP))
		return;
	g->registers->gp_valid[to] = 0;
	*changed = true;
}

static void lead_on(struct gen *g, size_t i, bool valid, bool *changed)
{
	const struct code_end *e = end_of(g, i);
	int32_t next = i + 1 < g->blocks.n ? (int32_t)i + 1 : CODE_NONE;
	if (!e || insn_falls_through(e->kind))
		lead(g, next, valid && !(e && (e->kind == INSN_CALL || e->kind == INSN_CALL_INDIRECT)), changed);
	if (e && (e->kind == INSN_BRANCH || e->kind == INSN_JUMP))
		lead(g, g->end_block[g->blocks.v[i].end], valid, changed);
	const struct row_table *t = e && e->kind == INSN_JUMP_INDIRECT ? gen_table(g, e->at) : NULL;
	for (uint32_t k = 0; t && t->base && k < t->count; k++) {
		const struct row_pair *p = rows_find(g->rows->jump_entries.v, g->rows->jump_entries.n, t->at + k * t->width);
		lead(g, p ? gen_block_at(g, p->text) : CODE_NONE, valid, changed);
	}
}

/* A function that calls nothing and has no gp gets one: the object's own, which whoever called it from here has too, and others load again
   behind every call. */
static void make_gp(struct flow *f)
{
	struct gen *g = f->g;
	for (size_t i = 0; i < g->blocks.n; i++) {
		struct block *b = &g->blocks.v[i];
		b->flags &= ~BLOCK_MAKES_GP;
		bool free = g->registers->dead[i] >> g->c.m->jump_reg & 1 && g->registers->dead[i] & ~(1u << g->c.m->jump_reg | 1u << 31);
		if (free && !f->no_gp[f->range[i]] && !g->c.got.several && g->c.got.gp && rows_find(g->rows->entries.v, g->rows->entries.n, b->old)
		    && i + 4 < g->blocks.n && f->range[i + 4] == f->range[i])
			b->flags |= BLOCK_MAKES_GP;
	}
}

static void find_gp(struct gen *g)
{
	uint8_t *valid = g->registers->gp_valid;
	bool changed = true;
	for (size_t i = 0; i < g->blocks.n; i++)
		valid[i] = (g->blocks.v[i].flags & BLOCK_MAKES_GP) || !(g->blocks.v[i].flags & BLOCK_FIRST);
	for (size_t i = 0; i < g->rows->entries.n; i++)
		lead(g, gen_block_at(g, g->rows->entries.v[i].at), false, &changed);
	for (size_t i = 0; i < g->rows->pads.n; i++)
		lead(g, gen_block_at(g, g->rows->pads.v[i].at), false, &changed);
	for (size_t i = 0; i < g->rows->labels.n; i++)
		lead(g, gen_block_at(g, g->rows->labels.v[i].text), false, &changed);
	int32_t *slots = xmalloc((g->c.ranges.n + 1) * sizeof *slots);
	for (size_t i = 0; i < g->c.ranges.n; i++) {
		const struct code_range *r = &g->c.ranges.v[i];
		const struct prologue *q = r->why ? NULL : code_prologue(&g->c, r->start);
		slots[i] = q && q->in_gp ? g->c.m->gp_slot(code_bytes(&g->c, r->start, r->end - r->start), r->end - r->start) : INT32_MIN;
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < g->blocks.n; i++)
			lead_on(g, i, gp_behind(g, slots, i, valid[i]), &changed);
	}
	free(slots);
}

/* Bases: what counting code left in a register, where every way to a block brings the one that it needs. */
enum { NO_BASE = -1, ANY_BASE = -2 };

struct bases { struct gen *g; int64_t *in; bool changed; };

static bool counts_by_gp(const struct gen *g, size_t i)
{
	const struct block *b = &g->blocks.v[i];
	uint32_t at = 1u << g->c.m->jump_reg, dead = g->registers->dead[i] & ~(1u << 31);
	return gen_counts(b) && g->registers->gp_valid[i] && (dead & at) && (dead & ~at);
}

static void bring(struct bases *s, int32_t to, int64_t base)
{
	if (to == CODE_NONE || s->in[to] == base || s->in[to] == NO_BASE)
		return;
	s->in[to] = s->in[to] == ANY_BASE ? base : NO_BASE;
	s->changed = true;
}

/* The base behind the block: its own, or what came, unless something in between changes the register. */
static int64_t base_behind(const struct bases *s, size_t i)
{
	const struct gen *g = s->g;
	const struct block *b = &g->blocks.v[i];
	struct insn insn;
	if (g->block_address[i] != CODE_NONE || (b->flags & (BLOCK_FORK | BLOCK_LINKED)))
		return NO_BASE;
	for (uint32_t a = b->old; a < b->old + b->size; a += insn.len) {
		const uint8_t *p = code_bytes(&g->c, a, 4);
		regset reads, writes;
		if (!g->c.m->decode(p, b->old + b->size - a, a, &insn) || !g->c.m->uses(p, insn.len, &reads, &writes)
		    || ((reads | writes) >> g->c.m->jump_reg & 1))
			return NO_BASE;
	}
	if (counts_by_gp(g, i))
		return g->c.m->count_base(8 * (uint64_t)i, gen_gp(g, b));
	return b->flags & BLOCK_GOES_ON ? s->in[i] : NO_BASE;
}

static void bring_on(struct bases *s, size_t i)
{
	const struct gen *g = s->g;
	const struct code_end *e = end_of(g, i);
	int64_t base = base_behind(s, i);
	bool plain = !e || e->kind == INSN_BRANCH, join = g->blocks.v[i].flags & BLOCK_JOIN;
	if (base == ANY_BASE)
		return;
	if ((!e || insn_falls_through(e->kind)) && i + 1 < g->blocks.n)
		bring(s, (int32_t)i + 1, plain && !join ? base : NO_BASE);
	if (e && insn_is_direct(e->kind))
		bring(s, g->end_block[g->blocks.v[i].end], e->kind != INSN_CALL && !code_prologue(&g->c, e->target) ? base : NO_BASE);
}

static void no_bases(struct bases *s, const struct row_pair *v, size_t n, bool by_text)
{
	for (size_t i = 0; i < n; i++)
		bring(s, gen_block_at(s->g, by_text ? v[i].text : v[i].at), NO_BASE);
}

static void find_bases(struct gen *g)
{
	struct bases s = { .g = g, .in = xmalloc((g->blocks.n + 1) * sizeof *s.in), .changed = true };
	const struct rows *rows = g->rows;
	for (size_t i = 0; i < g->blocks.n; i++)
		s.in[i] = g->blocks.v[i].flags & BLOCK_FIRST ? NO_BASE : ANY_BASE;
	no_bases(&s, rows->entries.v, rows->entries.n, false);
	no_bases(&s, rows->pads.v, rows->pads.n, false);
	no_bases(&s, rows->jump_entries.v, rows->jump_entries.n, true);
	no_bases(&s, rows->labels.v, rows->labels.n, true);
	no_bases(&s, rows->words.v, rows->words.n, true);
	for (size_t i = 0; i < rows->starts.n; i++)
		bring(&s, gen_block_at(g, rows->starts.v[i]), NO_BASE);
	while (s.changed) {
		s.changed = false;
		for (size_t i = 0; i < g->blocks.n; i++)
			bring_on(&s, i);
	}
	for (size_t i = 0; i < g->blocks.n; i++)
		if (counts_by_gp(g, i) && s.in[i] == (int64_t)g->c.m->count_base(8 * (uint64_t)i, gen_gp(g, &g->blocks.v[i])))
			g->blocks.v[i].flags |= BLOCK_BASE;
	free(s.in);
}

void gen_registers_free(struct gen *g)
{
	if (g->registers) {
		free(g->registers->dead);
		free(g->registers->dead_end);
		free(g->registers->gp_valid);
	}
	free(g->registers);
	g->registers = NULL;
}

void gen_registers(struct gen *g)
{
	gen_registers_free(g);
	size_t n = g->blocks.n + 1;
	struct flow f = { .g = g, .use = xcalloc(n, 4), .def = xcalloc(n, 4), .in = xcalloc(n, 4), .needs = xcalloc(n, 4), .leaves = xcalloc(n, 1), .no_gp = xcalloc(g->c.ranges.n + 1, 1),
		.range = xcalloc(n, 4), .written = xcalloc(g->c.ranges.n + 1, 4), .pads = xcalloc(g->c.ranges.n + 1, 4),
		.back = xcalloc(g->c.ranges.n + 1, 4) };
	g->registers = xcalloc(1, sizeof *g->registers);
	*g->registers = (struct registers){ xcalloc(n, 4), xcalloc(n, 4), xcalloc(n, 1) };
	scan(&f);
	solve(&f);
	for (size_t i = 0; i < g->blocks.n; i++)
		f.needs[i] = f.in[i];
	f.returns = true;
	solve(&f);
	keep_results(&f);
	make_gp(&f);
	find_gp(g);
	free(f.no_gp);
	free(f.use);
	free(f.def);
	free(f.in);
	free(f.needs);
	free(f.leaves);
	free(f.range);
	free(f.written);
	free(f.pads);
	free(f.back);
}

void gen_registers_plan(struct gen *g)
{
	const struct machine *m = g->c.m;
	find_bases(g);
	for (size_t i = 0; i < g->blocks.n; i++) {
		struct block *b = &g->blocks.v[i];
		if (g->options->identity || !gen_counts(b))
			continue;
		struct count_how how = m->count_plan(&(struct count_where){ .dead = g->registers->dead[i], .atomic = g->options->atomic,
			.gentle = g->c.gentle, .makes_gp = b->flags & BLOCK_MAKES_GP, .has_base = b->flags & BLOCK_BASE, .gp = g->registers->gp_valid[i] ? gen_gp(g, b) : 0 });
		how.gp = gen_gp(g, b);
		b->form = how.form;
		b->reg = how.reg;
		b->inserted = m->count_size(how);
		g->forms[how.form]++;
		g->counted++;
	}
}
