/* unwind-cfi.c - call frame instructions (DWARF 5, section 6.4.2): read and checked. */
#include <stddef.h>
#include "tools/so-gen/unwind-cfi.h"

/* Operands by opcode: u and s LEB128, 1 2 4 8 bytes, b a block, l a location; NULL: unknown. */
static const char *const operands[0x30] = {
	[0x00] = "", [0x01] = "l", [0x02] = "1", [0x03] = "2", [0x04] = "4", [0x05] = "uu", [0x06] = "u", [0x07] = "u",
	[0x08] = "u", [0x09] = "uu", [0x0a] = "", [0x0b] = "", [0x0c] = "uu", [0x0d] = "u", [0x0e] = "u", [0x0f] = "b",
	[0x10] = "ub", [0x11] = "us", [0x12] = "us", [0x13] = "s", [0x14] = "uu", [0x15] = "us", [0x16] = "ub", [0x1d] = "8",
	[0x2c] = "", [0x2d] = "", [0x2e] = "u", [0x2f] = "uu",
};

static void state_copy(struct cfi_state *to, const struct cfi_state *from)
{
	memcpy(to, from, offsetof(struct cfi_state, items) + from->n * sizeof from->items[0]);
}

static bool read_operand(struct cfi_walk *w, struct cfi_op *op, char kind, unsigned i)
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

const char *cfi_read(struct cfi_walk *w, struct cfi_op *op)
{
	uint8_t code = *w->p;
	const char *kinds;

	op->v[0] = INT64_MAX;		/* no register */
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

bool cfi_is_advance(const struct cfi_op *op)
{
	return op->code == CFA_ADVANCE || (op->code >= CFA_SET_LOC && op->code <= CFA_ADVANCE4) || op->code == CFA_MIPS_ADVANCE8;
}

const char *cfi_step(struct cfi_walk *w, const struct cfi_op *op)
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

bool cfi_expression(const struct cfi_walk *w, const uint8_t *p, size_t size, struct cfi_expression *e, struct bytes *to, int64_t delta)
{
	struct cfi_walk x = { .o = w->o, .cie = w->cie, .p = p, .end = p + size };

	while (x.p < x.end) {
		struct cfi_op op = { .start = x.p };
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

static void drop_item(struct cfi_state *s, int64_t reg)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].reg == reg) {
			s->items[i] = s->items[--s->n];
			return;
		}
}

static const char *add_expression(struct cfi_walk *w, const struct cfi_op *op, int64_t reg)
{
	struct cfi_expression e = { 0 };

	drop_item(&w->now, reg);
	if (!cfi_expression(w, op->block, op->block_size, &e, NULL, 0))
		return "expression that cannot be read";
	if (e.pc)
		return "expression over the program counter";
	if (!e.sp)
		return NULL;
	if (e.jumps)
		return "expression over the stack pointer that jumps";
	if (w->now.n == ITEMS_MAX)
		return "too many expressions over the stack pointer";
	w->now.items[w->now.n++] = (struct cfi_item){ reg, op->code, op->block, op->block_size };
	return NULL;
}

static void set_cfa(struct cfi_walk *w, uint64_t reg, int64_t offset)
{
	drop_item(&w->now, -1);
	w->now.reg = reg;
	w->now.offset = offset;
	w->now.by_expression = false;
}

bool cfi_changes_cfa(const struct cfi_op *op)
{
	return (op->code >= CFA_DEF && op->code <= CFA_DEF_EXPRESSION) || op->code == CFA_DEF_SF || op->code == CFA_DEF_OFFSET_SF;
}

const char *cfi_apply(struct cfi_walk *w, const struct cfi_op *op)
{
	struct cfi_state *s = &w->now;

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

static void walk_over(struct cfi_walk *w, const uint8_t *p, size_t size, uint64_t at)
{
	w->first = w->p = p;
	w->base = at;
	w->end = p + size;
}

const char *cfi_begin(struct cfi_walk *w, const struct object *o, const struct frame_cie *cie, const struct frame_fde *fde)
{
	const struct unwind_machine *m = unwind_machine(o);
	const char *fault;
	struct cfi_op op;

	w->o = o;
	w->cie = cie;
	w->sp = m ? m->sp : -2;
	w->pc = m ? m->pc : -1;
	w->loc = fde->start;
	w->limit = fde->start + fde->size;
	w->depth = 0;
	memset(&w->now, 0, offsetof(struct cfi_state, items));
	if (!cie->code_align)
		return "CIE with an alignment of 0";
	walk_over(w, cie->insns, cie->insns_size, 0);
	while (w->p < w->end) {
		fault = cfi_read(w, &op);
		if (!fault && (cfi_is_advance(&op) || op.code == CFA_EXPRESSION || op.code == CFA_VAL_EXPRESSION))
			fault = "CIE with instructions that belong into an FDE";
		if (!fault)
			fault = cfi_apply(w, &op);
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
	struct cfi_walk w = { .o = o, .cie = cie };
	struct cfi_op op;

	if (!memchr(fde->insns, CFA_SET_LOC, fde->insns_size))
		return false;
	walk_over(&w, fde->insns, fde->insns_size, 0);
	while (w.p < w.end && !cfi_read(&w, &op))
		if (op.code == CFA_SET_LOC)
			return true;
	return false;
}

const char *cfi_check(const struct object *o, const struct frame_cie *cie, const struct frame_fde *fde,
                      const struct unwind_known *known)
{
	struct cfi_walk w;
	struct cfi_op op;
	const char *fault = cfi_begin(&w, o, cie, fde);

	while (!fault && w.p < w.end) {
		fault = cfi_read(&w, &op);
		if (fault)
			break;
		if (op.code == CFA_SET_LOC)
			return "DW_CFA_set_loc";
		if (!cfi_is_advance(&op)) {
			fault = cfi_apply(&w, &op);
			continue;
		}
		fault = cfi_step(&w, &op);
		if (!fault && known && w.loc != w.limit && !known->known(known->context, w.loc))
			fault = "call frame instruction at no instruction's start";
	}
	return fault;
}
