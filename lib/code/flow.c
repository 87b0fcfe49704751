/* flow.c - the walk to the fixed point. */
#include <stdlib.h>
#include <stddef.h>
#include <string.h>
#include "lib/code/flow.h"

enum { WIDEN = 6, MAX_VISITS = 255 };	/* visits of a block after which growing values become unknown; after which none is made */

static size_t state_size(const struct flow_state *s)
{
	return offsetof(struct flow_state, slots) + s->slot_count * sizeof s->slots[0];
}

void flow_state_copy(struct flow_state *to, const struct flow_state *from)
{
	memcpy(to, from, state_size(from));
}

static int32_t find_block(const struct flow_walk *w, uint32_t at)
{
	size_t lo = 0, hi = w->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (w->blocks[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < w->n && w->blocks[lo].at == at ? (int32_t)lo : CODE_NONE;
}

static const struct code_end *last_of(const struct flow_walk *w, const struct flow_block *b)
{
	return b->last == CODE_NONE ? NULL : &w->c->ends.v[b->last];
}

static int by_site(const void *a, const void *b)
{
	const struct lsda_site *x = a, *y = b;
	return x->start != y->start ? (x->start < y->start ? -1 : 1) : 0;
}

/* Exceptions lead from calls to landing pads. */
static void find_pads(struct flow_walk *w)
{
	struct lsda l;
	if (!w->fde || !w->fde->lsda || lsda_read(&l, w->c->o, w->fde))
		return;
	if (l.site_count)
		qsort(l.sites, l.site_count, sizeof *l.sites, by_site);
	for (size_t i = 0; i < w->n; i++) {
		const struct code_end *e = last_of(w, &w->blocks[i]);
		if (!e || (e->kind != INSN_CALL && e->kind != INSN_CALL_INDIRECT))
			continue;
		size_t lo = 0, hi = l.site_count;
		while (lo < hi) {
			size_t mid = (lo + hi) / 2;
			if (l.sites[mid].start <= e->at)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo && e->at - l.sites[lo - 1].start < l.sites[lo - 1].size && l.sites[lo - 1].pad)
			w->blocks[i].pad = find_block(w, l.sites[lo - 1].pad);
	}
	lsda_free(&l);
}

static bool does_nothing(const struct flow_walk *w, const struct flow_block *b)
{
	struct insn insn;
	for (uint32_t a = b->at; a < b->end; a += insn.len)
		if (!w->c->m->decode(code_bytes(w->c, a, 1), b->end - a, a, &insn) || insn.kind != INSN_NOP)
			return false;
	return true;
}

/* A call that never returns has any block behind it, mostly one with a label and padding before that. */
static void find_after_calls(struct flow_walk *w)
{
	for (size_t i = 1; i < w->n; i++) {
		const struct flow_block *before = &w->blocks[i - 1];
		const struct code_end *e = last_of(w, before);
		w->blocks[i].targeted = bit(w->labels, w->blocks[i].at - w->r->start);
		w->blocks[i].after_call = e ? e->kind == INSN_CALL || e->kind == INSN_CALL_INDIRECT : before->after_call && does_nothing(w, before);
	}
	for (size_t i = 0; i < w->n; i++) {
		if (w->blocks[i].to != CODE_NONE)
			w->blocks[w->blocks[i].to].targeted = true;
		if (w->blocks[i].pad != CODE_NONE)
			w->blocks[w->blocks[i].pad].targeted = true;
	}
	for (size_t i = 0; i + 1 < w->n; i++)		/* padding waits with what it is for */
		if (w->blocks[i].after_call && w->blocks[i + 1].after_call && !last_of(w, &w->blocks[i]))
			w->blocks[i].targeted = true;
}

static void one_more_way(struct flow_block *b)
{
	b->ways += b->ways < 2;
}

static void count_ways(struct flow_walk *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct flow_block *b = &w->blocks[i];
		const struct code_end *e = last_of(w, b);
		if (b->to != CODE_NONE)
			one_more_way(&w->blocks[b->to]);
		if (b->pad != CODE_NONE)
			one_more_way(&w->blocks[b->pad]);
		if ((!e || insn_falls_through(e->kind)) && i + 1 < w->n)
			one_more_way(&w->blocks[i + 1]);
		if (!i || bit(w->labels, b->at - w->r->start))
			b->ways = 2;
	}
}

static bool is_relevant(const struct flow_walk *w, size_t i)
{
	const struct flow_block *b = &w->blocks[i];
	const struct code_end *e = last_of(w, b);
	if (e && e->kind == INSN_JUMP_INDIRECT)
		return !e->pc_pos;
	return (b->to != CODE_NONE && w->blocks[b->to].relevant) || (b->pad != CODE_NONE && w->blocks[b->pad].relevant)
		|| ((!e || insn_falls_through(e->kind)) && i + 1 < w->n && w->blocks[i + 1].relevant);
}

static void find_relevant(struct flow_walk *w)
{
	for (size_t i = 0; w->every && i < w->n; i++)
		w->blocks[i].relevant = true;
	for (bool again = true; again; ) {
		again = false;
		for (size_t i = w->n; i-- > 0; )
			if (!w->blocks[i].relevant && is_relevant(w, i))
				again = w->blocks[i].relevant = true;
	}
}

void flow_walk_init(struct flow_walk *w)
{
	const struct code *c = w->c;
	size_t n = 0;
	for (uint32_t a = w->r->start; a < w->r->end; a = bit_next(c->heads, a - c->lo + 1, w->r->end - c->lo) + c->lo)
		n++;
	w->blocks = xcalloc(n + 1, sizeof *w->blocks);
	w->queue = xcalloc(n / 64 + 1, sizeof *w->queue);
	w->n = w->first = 0;
	uint32_t e = w->r->ends, last = w->r->ends + w->r->ends_n;
	for (uint32_t a = w->r->start; a < w->r->end; ) {
		struct flow_block *b = &w->blocks[w->n++];
		b->at = a;
		b->end = a = bit_next(c->heads, a - c->lo + 1, w->r->end - c->lo) + c->lo;
		b->last = b->to = b->pad = CODE_NONE;
		while (e < last && c->ends.v[e].at < b->at)
			e++;
		while (e < last && c->ends.v[e].at < b->end)
			b->last = e++;
	}
	for (size_t i = 0; i < w->n; i++) {
		const struct code_end *end = last_of(w, &w->blocks[i]);
		if (end && insn_is_direct(end->kind) && end->kind != INSN_CALL && end->target >= w->r->start && end->target < w->r->end)
			w->blocks[i].to = find_block(w, end->target);
	}
	w->again = w->returns = false;
	find_pads(w);
	find_relevant(w);
	find_after_calls(w);
	count_ways(w);
}

void flow_walk_free(struct flow_walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->blocks[i].in);
	free(w->blocks);
	free(w->queue);
}

