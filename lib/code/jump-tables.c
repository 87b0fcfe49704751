/* jump-tables.c - a forward walk over one function's blocks with the values of registers, stack slots and proven bounds.
   The machine's flow functions say what an instruction does; this file merges, finds the fixed point and reads the tables. */
#include <stdlib.h>
#include <string.h>
#include "lib/code/jump-tables.h"

enum { MAX_ENTRIES = 65536, MAX_VISITS = 10, MAX_BLOCKS = 60000, WALK_FROM_ANYWHERE = -2 };

struct flow_block {
	uint32_t at, end;
	int32_t last;			/* index in code.ends or CODE_NONE */
	uint8_t visits;
	bool queued;
	bool settled;			/* reached from the entry; what was not (landing pads, padding) changes nothing here */
	struct flow_state *in;
};

struct walk {
	struct code *c;
	struct code_range *r;
	struct flow_block *blocks;
	size_t n;
	uint32_t *queue;
	size_t queued;
	jump_tables *tables;
	size_t first_table;		/* of this range */
	code_slot slot;
	void *context;
	bool grown;			/* a table gave new heads: the blocks have to be made again */
};

bool jump_entry(const struct code *c, const struct jump_table *t, uint32_t i, uint64_t *at, uint64_t *target)
{
	*at = (uint64_t)t->at + (uint64_t)i * t->width;
	const uint8_t *p = object_at(c->o, *at, t->width);
	if (!p)
		return false;
	uint64_t v = object_word(c->o, p, t->width);
	if (t->is_signed && t->width < 8)
		v = (uint64_t)((int64_t)(v << (64 - 8 * t->width)) >> (64 - 8 * t->width));
	*target = t->base + v * t->scale;
	return true;
}

