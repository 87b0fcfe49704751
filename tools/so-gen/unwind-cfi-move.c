/* unwind-cfi-move.c - call frame instructions for moved code. */
#include "tools/so-gen/unwind-cfi.h"

struct mover {
	struct cfi_walk w;
	const struct unwind_move *m;
	struct bytes *to, scratch;
	uint64_t pos;			/* new location of what was written last */
	int64_t delta;			/* of the stack pointer, now */
	bool more;			/* an adjustment is pending: */
	uint64_t next_at;
	int64_t next_delta;
};

static void emit_expression(struct mover *v, const struct cfi_item *it)
{
	struct cfi_expression e = { 0 };

	v->scratch.n = 0;
	cfi_expression(&v->w, it->block, it->size, &e, &v->scratch, v->delta);
	vec_push(v->to, it->code);
	if (it->reg >= 0)
		bytes_uleb(v->to, (uint64_t)it->reg);
	bytes_uleb(v->to, v->scratch.n);
	bytes_add(v->to, v->scratch.v, v->scratch.n);
}

static void emit_cfa(struct mover *v)
{
	const struct cfi_state *s = &v->w.now;
	int64_t offset = s->offset + ((int64_t)s->reg == v->w.sp ? v->delta : 0);

	vec_push(v->to, offset < 0 ? CFA_DEF_SF : CFA_DEF);
	bytes_uleb(v->to, s->reg);
	if (offset < 0)
		bytes_sleb(v->to, offset / v->w.cie->data_align);
	else
		bytes_uleb(v->to, (uint64_t)offset);
}

static bool stands_on_sp(const struct mover *v)
{
	const struct cfi_state *s = &v->w.now;

	return s->n || (!s->by_expression && (int64_t)s->reg == v->w.sp);
}

/* Gives every rule that stands on the stack pointer the present delta. */
static void sync_delta(struct mover *v)
{
	struct cfi_state *s = &v->w.now;

	if (s->applied == v->delta)
		return;
	s->applied = v->delta;
	if (!s->by_expression && (int64_t)s->reg == v->w.sp) {
		int64_t offset = s->offset + v->delta;

		if (offset >= 0) {
			vec_push(v->to, CFA_DEF_OFFSET);
			bytes_uleb(v->to, (uint64_t)offset);
		} else {
			emit_cfa(v);
		}
	}
	for (size_t i = 0; i < s->n; i++)
		emit_expression(v, &s->items[i]);
}

/* One instruction at the present location. */
static const char *emit_op(struct mover *v, const struct cfi_op *op)
{
	struct cfi_state *s = &v->w.now;
	const char *fault = cfi_apply(&v->w, op);

	if (fault || !op->code)
		return fault;
	if (!v->delta || !(cfi_changes_cfa(op) || op->code == CFA_EXPRESSION || op->code == CFA_VAL_EXPRESSION)) {
		bytes_add(v->to, op->start, (size_t)(op->end - op->start));
		if (op->code == CFA_RESTORE_STATE)
			sync_delta(v);
		return NULL;
	}
	if (cfi_changes_cfa(op) && op->code != CFA_DEF_EXPRESSION)
		emit_cfa(v);
	else if (s->n && s->items[s->n - 1].block == op->block)
		emit_expression(v, &s->items[s->n - 1]);
	else
		bytes_add(v->to, op->start, (size_t)(op->end - op->start));
	return NULL;
}

static const char *advance_to(struct mover *v, uint64_t to)
{
	uint64_t n = (to - v->pos) / v->w.cie->code_align;
	const struct object *o = v->w.o;

	if (to < v->pos || n * v->w.cie->code_align != to - v->pos || n > UINT32_MAX)
		return "new text out of order";
	v->pos = to;
	if (!n)
		return NULL;
	if (n < 0x40) {
		vec_push(v->to, (uint8_t)(CFA_ADVANCE | n));
	} else if (n <= 0xff) {
		vec_push(v->to, CFA_ADVANCE1);
		vec_push(v->to, (uint8_t)n);
	} else {
		vec_push(v->to, n <= 0xffff ? CFA_ADVANCE2 : CFA_ADVANCE4);
		bytes_word(v->to, o, n, n <= 0xffff ? 2 : 4);
	}
	return NULL;
}

static void next_adjustment(struct mover *v, uint64_t from)
{
	uint64_t end = v->m->to + v->m->to_size;
	const struct unwind_map *map = v->m->map;

	v->more = map && map->adjust && from < end && map->adjust(map->context, from, end, &v->next_at, &v->next_delta) &&
	          v->next_at >= from && v->next_at < end;
}

/* Writes the adjustments before a new location. */
static const char *adjust_until(struct mover *v, uint64_t before)
{
	while (v->more && v->next_at < before) {
		const char *fault = stands_on_sp(v) ? advance_to(v, v->next_at) : NULL;

		if (fault)
			return fault;
		v->delta = v->next_delta;
		sync_delta(v);
		next_adjustment(v, v->next_at + 1);
	}
	return NULL;
}

static const char *move_op(struct mover *v)
{
	struct cfi_op op;
	uint64_t to;
	const char *fault = cfi_read(&v->w, &op);

	if (fault)
		return fault;
	if (!cfi_is_advance(&op))
		return emit_op(v, &op);
	fault = cfi_step(&v->w, &op);
	if (fault)
		return fault;
	if (!unwind_location(v->m, v->w.loc, &to))
		return "call frame instruction whose code was not moved";
	fault = adjust_until(v, to);
	return fault ? fault : advance_to(v, to);
}

const char *cfi_move(struct bytes *to, const struct object *o, const struct frame_cie *cie, const struct unwind_move *m,
                     uint64_t *fault_at)
{
	struct mover v;
	const char *fault = cfi_begin(&v.w, o, cie, m->fde);

	v.m = m;
	v.to = to;
	v.scratch = (struct bytes){ 0 };
	v.pos = m->to;
	v.delta = 0;
	next_adjustment(&v, m->to);
	while (!fault && v.w.p < v.w.end)
		fault = move_op(&v);
	if (!fault)
		fault = adjust_until(&v, m->to + m->to_size);
	free(v.scratch.v);
	*fault_at = v.w.loc;
	return fault;
}