/* Values of which a jump may go through one or the other. */
static bool is_alternative(const struct flow_walk *w, const struct flow_value *v)
{
	return v->kind == FLOW_TARGET || v->kind == FLOW_MANY || (v->kind == FLOW_ENTRY && v->width == w->c->m->word)
		|| (v->kind == FLOW_CONST && code_in(w->c, v->a));
}

static bool same_value(const struct flow_value *x, const struct flow_value *y)
{
	return x->kind == y->kind && (x->kind == FLOW_ANY ? x->id == y->id : x->a == y->a && x->b == y->b && x->width == y->width
		&& x->scale == y->scale && x->is_signed == y->is_signed);
}

/* The set of values that v stands for; 0: there are too many.  *grown: the bound of one has grown. */
static uint64_t alternatives(struct flow_walk *w, const struct flow_value *v, bool *grown, bool last)
{
	if (v->kind == FLOW_MANY)
		return v->a;
	unsigned i;
	for (i = 0; i < w->alternative_count && !same_value(&w->alternatives[i], v); i++)
		;
	if (i == FLOW_ALTERNATIVES)
		return 0;
	if (i == w->alternative_count) {
		w->alternatives[w->alternative_count++] = *v;
	} else if (v->max > w->alternatives[i].max) {
		w->alternatives[i].max = last ? UINT64_MAX : v->max;
		*grown = true;
	}
	return UINT64_C(1) << i;
}

/* May the value lead to a label of the function? */
static bool doubtful(const struct flow_walk *w, const struct flow_value *v)
{
	switch (v->kind) {
	case FLOW_ANY: return v->a != 0;
	case FLOW_ENTRY: case FLOW_TARGET: return true;
	case FLOW_CONST: return v->a > w->r->start && v->a < w->r->end;
	case FLOW_MANY:
		for (unsigned i = 0; i < w->alternative_count; i++)
			if ((v->a >> i & 1) && doubtful(w, &w->alternatives[i]))
				return true;
		return false;
	default: return false;
	}
}

