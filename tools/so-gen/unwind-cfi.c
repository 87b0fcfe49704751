/* unwind-cfi.c - call frame instructions (DWARF 5, section 6.4.2): read, checked, and moved to new text. */
#include <stddef.h>
#include "tools/so-gen/unwind-parts.h"

enum {
	CFA_SET_LOC = 0x01, CFA_ADVANCE1 = 0x02, CFA_ADVANCE2 = 0x03, CFA_ADVANCE4 = 0x04, CFA_REMEMBER = 0x0a, CFA_RESTORE_STATE = 0x0b,
	CFA_DEF = 0x0c, CFA_DEF_REGISTER = 0x0d, CFA_DEF_OFFSET = 0x0e, CFA_DEF_EXPRESSION = 0x0f, CFA_EXPRESSION = 0x10,
	CFA_DEF_SF = 0x12, CFA_DEF_OFFSET_SF = 0x13, CFA_VAL_EXPRESSION = 0x16, CFA_MIPS_ADVANCE8 = 0x1d, CFA_ARGS_SIZE = 0x2e,
	CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0
};
enum { DEPTH_MAX = 32, ITEMS_MAX = 32 };

/* Operands by opcode: u and s LEB128, 1 2 4 8 bytes, b a block, l a location; NULL: unknown. */
static const char *const operands[0x30] = {
	[0x00] = "", [0x01] = "l", [0x02] = "1", [0x03] = "2", [0x04] = "4", [0x05] = "uu", [0x06] = "u", [0x07] = "u",
	[0x08] = "u", [0x09] = "uu", [0x0a] = "", [0x0b] = "", [0x0c] = "uu", [0x0d] = "u", [0x0e] = "u", [0x0f] = "b",
	[0x10] = "ub", [0x11] = "us", [0x12] = "us", [0x13] = "s", [0x14] = "uu", [0x15] = "us", [0x16] = "ub", [0x1d] = "8",
	[0x2c] = "", [0x2d] = "", [0x2e] = "u", [0x2f] = "uu",
};

struct op {
	uint8_t code;			/* advance, offset and restore: without their low bits */
	uint64_t v[2];
	const uint8_t *start, *end;	/* the whole instruction */
	const uint8_t *block;
	size_t block_size;
};

/* A rule that says "an expression over the stack pointer"; register -1: the CFA itself. */
struct item { int64_t reg; uint8_t code; const uint8_t *block; size_t size; };

struct state {
	uint64_t reg;			/* the CFA is reg + offset, unless by_expression */
	int64_t offset;
	bool by_expression;
	int64_t applied;		/* what was last added to the stack pointer's part of all rules */
	size_t n;
	struct item items[ITEMS_MAX];
};

struct walk {
	const struct object *o;
	const struct frame_cie *cie;
	uint64_t base;			/* link-time address of *first */
	const uint8_t *first;
	const uint8_t *p, *end;
	int sp, pc;
	uint64_t loc, limit;		/* old location; the FDE's end */
	struct state now, saved[DEPTH_MAX];
	unsigned depth;
};

static void state_copy(struct state *to, const struct state *from)
{
	memcpy(to, from, offsetof(struct state, items) + from->n * sizeof from->items[0]);
}

static bool read_operand(struct walk *w, struct op *op, char kind, unsigned i)
{
	int64_t s;

	switch (kind) {
	case 'u':
		return frame_uleb(&w->p, w->end, &op->v[i]);
	case 's':
		if (!frame_sleb(&w->p, w->end, &s))
			return false;
		op->v[i] = (uint64_t)s;
		return true;
	case 'b':
		if (!frame_uleb(&w->p, w->end, &op->v[i]) || op->v[i] > (size_t)(w->end - w->p))
			return false;
		op->block = w->p;
		op->block_size = (size_t)op->v[i];
		w->p += op->block_size;
		return true;
	case 'l':
		return !(w->cie->fde_encoding & PE_INDIRECT) &&
		       frame_pointer(w->o, w->cie->fde_encoding, &w->p, w->end, w->base + (uint64_t)(w->p - w->first), 0, &op->v[i]);
	}
	if (w->end - w->p < kind - '0')
		return false;
	op->v[i] = object_word(w->o, w->p, (unsigned)(kind - '0'));
	w->p += kind - '0';
	return true;
}

