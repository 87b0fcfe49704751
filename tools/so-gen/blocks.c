/* blocks.c - cuts the code that moves into basic blocks. */
#include <stdlib.h>
#include <string.h>
#include "tools/so-gen/gen.h"

/* Calls f for each address in code that a row says something may lead to. */
static void each_target(const struct gen *g, void (*f)(const struct gen *g, uint32_t a, uint64_t *map), uint64_t *map)
{
	const struct rows *rows = g->rows;
	const struct { const struct row_pair *v; size_t n; bool text; } lists[] = {
		{ rows->jump_entries.v, rows->jump_entries.n, true }, { rows->labels.v, rows->labels.n, true }, { rows->words.v, rows->words.n, true },
		{ rows->entries.v, rows->entries.n, false }, { rows->pads.v, rows->pads.n, false },
	};
	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (size_t i = 0; i < lists[k].n; i++)
			f(g, lists[k].text ? lists[k].v[i].text : lists[k].v[i].at, map);
}

/* Rows name addresses; only those that begin an instruction of a range are heads. */
static void head(const struct gen *g, uint32_t a, uint64_t *heads)
{
	if (code_starts(&g->c, a))
		bit_set(heads, a - g->c.lo);
}

static void row_heads(struct gen *g)
{
	for (size_t i = 0; i < g->rows->tables.n; i++) {
		const struct row_table *t = &g->rows->tables.v[i];
		if (t->count && t->base && t->width < 4 && !g->c.m->through_gp)
			gen_keep(g, code_range_at(&g->c, t->jump), "the entries of its jump table at 0x%llx have less than 4 bytes", t->at);
	}
	each_target(g, head, g->c.heads);
	for (size_t i = 0; i < g->rows->starts.n; i++)
		head(g, g->rows->starts.v[i], g->c.heads);
}

static int32_t address_index(const struct code *c, uint32_t at)
{
	const struct code_address *a = code_address(c, at);
	return a ? (int32_t)(a - c->addresses.v) : CODE_NONE;
}

/* The references that the table has, of a form that can be rewritten. */
static void read_addresses(struct gen *g)
{
	struct code *c = &g->c;
	for (size_t i = 0; i < g->rows->refs.n; i++) {
		const struct row_pair *p = &g->rows->refs.v[i];
		const struct code_range *r = code_range_at(c, p->at);
		struct insn insn;
		int32_t offset;
		uint64_t word;
		if (!r || r->why || !code_starts(c, p->at) || !c->m->decode(code_bytes(c, p->at, r->end - p->at), r->end - p->at, p->at, &insn)
		    || (c->addresses.n && c->addresses.v[c->addresses.n - 1].at >= p->at))
			continue;
		const struct prologue *q = code_prologue(c, r->start);
		struct code_address a = { .at = p->at, .target = p->text, .gp = q ? q->gp : c->got.gp, .len = insn.len };
		if (!c->m->address_form(code_bytes(c, p->at, insn.len), &insn, p->text, &a.whole, &offset)
		    || (a.whole && (!code_constant(c, (uint32_t)(a.gp + (uint32_t)offset), &word) || word != p->text)))
			continue;
		vec_push(&c->addresses, a);
	}
}

static void read_prologues(struct gen *g)
{
	for (size_t i = 0; i < g->rows->entries.n; i++) {
		const struct code_range *r = code_range_at(&g->c, g->rows->entries.v[i].at);
		if (r && !r->why && code_starts(&g->c, g->rows->entries.v[i].at))
			code_find_prologue(&g->c, r, g->rows->entries.v[i].at);
	}
	code_prologues_sort(&g->c);
}

/* What follows a rewritten instruction begins a block of its own, so that within a block distances stay as they were. */
static void cut_behind_addresses(struct gen *g)
{
	struct code *c = &g->c;
	g->goes_on = xcalloc((c->hi - c->lo) / 64 + 2, 8);
	for (size_t i = 0; i < c->addresses.n; i++) {
		uint32_t behind = c->addresses.v[i].at + c->addresses.v[i].len;
		if (!code_starts(c, behind) || code_head(c, behind))
			continue;
		code_set_head(c, behind);
		bit_set(g->goes_on, behind - c->lo);
	}
}

static void mark_blocks(struct gen *g)
{
	free(g->block_address);
	g->block_address = xmalloc((g->blocks.n + 1) * sizeof *g->block_address);
	const struct block *first = NULL;
	for (size_t i = 0; i < g->blocks.n; i++) {
		struct block *b = &g->blocks.v[i];
		uint32_t last = b->end != CODE_NONE ? g->c.ends.v[b->end].at : b->old + b->size - 4;
		g->block_address[i] = address_index(&g->c, last);
		if (bit(g->linked, b->old - g->c.lo))
			b->flags |= BLOCK_LINKED;
		if (!bit(g->goes_on, b->old - g->c.lo)) {
			first = b;
			continue;
		}
		b->flags |= BLOCK_GOES_ON;
		if ((b->flags & BLOCK_MARK) && first && (first->flags & BLOCK_LINKED))
			b->flags |= BLOCK_STORE;
	}
}