struct merging { struct flow_walk *w; const struct flow_state *x, *y; uint32_t at; bool last, weak; };

/* A register that nobody gave a value: a path on which it is read is none (it leads over a call that does not return). */
static bool is_nothing(const struct flow_value *v) { return v->kind == FLOW_ANY && v->b == FLOW_NOTHING; }

/* Of what becomes of two values, by register or slot. */
static uint32_t merged_id(uint32_t at, uint32_t salt) { return (at * 2654435761u ^ (salt + 1) * 40503u) | 1; }

/* Makes *x what holds for both; true when that changed *x. */
static bool merge_value(const struct merging *m, struct flow_value *x, const struct flow_value *y, uint32_t salt)
{
	bool grown = false;
	if (is_nothing(y))
		return false;
	if (is_nothing(x)) {
		*x = *y;
		return true;
	}
	if (same_value(x, y)) {
		if (x->kind == FLOW_ANY && y->a && !x->a) {
			x->a = 1;
			grown = true;
		}
		if (y->max <= x->max)
			return grown;
		x->max = m->last ? UINT64_MAX : y->max;
		return true;
	}
	if (m->weak && x->kind != FLOW_ANY && y->kind == FLOW_ANY)
		return false;
	if (is_alternative(m->w, x) && is_alternative(m->w, y)) {
		uint64_t mx = alternatives(m->w, x, &grown, m->last), my = alternatives(m->w, y, &grown, m->last);
		if (mx && my) {
			if (x->kind == FLOW_MANY && (mx | my) == mx)
				return grown;
			*x = (struct flow_value){ .kind = FLOW_MANY, .a = mx | my };
			return true;
		}
	}
	uint32_t id = merged_id(m->at, salt);
	uint64_t mx = x->kind == FLOW_ANY ? flow_known_max(m->x, x) : UINT64_MAX, my = y->kind == FLOW_ANY ? flow_known_max(m->y, y) : UINT64_MAX;
	uint64_t max = mx > my ? mx : my, doubt = doubtful(m->w, x) || doubtful(m->w, y);
	if (x->kind == FLOW_ANY && x->id == id && max <= x->max && doubt == x->a)
		return false;
	*x = (struct flow_value){ .kind = FLOW_ANY, .id = id, .a = doubt, .max = m->last && max > mx ? UINT64_MAX : max };
	return true;
}

enum { NOT_COMPARED = -1, OUTDATED = -2 };

/* The register that has the one value in x and the other in y: a comparison of both is one of what they merge to. */
static int32_t holder(const struct flow_state *x, uint64_t x_id, const struct flow_state *y, uint64_t y_id)
{
	for (int32_t r = 0; r < FLOW_REGS; r++)
		if (x->regs[r].kind == FLOW_ANY && x->regs[r].id == x_id && y->regs[r].kind == FLOW_ANY && y->regs[r].id == y_id)
			return r;
	return NOT_COMPARED;
}

/* Is y's comparison one of what a register was here before?  It is something else now. */
static bool outdated(const struct merging *m, const struct flow_value *y)
{
	for (uint32_t r = 0; r < m->w->c->m->regs; r++)
		if (y->b == merged_id(m->at, r))
			return m->y->regs[r].kind != FLOW_ANY || m->y->regs[r].id != y->b;
	return false;
}

static int32_t compared(const struct merging *m, const struct flow_state *in, unsigned r)
{
	const struct flow_value *x = &in->regs[r], *y = &m->y->regs[r];
	if (x->kind != FLOW_LESS || y->kind != FLOW_LESS)
		return NOT_COMPARED;
	if (outdated(m, y))
		return OUTDATED;
	return x->max == y->max && x->b != y->b ? holder(in, x->b, m->y, y->b) : NOT_COMPARED;
}