static const char *read_op(struct walk *w, struct op *op)
{
	uint8_t code = *w->p;
	const char *kinds;

	op->start = w->p++;
	op->code = code;
	if (code & 0xc0) {
		op->code = code & 0xc0;
		op->v[0] = code & 0x3f;
		kinds = "";
		if (op->code == CFA_OFFSET && !frame_uleb(&w->p, w->end, &op->v[1]))
			return "call frame instruction that is cut";
	} else if (code >= sizeof operands / sizeof *operands || !(kinds = operands[code])) {
		return "unknown call frame instruction";
	}
	for (unsigned i = 0; kinds[i]; i++)
		if (!read_operand(w, op, kinds[i], i))
			return "call frame instruction that is cut";
	op->end = w->p;
	return NULL;
}

static bool is_advance(const struct op *op)
{
	return op->code == CFA_ADVANCE || (op->code >= CFA_SET_LOC && op->code <= CFA_ADVANCE4) || op->code == CFA_MIPS_ADVANCE8;
}

static const char *step(struct walk *w, const struct op *op)
{
	uint64_t to;

	if (op->code == CFA_SET_LOC)
		to = op->v[0];
	else if (__builtin_mul_overflow(op->v[0], w->cie->code_align, &to) || __builtin_add_overflow(w->loc, to, &to))
		return "call frame instruction beyond its function";
	if (to < w->loc || to > w->limit)
		return "call frame instruction beyond its function";
	w->loc = to;
	return NULL;
}

/* Expressions. */

enum { OP_ADDR = 0x03, OP_BRA = 0x28, OP_SKIP = 0x2f, OP_BREG0 = 0x70, OP_BREGX = 0x92 };

/* The operands of a DW_OP as in the table above, NULL for one that is unknown or holds an address. */
static const char *expression_operands(uint8_t op)
{
	if ((op >= 0x12 && op <= 0x14) || (op >= 0x16 && op <= 0x22) || (op >= 0x24 && op <= 0x27) || (op >= 0x29 && op <= 0x2e) ||
	    (op >= 0x30 && op <= 0x6f) || op == 0x06 || op == 0x96)
		return "";
	if (op >= OP_BREG0 && op <= 0x8f)
		return "s";
	switch (op) {
	case 0x08: case 0x09: case 0x15: case 0x94: case 0x95:
		return "1";
	case 0x0a: case 0x0b: case OP_BRA: case OP_SKIP:
		return "2";
	case 0x0c: case 0x0d:
		return "4";
	case 0x0e: case 0x0f:
		return "8";
	case 0x10: case 0x23: case 0x90:
		return "u";
	case 0x11:
		return "s";
	case OP_BREGX:
		return "us";
	}
	return NULL;
}

struct expression { bool sp, pc, jumps; };

/* Reads an expression, and writes it to TO with DELTA added where the stack pointer is read, unless TO is NULL. */
static bool expression_scan(const struct walk *w, const uint8_t *p, size_t size, struct expression *e, struct bytes *to, int64_t delta)
{
	struct walk x = { .o = w->o, .cie = w->cie, .p = p, .end = p + size };

	while (x.p < x.end) {
		struct op op = { .start = x.p };
		uint8_t code = *x.p++;
		const char *kinds = expression_operands(code);
		bool breg = (code >= OP_BREG0 && code <= 0x8f) || code == OP_BREGX;
		int64_t reg;

		if (!kinds)
			return false;
		for (unsigned i = 0; kinds[i]; i++)
			if (!read_operand(&x, &op, kinds[i], i))
				return false;
		reg = !breg ? -2 : code == OP_BREGX ? (int64_t)op.v[0] : code - OP_BREG0;
		e->sp |= reg == w->sp;
		e->pc |= w->pc >= 0 && (reg == w->pc || code == 0x50 + w->pc);
		e->jumps |= code == OP_BRA || code == OP_SKIP;
		if (to && reg == w->sp) {
			vec_push(to, OP_BREGX);
			bytes_uleb(to, (uint64_t)reg);
			bytes_sleb(to, (int64_t)(op.v[code == OP_BREGX] + (uint64_t)delta));
		} else if (to) {
			bytes_add(to, op.start, (size_t)(x.p - op.start));
		}
	}
	return true;
}