/* In code that stays, a direct branch of the long form is led into new text in place (patch.c). */
bool gen_retargets(const struct code_range *r, const struct code_end *e)
{
	return r->kind == RANGE_FDE && e->pc_pos && e->len - e->pc_pos == 4;
}

/* Code that stays enters a: at a function entry the springboard serves; elsewhere the code there stays too. */
static bool entered_from(struct gen *g, uint32_t a, uint32_t from)
{
	struct code_range *r = code_range_at(&g->c, a);
	if (!r || r->why)
		return false;
	bit_set(g->entered, a - g->c.lo);
	if (rows_find(g->rows->entries.v, g->rows->entries.n, a))
		return false;
	gen_keep(g, r, "code that stays enters it from 0x%llx", from);
	return true;
}

static bool enters_moved(struct gen *g, const struct code_range *r)
{
	bool changed = false;
	const struct code_end *last = NULL;
	for (uint32_t i = 0; i < r->ends_n; i++) {
		last = &g->c.ends.v[r->ends + i];
		if (insn_is_direct(last->kind) && !gen_retargets(r, last))
			changed |= entered_from(g, last->target, last->at);
	}
	bool falls = !last || last->at + last->len != r->end || (insn_falls_through(last->kind) && last->kind != INSN_CALL && last->kind != INSN_CALL_INDIRECT);
	return (falls && entered_from(g, r->end, r->end)) || changed;
}

static void keep_entered(struct gen *g)
{
	for (bool changed = true; changed; ) {
		changed = false;
		for (size_t i = 0; i < g->c.ranges.n; i++)
			if (g->c.ranges.v[i].why && g->c.ranges.v[i].swept)
				changed |= enters_moved(g, &g->c.ranges.v[i]);
	}
}

enum { MAX_BLOCK = 1 << 19 };

static void add_block(struct gen *g, const struct code_range *r, uint32_t a, uint32_t end, int32_t last)
{
	struct block b = { .old = a, .size = end - a, .end = last };
	struct insn insn;
	if (a == r->start)
		b.flags |= BLOCK_FIRST;
	const uint8_t *p = code_bytes(&g->c, a, end - a);
	if (g->c.m->mark_size && end - a >= g->c.m->mark_size && g->c.m->decode(p, end - a, a, &insn) && (insn.flags & INSN_MARK))
		b.flags |= BLOCK_MARK;
	if (last != CODE_NONE && g->c.ends.v[last].kind == INSN_SYSCALL && !g->options->identity && g->c.m->may_fork(p, end - a))
		b.flags |= BLOCK_FORK;
	bit_set(g->is_block, a - g->c.lo);
	vec_push(&g->blocks, b);
	g->moved_bytes += end - a;
}

/* The blocks of one range. */
static void cut_range(struct gen *g, const struct code_range *r)
{
	const struct code *c = &g->c;
	uint32_t e = r->ends, last = r->ends + r->ends_n;
	bool after_jump = false;
	for (uint32_t a = r->start; a < r->end; ) {
		uint32_t end = bit_next(c->heads, a - c->lo + 1, r->end - c->lo) + c->lo;
		if (end - a > MAX_BLOCK)
			end = bit_next(c->starts, a - c->lo + MAX_BLOCK / 2, r->end - c->lo) + c->lo;
		while (e < last && c->ends.v[e].at < a)
			e++;
		int32_t final = e < last && c->ends.v[e].at < end ? (int32_t)e : CODE_NONE;
		/* padding that nothing leads to is left out */
		if (after_jump && !bit(g->led, a - c->lo) && gen_is_padding(g, a, end))
			g->moved_bytes += end - a;
		else
			add_block(g, r, a, end, final);
		after_jump = final != CODE_NONE && !insn_falls_through(c->ends.v[final].kind);
		a = end;
	}
}

/* A branch over a lock prefix: the locked instruction is a block of its own, and what the branch enters another, beside it. */
static void make_splits(struct gen *g)
{
	struct code *c = &g->c;
	for (size_t i = 0; i < c->splits.n; i++) {
		uint32_t a = c->splits.v[i];
		const struct code_range *r = code_range_at(c, a);
		struct insn insn;
		int32_t k = gen_block_at(g, a - 1);
		if (!r || r->why || k == CODE_NONE || gen_block_at(g, a) != k + 1 || !c->m->decode(code_bytes(c, a, 1), r->end - a, a, &insn))
			continue;
		/* cut_range took the split for an ordinary head: its two parts become the whole instruction and its tail */
		g->blocks.v[k].size = insn.len + 1;
		g->blocks.v[k + 1].size = insn.len;
		g->blocks.v[k + 1].flags |= BLOCK_SPLIT;
	}
}