static int find_block(const struct walk *w, uint32_t at)
{
	size_t lo = 0, hi = w->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (w->blocks[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < w->n && w->blocks[lo].at == at ? (int)lo : CODE_NONE;
}

static void make_blocks(struct walk *w)
{
	const struct code *c = w->c;
	size_t n = 0;
	for (uint32_t a = w->r->start; a < w->r->end; a = bit_next(c->heads, a - c->lo + 1, w->r->end - c->lo) + c->lo)
		n++;
	w->blocks = xcalloc(n + 1, sizeof *w->blocks);
	w->queue = xcalloc(n + 1, sizeof *w->queue);
	w->n = w->queued = 0;
	uint32_t e = w->r->ends, last = w->r->ends + w->r->ends_n;
	for (uint32_t a = w->r->start; a < w->r->end; ) {
		struct flow_block *b = &w->blocks[w->n++];
		b->at = a;
		b->end = a = bit_next(c->heads, a - c->lo + 1, w->r->end - c->lo) + c->lo;
		b->last = CODE_NONE;
		while (e < last && c->ends.v[e].at < b->at)
			e++;
		while (e < last && c->ends.v[e].at < b->end)
			b->last = e++;
	}
}

static void free_blocks(struct walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->blocks[i].in);
	free(w->blocks);
	free(w->queue);
}

static void push(struct walk *w, int i)
{
	if (!w->blocks[i].queued && w->blocks[i].visits < MAX_VISITS) {
		w->blocks[i].queued = true;
		w->queue[w->queued++] = i;
	}
}

static bool same_value(const struct flow_value *x, const struct flow_value *y)
{
	return x->kind == y->kind && x->width == y->width && x->scale == y->scale && x->is_signed == y->is_signed
		&& x->a == y->a && x->b == y->b && (x->kind != FLOW_ANY || x->id == y->id);
}

/* Makes *x what holds for both; true when that changed *x. */
static bool merge_value(const struct walk *w, const struct flow_state *sx, struct flow_value *x, const struct flow_state *sy,
                        const struct flow_value *y, uint32_t at, unsigned salt, bool last)
{
	uint64_t mx = x->kind == FLOW_ANY ? flow_known_max(sx, x) : x->max, my = y->kind == FLOW_ANY ? flow_known_max(sy, y) : y->max;
	uint64_t max = mx > my ? mx : my;
	if (same_value(x, y)) {
		if (max <= x->max)
			return false;
		x->max = last ? UINT64_MAX : max;
		return true;
	}
	/* a landing pad knows nothing of the frame, yet finds it as its function left it */
	if (x->kind == FLOW_FRAME && y->kind == FLOW_ANY && salt < w->c->m->regs)
		return false;
	if (y->kind == FLOW_FRAME && x->kind == FLOW_ANY && salt < w->c->m->regs) {
		*x = *y;
		return true;
	}
	uint32_t id = (at * 2654435761u ^ (salt + 1) * 40503u) | 1;
	if (x->kind == FLOW_ANY && x->id == id && max <= x->max)
		return false;
	*x = (struct flow_value){ .kind = FLOW_ANY, .id = id, .max = last ? UINT64_MAX : max };
	return true;
}

static bool merge(const struct walk *w, struct flow_block *b, const struct flow_state *s)
{
	bool last = b->visits >= MAX_VISITS - 2, changed = false;
	if (!b->in) {
		b->in = xmalloc(sizeof *b->in);
		*b->in = *s;
		b->in->reached = true;
		return true;
	}
	struct flow_state *in = b->in;
	struct flow_state before;
	memcpy(before.facts, in->facts, sizeof in->facts);
	before.fact_count = in->fact_count;
	for (unsigned r = 0; r < w->c->m->regs; r++)
		changed |= merge_value(w, &before, &in->regs[r], s, &s->regs[r], b->at, r, last);
	for (unsigned i = 0; i < in->slot_count; ) {
		unsigned k = 0;
		while (k < s->slot_count && s->slots[k].at != in->slots[i].at)
			k++;
		if (k == s->slot_count) {
			in->slots[i] = in->slots[--in->slot_count];
			changed = true;
			continue;
		}
		changed |= merge_value(w, &before, &in->slots[i].value, s, &s->slots[k].value, b->at, 64 + (unsigned)(in->slots[i].at & 0xffff), last);
		i++;
	}
	for (unsigned i = 0; i < in->fact_count; ) {
		unsigned k = 0;
		while (k < s->fact_count && s->facts[k].id != in->facts[i].id)
			k++;
		if (k == s->fact_count || (last && s->facts[k].max > in->facts[i].max)) {
			in->facts[i] = in->facts[--in->fact_count];
			changed = true;
			continue;
		}
		if (s->facts[k].max > in->facts[i].max) {
			in->facts[i].max = s->facts[k].max;
			changed = true;
		}
		i++;
	}
	if (in->epoch != s->epoch) {
		uint32_t epoch = b->at * 2246822519u | 1;
		changed |= in->epoch != epoch;
		in->epoch = epoch;
	}
	if (in->compare.valid && (!s->compare.valid || s->compare.id != in->compare.id || s->compare.bound != in->compare.bound)) {
		in->compare.valid = false;
		changed = true;
	}
	return changed;
}

static void flow_to(struct walk *w, uint32_t at, const struct flow_state *s)
{
	if (at < w->r->start || at >= w->r->end)
		return;
	int i = find_block(w, at);
	if (i != CODE_NONE && !w->blocks[i].settled && merge(w, &w->blocks[i], s))
		push(w, i);
}

/* May this be where an entry leads?  1: yes; 0: nowhere; -1: the end of the function, where compilers send what cannot happen. */
static int entry_leads(const struct walk *w, uint64_t target)
{
	if (target == w->r->end)
		return -1;
	if (!code_starts(w->c, target))
		return 0;
	return target >= w->r->start && target < w->r->end ? 1 : code_range_at(w->c, target) != NULL;
}

/* Counts the entries and marks their targets.  False: this is no table. */
static bool read_table(struct walk *w, struct jump_table *t, uint64_t max)
{
	uint32_t limit = max < MAX_ENTRIES ? (uint32_t)max + 1 : MAX_ENTRIES, good = 0;
	t->proven = max < MAX_ENTRIES;
	uint32_t i;
	for (i = 0; i < limit; i++) {
		uint64_t at, target;
		bool there = jump_entry(w->c, t, i, &at, &target);
		if (there && t->base == 0)
			there = w->slot(w->context, at, &target);
		int leads = there ? entry_leads(w, target) : 0;
		if (!leads) {
			if (t->proven)
				return false;
			break;
		}
		/* without a bound, an entry in another function must at least be in its cold part: not at a function's start */
		good += leads > 0;
	}
	t->count = i;
	return good > 0;
}

static void table_heads(struct walk *w, const struct jump_table *t, const struct flow_state *s)
{
	for (uint32_t i = 0; i < t->count; i++) {
		uint64_t at, target;
		if (!jump_entry(w->c, t, i, &at, &target) || (t->base == 0 && !w->slot(w->context, at, &target)) || entry_leads(w, target) != 1)
			continue;
		if (!code_head(w->c, target)) {
			code_set_head(w->c, target);
			w->grown = true;
		}
		flow_to(w, target, s);
	}
}

static struct jump_table *known_table(struct walk *w, uint32_t jump)
{
	for (size_t i = w->first_table; i < w->tables->n; i++)
		if (w->tables->v[i].jump == jump)
			return &w->tables->v[i];
	return NULL;
}

/* Resolves the jump in state s; false: it is neither a tail call nor a table. */
static bool resolve(struct walk *w, const struct insn *insn, const struct flow_state *s)
{
	struct flow_value v;
	enum flow_jump kind = w->c->m->flow_jump(s, code_bytes(w->c, insn->at, insn->len), insn, &v);
	struct jump_table *known = known_table(w, insn->at);
	if (kind != FLOW_JUMP_TABLE)
		return kind == FLOW_JUMP_TAIL;
	struct jump_table t = { .jump = insn->at, .at = v.a, .base = v.kind == FLOW_TARGET ? v.b : 0, .width = v.width,
		.scale = v.scale, .is_signed = v.is_signed };
	if (v.a > UINT32_MAX || v.b > UINT32_MAX || !read_table(w, &t, v.max))
		return false;
	if (known)
		*known = t;
	else
		vec_push(w->tables, t);
	table_heads(w, &t, s);
	return true;
}

static bool walk_block(struct walk *w, struct flow_block *b)
{
	struct code *c = w->c;
	struct flow_state s = *b->in;
	struct insn insn = { 0 };
	bool fine = true;
	uint32_t a;
	for (a = b->at; a < b->end; a += insn.len) {
		const uint8_t *p = code_bytes(c, a, 1);
		if (!c->m->decode(p, w->r->end - a, a, &insn))
			return true;
		if (insn.kind == INSN_JUMP_INDIRECT) {
			fine = resolve(w, &insn, &s);
			break;
		}
		c->m->flow(&s, p, &insn);
	}
	if (b->last == CODE_NONE || !insn_ends_block(insn.kind)) {
		flow_to(w, b->end, &s);
		return fine;
	}
	const uint8_t *p = code_bytes(c, insn.at, insn.len);
	if (insn_is_direct(insn.kind) && insn.kind != INSN_CALL) {
		struct flow_state taken = s;
		c->m->flow_edge(&taken, p, &insn, true);
		flow_to(w, insn.target, &taken);
	}
	if (insn_falls_through(insn.kind)) {
		c->m->flow_edge(&s, p, &insn, false);
		flow_to(w, b->end, &s);
	}
	return fine;
}

static void unknown_state(const struct walk *w, struct flow_state *s, uint32_t at, bool entry)
{
	memset(s, 0, sizeof *s);
	for (unsigned r = 0; r < w->c->m->regs; r++)
		s->regs[r] = (struct flow_value){ .kind = FLOW_ANY, .id = (at ^ (r + 100) * 7919u) | 1, .max = UINT64_MAX };
	if (entry)
		s->regs[w->c->m->stack_reg] = (struct flow_value){ .kind = FLOW_FRAME };
	s->epoch = at | 1;
	s->reached = true;
}

static void run(struct walk *w)
{
	while (w->queued) {
		struct flow_block *b = &w->blocks[w->queue[--w->queued]];
		b->queued = false;
		b->visits++;
		walk_block(w, b);
	}
}

static bool has_indirect_jump(const struct walk *w)
{
	for (uint32_t i = 0; i < w->r->ends_n; i++) {
		const struct code_end *e = &w->c->ends.v[w->r->ends + i];
		if (e->kind == INSN_JUMP_INDIRECT && !e->pc_pos)
			return true;
	}
	return false;
}

/* One walk to the fixed point: from the entry, then from blocks that nothing reached (landing pads). */
static void walk_all(struct walk *w)
{
	struct flow_state s;
	unknown_state(w, &s, w->r->start, true);
	flow_to(w, w->r->start, &s);
	run(w);
	for (size_t i = 0; i < w->n; i++)
		w->blocks[i].settled = w->blocks[i].in != NULL;
	for (size_t i = 0; i < w->n; i++) {
		if (w->blocks[i].in)
			continue;
		unknown_state(w, &s, w->blocks[i].at, false);
		flow_to(w, w->blocks[i].at, &s);
		run(w);
	}
}

void code_find_tables(struct code *c, struct code_range *r, jump_tables *tables, code_slot slot, void *context)
{
	struct walk w = { .c = c, .r = r, .tables = tables, .first_table = tables->n, .slot = slot, .context = context };
	if (!r->swept || r->kind == RANGE_PLT || !has_indirect_jump(&w))
		return;
	for (;;) {
		w.grown = false;
		make_blocks(&w);
		if (w.n > MAX_BLOCKS) {
			r->why = r->why ? r->why : "too large for the search for jump tables";
			break;
		}
		walk_all(&w);
		if (!w.grown)
			break;
		free_blocks(&w);
	}
	/* the last word on each jump: its state at the fixed point */
	for (size_t i = 0; i < w.n && w.n <= MAX_BLOCKS; i++) {
		struct flow_block *b = &w.blocks[i];
		if (b->last == CODE_NONE || c->ends.v[b->last].kind != INSN_JUMP_INDIRECT || c->ends.v[b->last].pc_pos || !b->in)
			continue;
		if (!walk_block(&w, b) && !r->why)
			r->why = code_reason(c, "unresolved indirect jump at 0x%x", c->ends.v[b->last].at);
	}
	free_blocks(&w);
}

static int by_table(const void *a, const void *b)
{
	const struct jump_table *x = *(const struct jump_table *const *)a, *y = *(const struct jump_table *const *)b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : 0;
}

static void cut(struct jump_table **sorted, size_t n, uint32_t at)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {		/* the last table that begins before at */
		size_t mid = (lo + hi) / 2;
		if (sorted[mid]->at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i-- > 0 && sorted[i]->at == sorted[lo - 1]->at; ) {
		struct jump_table *t = sorted[i];
		if (!t->proven && (uint64_t)at < (uint64_t)t->at + (uint64_t)t->count * t->width)
			t->count = (at - t->at) / t->width;
	}
}

void code_cut_tables(struct code *c, jump_tables *tables)
{
	struct jump_table **sorted = xmalloc((tables->n + 1) * sizeof *sorted);
	for (size_t i = 0; i < tables->n; i++)
		sorted[i] = &tables->v[i];
	qsort(sorted, tables->n, sizeof *sorted, by_table);
	for (size_t i = 0; i < tables->n; i++)
		cut(sorted, tables->n, tables->v[i].at);
	for (size_t i = 0; tables->n && i < c->refs.n; i++)
		cut(sorted, tables->n, c->refs.v[i].target);
	free(sorted);
}
