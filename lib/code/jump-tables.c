/* jump-tables.c - which jump goes through which table, and how far the table goes. */
#include <stdlib.h>
#include <string.h>
#include "lib/code/flow.h"
#include "lib/code/jump-tables.h"

enum { MAX_ENTRIES = 65536, MAX_BLOCKS = 100000 };

struct search {
	struct flow_walk w;
	const struct jump_context *context;
	jump_tables *tables;
	const struct code_range *friend;	/* the last range that was found to belong to this one */
	bool final;			/* the fixed point is reached: tables are kept */
	bool labels;			/* a jump has led to labels of the function */
	bool grown;			/* a table gave new heads: the blocks have to be made again */
	const char *why;		/* of the jump looked at last */
	uint32_t label_base;		/* a label that entries of a table are relative to */
	jump_tables seen;		/* where jumps are led on: tables that a jump had on the way to the fixed point */
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

/* Does a jump of the range lead there? */
static bool jumps_between(const struct code *c, const struct code_range *from, uint32_t start, uint32_t end)
{
	for (uint32_t i = 0; i < from->ends_n; i++) {
		const struct code_end *e = &c->ends.v[from->ends + i];
		if (insn_is_direct(e->kind) && e->kind != INSN_CALL && e->target >= start && e->target < end)
			return true;
	}
	return false;
}

/* Code that begins with a frame in place is not entered by calls. */
static bool is_fragment(const struct search *f, const struct code_range *r)
{
	int64_t depth;
	const struct frame_fde *fde = r->kind == RANGE_FDE ? frames_find(f->w.f, r->start) : NULL;
	return fde && (!frames_cfa(f->w.f, f->w.c->o, fde, r->start, &depth) || depth);
}

static bool is_inside(const struct search *f, uint64_t target)
{
	return target >= f->w.r->start && target < f->w.r->end && code_starts(f->w.c, target);
}

/* May this be where an entry leads?  1: yes; 0: nowhere; -1: the end of the function, where compilers send what cannot happen. */
static int entry_leads(struct search *f, uint64_t target, bool bounded)
{
	if (is_inside(f, target))
		return 1;
	if (target == f->w.r->end)
		return -1;
	if (!code_starts(f->w.c, target))
		return 0;
	const struct code *c = f->w.c;
	const struct code_range *own = f->w.r, *r = code_range_at(c, target);
	if (!r || bounded || r == f->friend)
		return r != NULL;
	/* without a bound, another range must belong to the same function: one jumps into the middle of the other */
	if (!jumps_between(c, own, (uint32_t)target, (uint32_t)target + 1) && !jumps_between(c, r, own->start + 1, own->end)
	    && !jumps_between(c, own, r->start + !is_fragment(f, r), r->end))
		return 0;
	f->friend = r;
	return 1;
}

static bool entry(const struct search *f, const struct jump_table *t, uint32_t i, uint64_t *target)
{
	uint64_t at;
	return jump_entry(f->w.c, t, i, &at, target) && (t->base || f->context->slot(f->context->slots, at, target));
}

/* Where the table must end because something else begins. */
static uint32_t until_mark(const struct search *f, const struct jump_table *t)
{
	const struct jump_context *k = f->context;
	size_t lo = 0, hi = k->mark_count;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (k->marks[mid] <= t->at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < k->mark_count ? (k->marks[lo] - t->at) / t->width : MAX_ENTRIES;
}

/* Counts the entries that lead somewhere, n at most. */
static uint32_t count_entries(struct search *f, const struct jump_table *t, uint32_t n, bool bounded, uint32_t *good)
{
	uint64_t target;
	uint32_t i;
	int leads;
	for (*good = i = 0; i < n && entry(f, t, i, &target) && (leads = entry_leads(f, target, bounded)); i++)
		*good += leads > 0;
	return i;
}

/* False: this is no table. */
static bool read_table(struct search *f, struct jump_table *t, uint64_t max)
{
	uint32_t good, room = until_mark(f, t), n = max < MAX_ENTRIES ? (uint32_t)max + 1 : MAX_ENTRIES;
	/* a bound that comes from the width of the index or from a mask may lie beyond the end of the table */
	t->exact = max < MAX_ENTRIES && (n & (n - 1)) && count_entries(f, t, n, true, &good) == n;
	if (t->exact) {
		t->count = n;
		t->proven = true;
	} else {
		bool bounded = max < MAX_ENTRIES && n <= room;
		n = n < room ? n : room;
		bool relocated = !t->base && f->w.c->o->eh.e_type != ET_EXEC;	/* such words are no accident */
		t->count = count_entries(f, t, n, bounded || relocated, &good);
		t->proven = bounded && t->count == n;
		if (bounded && !t->proven)
			t->count = count_entries(f, t, n, relocated, &good);
	}
	return good > 0;
}

static void to_label(struct search *f, uint64_t target, const struct flow_state *s)
{
	f->labels = true;
	if (!code_head(f->w.c, target)) {
		code_set_head(f->w.c, target);
		f->grown = true;
	}
	if (!f->final)
		flow_walk_to(&f->w, target, s);
}

static void see_table(struct search *f, const struct jump_table *t)
{
	for (size_t i = 0; i < f->seen.n; i++)
		if (f->seen.v[i].jump == t->jump && f->seen.v[i].at == t->at) {
			if (t->count > f->seen.v[i].count)
				f->seen.v[i] = *t;
			return;
		}
	vec_push(&f->seen, *t);
}

/* A jump that is led on is right whatever its table: one that was seen on some path tells enough, the heads. */
static bool was_seen(struct search *f, uint32_t jump)
{
	bool seen = false;
	for (size_t i = 0; i < f->seen.n; i++)
		if (f->seen.v[i].jump == jump) {
			vec_push(f->tables, f->seen.v[i]);
			seen = true;
		}
	return seen;
}

static const char *use_table(struct search *f, const struct insn *insn, const struct flow_value *v, const struct flow_state *s)
{
	struct jump_table t = { .jump = insn->at, .at = v->a, .base = v->kind == FLOW_TARGET ? v->b : 0, .width = v->width,
		.scale = v->scale, .is_signed = v->is_signed && v->width < 8 };
	if (f->w.c->m->through_gp && v->kind == FLOW_TARGET && !v->b) {		/* then it is relative to what the others are */
		if (!f->label_base)
			return "a value made of others";
		t.base = f->label_base;
	} else if (t.base > f->w.r->start && t.base < f->w.r->end && f->label_base != t.base) {
		f->grown |= !f->label_base;
		f->label_base = t.base;
	}
	if (v->a > UINT32_MAX || v->b > UINT32_MAX || !read_table(f, &t, v->max))
		return "no entry of its table leads anywhere";
	for (uint32_t i = 0; i < t.count; i++) {
		uint64_t target;
		if (entry(f, &t, i, &target) && is_inside(f, target))
			to_label(f, target, s);
	}
	if (f->final)
		vec_push(f->tables, t);
	else if (f->w.c->m->through_gp)
		see_table(f, &t);
	return t.width < 4 || t.scale != 1 ? "entries too narrow for new addresses" : NULL;
}

/* Nothing of the frame is left: a jump leaves the function. */
static bool at_entry_level(const struct search *f, const struct insn *insn, const struct flow_state *s)
{
	const struct flow_value *sp = &s->regs[f->w.c->m->stack_reg];
	int64_t depth;
	if (sp->kind == FLOW_FRAME)
		return sp->a == 0;
	if (sp->kind == FLOW_ANY && sp->b == FLOW_OTHER_FRAME)		/* unwinding, longjmp, a resolver's return */
		return true;
	return f->w.fde && frames_cfa(f->w.f, f->w.c->o, f->w.fde, insn->at, &depth) && depth == 0;
}

/* Does one of the first entries of a table of addresses lead into the function, or into the middle of another (a cold part)? */
static bool has_label(const struct search *f, const struct flow_value *v)
{
	const struct jump_table t = { .at = v->a, .width = f->w.c->m->word, .scale = 1 };
	uint64_t target;
	for (uint32_t i = 0; i < 8 && entry(f, &t, i, &target); i++) {
		const struct code_range *r = code_range_at(f->w.c, target);
		if (r && target != r->start && code_starts(f->w.c, target))
			return true;
	}
	return false;
}

/* NULL, or why it is not known where a jump to the value leads. */
static const char *resolve(struct search *f, const struct insn *insn, const struct flow_value *v, const struct flow_state *s)
{
	switch (v->kind) {
	case FLOW_TARGET:
		return use_table(f, insn, v, s);
	case FLOW_ENTRY:
		if (v->width != f->w.c->m->word || v->a > UINT32_MAX)
			break;
		if (has_label(f, v))
			return use_table(f, insn, v, s);
		return at_entry_level(f, insn, s) ? NULL : "a table of functions";
	case FLOW_CONST:
		if (is_inside(f, v->a)) {
			to_label(f, v->a, s);
			return NULL;
		}
		/* fall through */
	case FLOW_ANY:
		if (v->kind == FLOW_ANY && v->a)
			return "a value made of others";
		return at_entry_level(f, insn, s) ? NULL : "a value of unknown origin";
	default:
		break;
	}
	return "a value of another kind";
}

static void at_jump(struct flow_walk *w, const struct insn *insn, const struct flow_state *s)
{
	struct search *f = w->context;
	struct flow_value v;
	enum flow_jump kind = w->c->m->flow_jump(s, code_bytes(w->c, insn->at, insn->len), insn, &v);
	struct flow_state behind;
	f->why = NULL;
	if (w->c->m->through_gp) {	/* the delay slot is over when it jumps */
		flow_state_copy(&behind, s);
		w->c->m->flow(&behind, code_bytes(w->c, insn->at, insn->len), insn);
		s = &behind;
	}
	if (kind == FLOW_JUMP_TAIL)
		return;
	if (v.kind != FLOW_MANY) {
		f->why = resolve(f, insn, &v, s);
		return;
	}
	for (unsigned i = 0; i < w->alternative_count; i++) {
		struct flow_value one = w->alternatives[i];	/* the walk may add to them */
		const char *why = v.a >> i & 1 ? resolve(f, insn, &one, s) : NULL;
		f->why = f->why ? f->why : why;
	}
}

static bool is_tail_in_block(struct search *f, const struct code_end *e)
{
	struct flow_walk *w = &f->w;
	uint32_t i = e->at - w->c->lo, first = w->r->start - w->c->lo;
	struct flow_state s;
	while (i > first && !bit(w->c->heads, i))
		i--;
	struct flow_block b = { .at = i + w->c->lo, .end = e->at + e->len, .last = CODE_NONE, .to = CODE_NONE, .pad = CODE_NONE };
	flow_unknown(w, &s, b.at, i != first);
	f->why = "not reached";
	flow_walk_block(w, &b, &s);
	return !f->why && !f->labels;
}

/* Most functions with indirect jumps have nothing but tail calls, which one look at the block can tell. */
static bool only_tails(struct search *f)
{
	const struct code_range *r = f->w.r;
	for (uint32_t i = 0; i < r->ends_n; i++) {
		const struct code_end *e = &f->w.c->ends.v[r->ends + i];
		if (e->kind == INSN_JUMP_INDIRECT && !e->pc_pos && !is_tail_in_block(f, e))
			return false;
	}
	return true;
}

/* The last word on each jump: its state at the fixed point. */
static void keep_tables(struct search *f)
{
	struct flow_walk *w = &f->w;
	f->final = true;
	for (size_t i = 0; i < w->n; i++) {
		struct flow_block *b = &w->blocks[i];
		if (b->last == CODE_NONE || w->c->ends.v[b->last].kind != INSN_JUMP_INDIRECT || w->c->ends.v[b->last].pc_pos || !b->in)
			continue;
		f->why = NULL;
		flow_walk_block(w, b, b->in);
		if (f->why && was_seen(f, w->c->ends.v[b->last].at))
			f->why = NULL;
		if (f->why && !w->r->why)
			w->r->why = code_reason(w->c, "unresolved indirect jump at 0x%x: %s", w->c->ends.v[b->last].at, f->why);
	}
}

/* At the fixed point: the text addresses that code obtains; its own address is used for nothing but gp. */
static void note_address(struct flow_walk *w, const struct insn *insn, const uint8_t *p, const struct flow_state *s)
{
	struct code *c = w->c;
	const struct prologue *q = code_prologue(c, w->r->start);
	struct flow_address a;
	int32_t offset;
	if (c->m->flow_address(s, p, insn, &a) && code_in(c, a.text) && object_is_code(c->o, a.text)) {
		struct code_address to = { .at = insn->at, .target = a.text, .gp = (uint32_t)w->memory.gp, .len = insn->len };
		if (c->m->address_form(p, insn, a.text, &to.whole, &offset))
			vec_push(&c->addresses, to);
	}
	if (a.own && !w->r->why && !(q && insn->at > q->entry && insn->at <= q->entry + PROLOGUE_REACH))
		w->r->why = code_reason(c, "it uses its own address at 0x%x in a way that is not understood", (unsigned)insn->at);
}

static void note_addresses(struct search *f)
{
	struct flow_walk *w = &f->w;
	w->step = note_address;
	w->jump = NULL;			/* the last word on jumps is spoken already */
	for (size_t i = 0; i < w->n; i++)
		if (w->blocks[i].in)
			flow_walk_block(w, &w->blocks[i], w->blocks[i].in);
	w->step = NULL;
	w->jump = at_jump;
}

void code_find_tables(struct code *c, struct code_range *r, jump_tables *tables, const struct jump_context *context)
{
	struct search *f = xcalloc(1, sizeof *f);
	*f = (struct search){ .context = context, .tables = tables,
		.w = { .c = c, .r = r, .f = context->frames, .fde = r->kind == RANGE_FDE ? frames_find(context->frames, r->start) : NULL,
		       .jump = at_jump, .context = f, .every = c->m->through_gp } };
	if (c->m->through_gp) {
		const struct prologue *q = code_prologue(c, r->start);
		f->w.memory = (struct flow_memory){ code_constant, code_fixed, c, q ? q->gp : c->got.gp };
	}
	if (!r->swept || r->kind == RANGE_PLT || (!f->w.every && only_tails(f))) {
		free(f);
		return;
	}
	f->w.labels = xcalloc((r->end - r->start) / 64 + 1, 8);
	do {
		f->grown = false;
		f->w.alternative_count = 0;
		flow_walk_init(&f->w);
		if (f->w.n > MAX_BLOCKS)
			r->why = r->why ? r->why : "too large for the search for jump tables";
		else
			flow_walk_all(&f->w);
		f->grown |= f->w.again;
		if (!f->grown && f->w.n <= MAX_BLOCKS)
			keep_tables(f);
		if (!f->grown && f->w.n <= MAX_BLOCKS && f->w.every)
			note_addresses(f);
		flow_walk_free(&f->w);
	} while (f->grown);
	vec_free(&f->seen);
	free(f->w.labels);
	free(f);
}

static int by_table(const void *a, const void *b)
{
	const struct jump_table *x = *(const struct jump_table *const *)a, *y = *(const struct jump_table *const *)b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : 0;
}

/* Ends the tables before the one at i that go on behind its beginning. */
static void cut(struct jump_table **sorted, size_t i)
{
	size_t k = i;
	while (k > 0 && sorted[k - 1]->at == sorted[i]->at)
		k--;
	for (size_t n = k; n-- > 0 && sorted[n]->at == sorted[k - 1]->at; ) {
		struct jump_table *t = sorted[n];
		bool one_table = t->base == sorted[i]->base && t->width == sorted[i]->width && (sorted[i]->at - t->at) % t->width == 0;
		if (one_table || sorted[i]->at >= (uint64_t)t->at + (uint64_t)t->count * t->width)
			continue;
		t->count = (sorted[i]->at - t->at) / t->width;
		t->proven = t->exact = false;
	}
}

/* One table cannot have entries of two kinds: the code that uses it was misunderstood. */
static void contradiction(struct code *c, const struct jump_table *x, const struct jump_table *y)
{
	if (x->at != y->at || (x->base == y->base && x->width == y->width && x->is_signed == y->is_signed))
		return;
	for (int n = 0; n < 2; n++) {
		struct code_range *r = code_range_at(c, (n ? y : x)->jump);
		if (r && !r->why)
			r->why = code_reason(c, "the jump table at 0x%x is used in two ways", x->at);
	}
}

void code_cut_tables(struct code *c, jump_tables *tables)
{
	struct jump_table **sorted = xmalloc((tables->n + 1) * sizeof *sorted);
	for (size_t i = 0; i < tables->n; i++)
		sorted[i] = &tables->v[i];
	if (tables->n)
		qsort(sorted, tables->n, sizeof *sorted, by_table);
	for (size_t i = 1; i < tables->n; i++) {
		if (sorted[i]->at != sorted[i - 1]->at)
			cut(sorted, i);
		else
			contradiction(c, sorted[i - 1], sorted[i]);
	}
	free(sorted);
}

static int by_mark(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return *x != *y ? (*x < *y ? -1 : 1) : 0;
}

void jump_marks(struct jump_context *k, const struct code *c, const uint64_t *words, size_t n)
{
	k->marks = xmalloc((c->refs.n + n + 1) * sizeof *k->marks);
	k->mark_count = 0;
	for (size_t i = 0; i < c->refs.n + n; i++) {
		uint64_t a = i < n ? words[i] : c->refs.v[i - n].target;
		if (a && a <= UINT32_MAX && !code_in(c, a))
			k->marks[k->mark_count++] = (uint32_t)a;
	}
	if (k->mark_count)
		qsort(k->marks, k->mark_count, sizeof *k->marks, by_mark);
	size_t m = 0;
	for (size_t i = 0; i < k->mark_count; i++)
		if (!m || k->marks[m - 1] != k->marks[i])
			k->marks[m++] = k->marks[i];
	k->mark_count = m;
}