/* The state that an instruction leaves. */

static void drop_item(struct state *s, int64_t reg)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].reg == reg) {
			s->items[i] = s->items[--s->n];
			return;
		}
}

static const char *add_expression(struct walk *w, const struct op *op, int64_t reg)
{
	struct expression e = { 0 };

	drop_item(&w->now, reg);
	if (!expression_scan(w, op->block, op->block_size, &e, NULL, 0))
		return "expression that cannot be read";
	if (e.pc)
		return "expression over the program counter";
	if (!e.sp)
		return NULL;
	if (e.jumps)
		return "expression over the stack pointer that jumps";
	if (w->now.n == ITEMS_MAX)
		return "too many expressions over the stack pointer";
	w->now.items[w->now.n++] = (struct item){ reg, op->code, op->block, op->block_size };
	return NULL;
}

static void set_cfa(struct walk *w, uint64_t reg, int64_t offset)
{
	drop_item(&w->now, -1);
	w->now.reg = reg;
	w->now.offset = offset;
	w->now.by_expression = false;
}

static bool changes_cfa(const struct op *op)
{
	return (op->code >= CFA_DEF && op->code <= CFA_DEF_EXPRESSION) || op->code == CFA_DEF_SF || op->code == CFA_DEF_OFFSET_SF;
}

static const char *apply(struct walk *w, const struct op *op)
{
	struct state *s = &w->now;

	switch (op->code) {
	case CFA_DEF:
		set_cfa(w, op->v[0], (int64_t)op->v[1]);
		break;
	case CFA_DEF_SF:
		set_cfa(w, op->v[0], (int64_t)(op->v[1] * (uint64_t)w->cie->data_align));
		break;
	case CFA_DEF_REGISTER:
		set_cfa(w, op->v[0], s->offset);
		break;
	case CFA_DEF_OFFSET:
		set_cfa(w, s->reg, (int64_t)op->v[0]);
		break;
	case CFA_DEF_OFFSET_SF:
		set_cfa(w, s->reg, (int64_t)(op->v[0] * (uint64_t)w->cie->data_align));
		break;
	case CFA_DEF_EXPRESSION:
		s->by_expression = true;
		return add_expression(w, op, -1);
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		if (op->v[0] > INT32_MAX)
			return "rule for an unknown register";
		return add_expression(w, op, (int64_t)op->v[0]);
	case CFA_REMEMBER:
		if (w->depth == DEPTH_MAX)
			return "states nested too deeply";
		state_copy(&w->saved[w->depth++], s);
		break;
	case CFA_RESTORE_STATE:
		if (!w->depth)
			return "state restored that was not saved";
		state_copy(s, &w->saved[--w->depth]);
		break;
	default:
		if (s->n && op->code && op->code != CFA_ARGS_SIZE)
			drop_item(s, (int64_t)op->v[0]);
	}
	return NULL;
}

static void walk_over(struct walk *w, const uint8_t *p, size_t size, uint64_t at)
{
	w->first = w->p = p;
	w->base = at;
	w->end = p + size;
}

/* Runs the CIE's instructions and stops before the FDE's first. */
static const char *walk_begin(struct walk *w, const struct object *o, const struct frame_cie *cie, const struct frame_fde *fde)
{
	const struct unwind_machine *m = unwind_machine(o);
	const char *fault;
	struct op op;

	w->o = o;
	w->cie = cie;
	w->sp = m ? m->sp : -2;
	w->pc = m ? m->pc : -1;
	w->loc = fde->start;
	w->limit = fde->start + fde->size;
	w->depth = 0;
	memset(&w->now, 0, offsetof(struct state, items));
	if (!cie->code_align)
		return "CIE with an alignment of 0";
	walk_over(w, cie->insns, cie->insns_size, 0);
	while (w->p < w->end) {
		fault = read_op(w, &op);
		if (!fault && (is_advance(&op) || op.code == CFA_EXPRESSION || op.code == CFA_VAL_EXPRESSION))
			fault = "CIE with instructions that belong into an FDE";
		if (!fault)
			fault = apply(w, &op);
		if (fault)
			return fault;
	}
	/* A .eh_frame without section headers: the image's own distance gives the address. */
	walk_over(w, fde->insns, fde->insns_size, 0);
	w->base = fde->at + (uint64_t)(fde->insns - object_at(o, fde->at, 4));
	return NULL;
}