static bool merge_registers(const struct merging *m, struct flow_state *in)
{
	unsigned n = m->w->c->m->regs;
	int32_t of[FLOW_REGS];
	bool changed = false;
	for (unsigned r = 0; r < n; r++)
		of[r] = compared(m, in, r);
	for (unsigned r = 0; r < n; r++) {
		struct flow_value y = m->y->regs[r];
		if (of[r] == OUTDATED)
			y = (struct flow_value){ .kind = FLOW_ANY, .id = y.id, .max = 1 };
		if (of[r] < 0)
			changed |= merge_value(m, &in->regs[r], &y, r);
	}
	for (unsigned r = 0; r < n; r++)
		if (of[r] >= 0 && in->regs[r].b != in->regs[of[r]].id) {
			in->regs[r].b = in->regs[of[r]].id;
			changed = true;
		}
	return changed;
}

static bool merge_slots(const struct merging *m, struct flow_state *in)
{
	const struct flow_state *s = m->y;
	bool changed = false;
	for (unsigned i = 0; i < in->slot_count; ) {
		unsigned k = i < s->slot_count && s->slots[i].at == in->slots[i].at ? i : 0;
		while (k < s->slot_count && s->slots[k].at != in->slots[i].at)
			k++;
		if (k == s->slot_count && m->weak && in->slots[i].value.kind != FLOW_ANY) {
			i++;
			continue;
		}
		if (k == s->slot_count) {
			in->slots[i] = in->slots[--in->slot_count];
			changed = true;
			continue;
		}
		changed |= merge_value(m, &in->slots[i].value, &s->slots[k].value, 64 + (uint32_t)in->slots[i].at);
		i++;
	}
	return changed;
}