static void make_rank(struct gen *g)
{
	size_t words = (g->c.hi - g->c.lo) / 64 + 1;
	uint32_t n = 0;
	for (size_t i = 0; i < words; i++) {
		g->rank[i] = n;
		n += __builtin_popcountll(g->is_block[i]);
	}
}

int32_t gen_block_at(const struct gen *g, uint64_t a)
{
	if (!code_in(&g->c, a))
		return CODE_NONE;
	uint32_t i = a - g->c.lo;
	uint64_t word = g->is_block[i >> 6];
	if (!(word >> (i & 63) & 1))
		return CODE_NONE;
	return g->rank[i >> 6] + __builtin_popcountll(word & ((UINT64_C(1) << (i & 63)) - 1));
}

int32_t gen_block_of(const struct gen *g, uint64_t a)
{
	if (!code_in(&g->c, a))
		return CODE_NONE;
	uint32_t i = a - g->c.lo;
	uint64_t upto = g->is_block[i >> 6] & (~UINT64_C(0) >> (63 - (i & 63)));
	int32_t k = (int32_t)(g->rank[i >> 6] + __builtin_popcountll(upto)) - 1;
	if (k >= 0 && (g->blocks.v[k].flags & BLOCK_SPLIT) && a >= g->blocks.v[k].old + g->blocks.v[k].size)
		k--;
	return k >= 0 && a - g->blocks.v[k].old < g->blocks.v[k].size ? k : CODE_NONE;
}

static bool only_padding_between(const struct gen *g, uint32_t a, uint32_t b)
{
	return a == b || (b > a && b - a < 256 && object_at(&g->o, a, b - a) && gen_is_padding(g, a, b));
}

/* Where control goes on from the block when it does not branch: the next block in order, else by a jump (BLOCK_JOIN). */
static void join_blocks(struct gen *g)
{
	for (size_t i = 0; i < g->blocks.n; i++) {
		struct block *b = &g->blocks.v[i];
		const struct block *next = i + 1 < g->blocks.n ? b + 1 : NULL;
		if (b->end != CODE_NONE && !insn_falls_through(g->c.ends.v[b->end].kind))
			continue;
		if (!next || (next->old != b->old + b->size && !only_padding_between(g, b->old + b->size, next->old)) || (next->flags & BLOCK_SPLIT))
			b->flags |= BLOCK_JOIN;
	}
}

static void lead(const struct gen *g, uint32_t a, uint64_t *led)
{
	if (code_in(&g->c, a))
		bit_set(led, a - g->c.lo);
}

static void find_led(struct gen *g)
{
	g->led = xcalloc((g->c.hi - g->c.lo) / 64 + 2, 8);
	for (size_t i = 0; i < g->c.ends.n; i++)
		if (insn_is_direct(g->c.ends.v[i].kind))
			lead(g, g->c.ends.v[i].target, g->led);
	each_target(g, lead, g->led);
}

/* Makes the blocks of what moves, as far as is known by now. */
static void cut(struct gen *g)
{
	struct code *c = &g->c;
	memset(g->is_block, 0, ((c->hi - c->lo) / 64 + 2) * 8);
	g->blocks.n = 0;
	g->moved_bytes = g->kept_bytes = g->fde_moved = g->fde_kept = 0;
	for (size_t i = 0; i < c->ranges.n; i++) {
		struct code_range *r = &c->ranges.v[i];
		if (r->kind == RANGE_FDE || r->kind == RANGE_PLT)
			*(r->why ? &g->fde_kept : &g->fde_moved) += r->end - r->start;
		if (r->why)
			g->kept_bytes += r->kind == RANGE_GAP ? 0 : r->end - r->start;
		else
			cut_range(g, r);
	}
	make_rank(g);
	make_splits(g);
	join_blocks(g);
	for (size_t i = 0; i < c->ends.n; i++)
		g->end_block[i] = insn_is_direct(c->ends.v[i].kind) ? gen_block_at(g, c->ends.v[i].target) : CODE_NONE;
	if (c->m->through_gp) {
		mark_blocks(g);
		gen_registers(g);
	}
}

const char *gen_cut(struct gen *g)
{
	do {
		keep_entered(g);
		cut(g);
		gen_mapping(g);
	} while (gen_keep_pinned(g));
	return g->blocks.n ? NULL : "nothing in it may move";
}

const char *gen_blocks(struct gen *g)
{
	struct code *c = &g->c;
	gen_ranges(g);
	row_heads(g);
	if (c->m->through_gp) {
		code_got_slots(c, &g->relocs);
		gen_check_rows(g);
		read_prologues(g);
		read_addresses(g);
		cut_behind_addresses(g);
		gen_links(g);
	}
	g->is_block = xcalloc((c->hi - c->lo) / 64 + 2, 8);
	g->entered = xcalloc((c->hi - c->lo) / 64 + 2, 8);
	g->rank = xcalloc((c->hi - c->lo) / 64 + 2, sizeof *g->rank);
	g->end_block = xmalloc((c->ends.n + 1) * sizeof *g->end_block);
	find_led(g);
	return gen_cut(g);
}