bool cfi_has_set_loc(const struct object *o, const struct frame_cie *cie, const struct frame_fde *fde)
{
	struct walk w = { .o = o, .cie = cie };
	struct op op;

	if (!memchr(fde->insns, CFA_SET_LOC, fde->insns_size))
		return false;
	walk_over(&w, fde->insns, fde->insns_size, 0);
	while (w.p < w.end && !read_op(&w, &op))
		if (op.code == CFA_SET_LOC)
			return true;
	return false;
}

const char *cfi_check(const struct object *o, const struct frame_cie *cie, const struct frame_fde *fde,
                      const struct unwind_known *known)
{
	struct walk w;
	struct op op;
	const char *fault = walk_begin(&w, o, cie, fde);

	while (!fault && w.p < w.end) {
		fault = read_op(&w, &op);
		if (fault)
			break;
		if (op.code == CFA_SET_LOC)
			return "DW_CFA_set_loc";
		if (!is_advance(&op)) {
			fault = apply(&w, &op);
			continue;
		}
		fault = step(&w, &op);
		if (!fault && known && w.loc != w.limit && !known->known(known->context, w.loc))
			fault = "call frame instruction at no instruction's start";
	}
	return fault;
}

/* Moving. */

struct mover {
	struct walk w;
	const struct unwind_move *m;
	struct bytes *to, scratch;
	uint64_t pos;			/* new location of what was written last */
	int64_t delta;			/* of the stack pointer, now */
	bool more;			/* an adjustment is pending: */
	uint64_t next_at;
	int64_t next_delta;
};

static void emit_expression(struct mover *v, const struct item *it)
{
	struct expression e;

	v->scratch.n = 0;
	expression_scan(&v->w, it->block, it->size, &e, &v->scratch, v->delta);
	vec_push(v->to, it->code);
	if (it->reg >= 0)
		bytes_uleb(v->to, (uint64_t)it->reg);
	bytes_uleb(v->to, v->scratch.n);
	bytes_add(v->to, v->scratch.v, v->scratch.n);
}

static void emit_cfa(struct mover *v)
{
	const struct state *s = &v->w.now;
	int64_t offset = s->offset + ((int64_t)s->reg == v->w.sp ? v->delta : 0);

	vec_push(v->to, offset < 0 ? CFA_DEF_SF : CFA_DEF);
	bytes_uleb(v->to, s->reg);
	if (offset < 0)
		bytes_sleb(v->to, offset / v->w.cie->data_align);
	else
		bytes_uleb(v->to, (uint64_t)offset);
}

/* Gives every rule that stands on the stack pointer the present delta. */
static void sync_delta(struct mover *v)
{
	struct state *s = &v->w.now;

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
static const char *emit_op(struct mover *v, const struct op *op)
{
	struct state *s = &v->w.now;
	const char *fault = apply(&v->w, op);

	if (fault || !op->code)
		return fault;
	if (!v->delta || !(changes_cfa(op) || op->code == CFA_EXPRESSION || op->code == CFA_VAL_EXPRESSION)) {
		bytes_add(v->to, op->start, (size_t)(op->end - op->start));
		if (op->code == CFA_RESTORE_STATE)
			sync_delta(v);
		return NULL;
	}
	if (changes_cfa(op) && op->code != CFA_DEF_EXPRESSION)
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
		const char *fault = advance_to(v, v->next_at);

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
	struct op op;
	uint64_t to;
	const char *fault = read_op(&v->w, &op);

	if (fault)
		return fault;
	if (!is_advance(&op))
		return emit_op(v, &op);
	fault = step(&v->w, &op);
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
	const char *fault = walk_begin(&v.w, o, cie, m->fde);

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