static bool merge_facts(const struct merging *m, struct flow_state *in)
{
	const struct flow_state *s = m->y;
	bool changed = false;
	for (unsigned i = 0; i < in->fact_count; ) {
		unsigned k = 0;
		while (k < s->fact_count && s->facts[k].id != in->facts[i].id)
			k++;
		if (k == s->fact_count || (m->last && s->facts[k].max > in->facts[i].max)) {
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
	return changed;
}

static bool merge_epoch(uint32_t *in, uint32_t s, uint32_t at, uint32_t salt)
{
	uint32_t both = at * salt | 1;
	if (*in == s || *in == both)
		return false;
	*in = both;
	return true;
}

/* Where one way leads there is nothing to merge; what an earlier walk of that way had brought is no longer true. */
static bool replace(struct flow_block *b, const struct flow_state *s)
{
	if (state_size(b->in) == state_size(s) && !memcmp(b->in, s, state_size(s)))
		return false;
	if (b->visits == MAX_VISITS)
		return false;
	if (s->slot_count > b->in->slot_count)
		b->in = xrealloc(b->in, state_size(s));
	flow_state_copy(b->in, s);
	return true;
}

/* weak: the state comes from a call that perhaps never returns: what is known for sure stays. */
static bool merge(struct flow_walk *w, struct flow_block *b, const struct flow_state *s, bool weak)
{
	if (!b->in) {
		b->in = xmalloc(state_size(s));
		flow_state_copy(b->in, s);
		return true;
	}
	if (b->ways < 2)
		return replace(b, s);
	struct flow_state *in = b->in, before;
	memcpy(before.facts, in->facts, sizeof in->facts);
	before.fact_count = in->fact_count;
	struct merging m = { w, &before, s, b->at, b->visits >= WIDEN, weak };
	bool changed = merge_registers(&m, in);
	changed |= merge_slots(&m, in);
	changed |= merge_facts(&m, in);
	changed |= merge_epoch(&in->epoch, s->epoch, b->at, 2246822519u);
	changed |= merge_epoch(&in->frame_epoch, s->frame_epoch, b->at, 3266489917u);
	if (in->compare.valid && (!s->compare.valid || s->compare.id != in->compare.id || s->compare.bound != in->compare.bound)) {
		in->compare.valid = false;
		changed = true;
	}
	return changed;
}

static void to_block(struct flow_walk *w, int32_t i, const struct flow_state *s, bool weak)
{
	if (i == CODE_NONE || !w->blocks[i].relevant || w->blocks[i].settled || !merge(w, &w->blocks[i], s, weak))
		return;
	bit_set(w->queue, (uint32_t)i);
	if ((uint32_t)i < w->first)
		w->first = (uint32_t)i;
}

void flow_walk_to(struct flow_walk *w, uint32_t at, const struct flow_state *s)
{
	if (!w->n || at < w->r->start || at >= w->r->end)
		return;
	int32_t i = find_block(w, at);
	bit_set(w->labels, at - w->r->start);
	if (i == CODE_NONE)
		return;
	w->blocks[i].ways = 2;
	w->again |= w->blocks[i].after_call && !w->blocks[i].targeted && w->blocks[i].in;
	to_block(w, i, s, false);
}

/* Goes on behind the block. */
static void fall_through(struct flow_walk *w, size_t next, const struct flow_state *s)
{
	const struct flow_block *b = next < w->n ? &w->blocks[next] : NULL;
	if (b && (w->returns || !b->after_call || !b->targeted))
		to_block(w, (int32_t)next, s, b->after_call && b->in);
}

void flow_walk_block(struct flow_walk *w, const struct flow_block *b, const struct flow_state *in)
{
	const struct code *c = w->c;
	const struct machine *m = c->m;
	const uint8_t *p = code_bytes(c, b->at, b->end - b->at);
	struct flow_state s;
	struct insn insn = { 0 };
	flow_state_copy(&s, in);
	for (uint32_t a = b->at; a < b->end; p += insn.len, a += insn.len) {
		if (!m->decode(p, w->r->end - a, a, &insn))
			return;
		if (w->step)
			w->step(w, &insn, p, &s);
		if (insn.kind == INSN_JUMP_INDIRECT) {
			if (!insn.pc_size && w->jump)
				w->jump(w, &insn, &s);
			return;
		}
		m->flow(&s, p, &insn);
	}
	p -= insn.len;
	if (b->pad != CODE_NONE)
		to_block(w, b->pad, &s, false);
	if (insn.kind == INSN_BRANCH && b->to != CODE_NONE && w->blocks[b->to].relevant) {
		struct flow_state taken;
		flow_state_copy(&taken, &s);
		m->flow_edge(&taken, p, &insn, true);
		to_block(w, b->to, &taken, false);
	} else if (b->to != CODE_NONE) {
		to_block(w, b->to, &s, false);
	}
	if (insn_falls_through(insn.kind)) {
		m->flow_edge(&s, p, &insn, false);
		fall_through(w, (size_t)(b - w->blocks) + 1, &s);
	}
}

void flow_unknown(const struct flow_walk *w, struct flow_state *s, uint32_t at, bool doubt)
{
	int64_t depth;
	memset(s, 0, offsetof(struct flow_state, slots));
	for (unsigned r = 0; r < w->c->m->regs; r++)
		s->regs[r] = (struct flow_value){ .kind = FLOW_ANY, .id = (at ^ (r + 100) * 7919u) | 1, .max = UINT64_MAX, .a = doubt };
	if (w->fde ? frames_cfa(w->f, w->c->o, w->fde, at, &depth) : at == w->r->start && ((depth = 0), true))
		s->regs[w->c->m->stack_reg] = (struct flow_value){ .kind = FLOW_FRAME, .a = (uint64_t)-depth };
	s->epoch = s->frame_epoch = at | 1;
	s->memory = &w->memory;
	if (w->c->m->flow_begin)
		w->c->m->flow_begin(s, at, !doubt && at == w->r->start);
}

static void run(struct flow_walk *w)
{
	for (;;) {
		uint32_t i = bit_next(w->queue, w->first, w->n);
		if (i == w->n)
			break;
		struct flow_block *b = &w->blocks[i];
		bit_clear(w->queue, i);
		w->first = i;
		b->visits += b->visits < MAX_VISITS;
		flow_walk_block(w, b, b->in);
	}
	w->first = w->n;
}

static void push_returns(struct flow_walk *w)
{
	w->returns = true;
	for (size_t i = 0; i + 1 < w->n; i++)
		if (w->blocks[i].in && w->blocks[i + 1].after_call && w->blocks[i + 1].targeted)
			bit_set(w->queue, (uint32_t)i);
	w->first = 0;
	run(w);
}

void flow_walk_all(struct flow_walk *w)
{
	struct flow_state s;
	for (size_t i = 0; i < w->n && !w->again; i++) {
		if (i == 1) {
			push_returns(w);
			for (size_t k = 0; k < w->n; k++)
				w->blocks[k].settled = w->blocks[k].in != NULL;
		}
		if (w->blocks[i].in || !w->blocks[i].relevant)
			continue;
		flow_unknown(w, &s, w->blocks[i].at, false);
		to_block(w, (int32_t)i, &s, false);
		run(w);
	}
}
