/* flow.c - x86-64: what an instruction does to the values that a jump table's address is made of.
   Compilers reach a table by   cmp $N,idx; ja default; lea table(%rip),base; movslq (base,idx,4),r; add base,r; jmp *r
   with every part possibly hoisted, spilled or copied in between. */
#include "lib/machine/values.h"
#include "lib/machine/x86_64/x86_64.h"

enum { RAX = 0, RSP = 4, RBP = 5, NONE = -1 };
#define CALL_KILLS 0x0fc7u	/* rax, rcx, rdx, rsi, rdi, r8-r11 */
#define CALL_RETURNS 0x0005u	/* rax, rdx */

static int gpr(ZydisRegister r)
{
	if (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15)
		return r - ZYDIS_REGISTER_RAX;
	if (r >= ZYDIS_REGISTER_EAX && r <= ZYDIS_REGISTER_R15D)
		return r - ZYDIS_REGISTER_EAX;
	if (r >= ZYDIS_REGISTER_AX && r <= ZYDIS_REGISTER_R15W)
		return r - ZYDIS_REGISTER_AX;
	ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	return wide >= ZYDIS_REGISTER_RAX && wide <= ZYDIS_REGISTER_R15 ? (int)(wide - ZYDIS_REGISTER_RAX) : NONE;
}

/* The value of the low `bits` of v: the same value when it surely fits. */
static struct flow_value low(const struct flow_state *s, const struct flow_value *v, unsigned bits)
{
	uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	if (bits >= 32)			/* compilers extend explicitly; a bound on the low half serves the whole */
		return *v;
	if (v->kind == FLOW_ANY && flow_known_max(s, v) <= mask)
		return *v;
	return (struct flow_value){ .kind = FLOW_ANY, .id = mix(v->id, bits), .max = mask, .a = v->kind == FLOW_ANY && v->a };
}

/* Offset from the stack pointer at entry of a frame operand. */
static bool frame_place(const struct flow_state *s, const ZydisDecodedOperand *op, int64_t *at)
{
	int base = gpr(op->mem.base);
	if (base == NONE || op->mem.index != ZYDIS_REGISTER_NONE || s->regs[base].kind != FLOW_FRAME)
		return false;
	*at = (int64_t)s->regs[base].a + op->mem.disp.value;
	return true;
}

/* A table entry read through base + index * scale; false: not of that form. */
static bool table_entry(const struct flow_state *s, const ZydisDecodedOperand *op, const struct insn *insn, bool is_signed, struct flow_value *out)
{
	int base = gpr(op->mem.base), index = gpr(op->mem.index);
	uint64_t table;
	if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS || index == NONE)
		return false;
	if (base != NONE && s->regs[base].kind == FLOW_CONST) {
		table = s->regs[base].a + (uint64_t)op->mem.disp.value;
	} else if (s->regs[index].kind == FLOW_CONST && op->mem.scale == 1 && base != NONE) {
		table = s->regs[index].a + (uint64_t)op->mem.disp.value;	/* (idx,base,1): the index was scaled before */
		index = base;
	} else if (op->mem.base == ZYDIS_REGISTER_NONE && op->mem.scale > 1 && op->mem.disp.value > 0) {
		table = (uint64_t)op->mem.disp.value;
	} else {
		return false;
	}
	*out = (struct flow_value){ .kind = FLOW_ENTRY, .width = op->size / 8, .scale = 1, .is_signed = is_signed, .a = table,
		.id = mix((uint32_t)insn->at, 77), .max = flow_known_max(s, &s->regs[index]) };
	if (op->mem.scale * 8 != op->size && op->mem.scale != 1)
		return false;
	if (op->mem.scale == 1 && op->size > 8)
		out->max = UINT64_MAX;		/* a bound on the index before scaling: unknown here */
	return true;
}

static struct flow_value memory(struct flow_state *s, const ZydisDecodedOperand *op, const struct insn *insn, bool is_signed)
{
	int64_t at;
	struct flow_value v;
	uint64_t max = op->size < 64 ? (UINT64_C(1) << op->size) - 1 : UINT64_MAX;
	if (frame_place(s, op, &at)) {
		int i = slot_find(s, at);
		if (i != NONE && op->size >= 32)
			return s->slots[i].value;
		v = (struct flow_value){ .kind = FLOW_ANY, .id = mix(mix(s->frame_epoch, op->size), (uint64_t)at), .max = is_signed ? UINT64_MAX : max,
			.a = at < 0 };		/* a local of which nothing is known */
		if (op->size == 64)
			slot_set(s, at, &v);
		return v;
	}
	int base = gpr(op->mem.base), index = gpr(op->mem.index);
	if (table_entry(s, op, insn, is_signed, &v))
		return v;
	if (base != NONE && index == NONE && s->regs[base].kind == FLOW_PLACE) {
		v = s->regs[base];
		bool fits = v.scale == op->size / 8;
		return (struct flow_value){ .kind = FLOW_ENTRY, .width = op->size / 8, .scale = 1, .is_signed = is_signed,
			.a = v.a + (uint64_t)op->mem.disp.value, .id = mix((uint32_t)insn->at, 78), .max = fits ? v.max : UINT64_MAX };
	}
	uint32_t id = mix(s->epoch, op->size | (uint64_t)op->mem.scale << 8 | (uint64_t)op->mem.disp.value << 16);
	if (base != NONE)
		id = mix(id, s->regs[base].id + 3 * s->regs[base].a);
	if (index != NONE)
		id = mix(id, 5 * s->regs[index].id + s->regs[index].a);
	if (insn->pc_size)
		id = mix(id, insn->target);
	v = (struct flow_value){ .kind = FLOW_ANY, .id = id, .max = is_signed ? UINT64_MAX : max };
	/* perhaps a table whose address is not known */
	v.a = index != NONE && ((s->regs[index].kind == FLOW_ANY && s->regs[index].a) || base == NONE || (s->regs[base].kind == FLOW_ANY && s->regs[base].a));
	return v;
}

static struct flow_value operand(struct flow_state *s, const ZydisDecodedOperand *op, const struct insn *insn, bool is_signed)
{
	int r;
	switch (op->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		r = gpr(op->reg.value);
		if (r == NONE || (op->reg.value >= ZYDIS_REGISTER_AH && op->reg.value <= ZYDIS_REGISTER_BH))
			return any(insn, 9, UINT64_MAX);
		return low(s, &s->regs[r], op->size);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return memory(s, op, insn, is_signed);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return (struct flow_value){ .kind = FLOW_ANY, .id = mix(12345, op->imm.value.u), .max = op->imm.value.u };
	default:
		return any(insn, 10, UINT64_MAX);
	}
}

static void store(struct flow_state *s, const ZydisDecodedOperand *op, const struct flow_value *v)
{
	int64_t at;
	if (!frame_place(s, op, &at)) {
		s->epoch = mix(s->epoch, 1);
		slots_forget(s);
		return;
	}
	s->frame_epoch = mix(s->frame_epoch, 1);	/* what lies elsewhere stays as it is */
	slots_clobber(s, at, op->size / 8, 8);
	if (v && op->size >= 32)
		slot_set(s, at, v);
}

/* Writes a register operand; narrow writes leave a value of which nothing is known. */
static void assign(struct flow_state *s, const ZydisDecodedOperand *op, const struct flow_value *v, const struct insn *insn)
{
	int r = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? gpr(op->reg.value) : NONE;
	if (r == NONE)
		return;
	s->regs[r] = op->size >= 32 ? *v : any(insn, 20 + r, UINT64_MAX);
	if (op->size == 32 && v->kind != FLOW_ANY && v->kind != FLOW_ENTRY)
		s->regs[r] = any(insn, 20 + r, UINT32_MAX);
}

static struct flow_value sum(const struct flow_value *x, const struct flow_value *y, const struct insn *insn)
{
	if (y->kind == FLOW_ENTRY && x->kind != FLOW_ENTRY) {
		const struct flow_value *t = x; x = y; y = t;
	}
	if (x->kind == FLOW_ENTRY && y->kind == FLOW_CONST) {
		struct flow_value v = *x;
		v.kind = FLOW_TARGET;
		v.b = y->a;
		return v;
	}
	if (x->kind == FLOW_CONST && y->kind == FLOW_ANY) {
		const struct flow_value *t = x; x = y; y = t;
	}
	if (x->kind == FLOW_ANY && y->kind == FLOW_CONST)
		return (struct flow_value){ .kind = FLOW_PLACE, .a = y->a, .max = UINT64_MAX };
	return made_of(insn, 1, UINT64_MAX, x, y);
}

static struct flow_value address_of(const struct flow_state *s, const ZydisDecodedOperand *op, const struct insn *insn)
{
	int base = gpr(op->mem.base), index = gpr(op->mem.index);
	if (insn->pc_size)
		return (struct flow_value){ .kind = FLOW_CONST, .id = mix(1, insn->target), .a = insn->target };
	if (base != NONE && index == NONE) {
		struct flow_value v = s->regs[base];
		if (v.kind == FLOW_CONST || v.kind == FLOW_FRAME)
			v.a += (uint64_t)op->mem.disp.value;
		else if (op->mem.disp.value)
			v = any(insn, 2, UINT64_MAX);
		return v;
	}
	if (base != NONE && index != NONE && s->regs[base].kind == FLOW_CONST && s->regs[index].kind == FLOW_ANY && op->mem.scale > 1)
		return (struct flow_value){ .kind = FLOW_PLACE, .scale = op->mem.scale, .a = s->regs[base].a + (uint64_t)op->mem.disp.value,
			.max = flow_known_max(s, &s->regs[index]) };
	if (base != NONE && index != NONE && op->mem.disp.value == 0) {
		struct flow_value i = s->regs[index];
		if (op->mem.scale > 1) {
			if (i.kind != FLOW_ENTRY)
				return any(insn, 3, UINT64_MAX);
			i.scale *= op->mem.scale;
		}
		return sum(&i, &s->regs[base], insn);
	}
	if (base == NONE && index != NONE && op->mem.scale > 1 && op->mem.disp.value == 0 && s->regs[index].kind == FLOW_ENTRY) {
		struct flow_value i = s->regs[index];
		i.scale *= op->mem.scale;
		return i;
	}
	return any(insn, 4, UINT64_MAX);
}

static struct flow_value arithmetic(struct flow_state *s, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const struct insn *insn)
{
	struct flow_value x = operand(s, &op[0], insn, true), y = x;
	bool constant = op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	int64_t k = constant ? op[1].imm.value.s : 0;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB:
		if (constant && (x.kind == FLOW_FRAME || x.kind == FLOW_CONST)) {
			x.a += (uint64_t)(in->mnemonic == ZYDIS_MNEMONIC_ADD ? k : -k);
			return x;
		}
		if (in->mnemonic == ZYDIS_MNEMONIC_ADD && !constant && op[0].size == 64) {
			y = operand(s, &op[1], insn, true);
			return sum(&x, &y, insn);
		}
		break;
	case ZYDIS_MNEMONIC_AND:
		if (constant && k >= 0)
			return any(insn, 5, (uint64_t)k);
		if (constant)
			return any(insn, 5, flow_known_max(s, &x));
		if (!constant) {
			y = operand(s, &op[1], insn, false);
			uint64_t a = flow_known_max(s, &x), b = flow_known_max(s, &y);
			return any(insn, 5, a < b ? a : b);
		}
		break;
	case ZYDIS_MNEMONIC_SHR:
		if (constant && k > 0 && k < op[0].size) {
			uint64_t max = op[0].size == 64 ? UINT64_MAX : (UINT64_C(1) << op[0].size) - 1, known = flow_known_max(s, &x);
			return any(insn, 6, (known < max ? known : max) >> k);
		}
		break;
	case ZYDIS_MNEMONIC_SHL:
		if (constant && x.kind == FLOW_ENTRY && k > 0 && k < 4) {
			x.scale <<= k;
			return x;
		}
		break;
	default:
		break;
	}
	if (!constant)
		y = operand(s, &op[1], insn, true);
	return made_of(insn, 7, UINT64_MAX, &x, &y);
}

/* Of a conditional move. */
static struct flow_value either(struct flow_state *s, const ZydisDecodedOperand *op, const struct insn *insn)
{
	struct flow_value x = operand(s, &op[0], insn, true), y = operand(s, &op[1], insn, true);
	uint64_t a = flow_known_max(s, &x), b = flow_known_max(s, &y);
	return made_of(insn, 13, a > b ? a : b, &x, &y);
}

static void compare(struct flow_state *s, const ZydisDecodedOperand *op, const struct insn *insn)
{
	s->compare.valid = false;
	if (op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && (op[1].imm.value.s >= 0 || op[0].size < 32)) {
		struct flow_value v = operand(s, &op[0], insn, op[0].size >= 32);
		if (v.kind == FLOW_ANY || v.kind == FLOW_ENTRY) {
			s->compare.valid = true;
			s->compare.id = v.id;
			s->compare.bound = op[1].imm.value.u & (op[0].size < 32 ? (1u << op[0].size) - 1 : UINT64_MAX);
		}
	}
}

/* gcc lets values stay in registers over calls of functions that are known to leave them alone (-fipa-ra).  Where it does not, nobody
   reads them again before they are written; so what may belong to a table is kept. */
static void call(struct flow_state *s, const struct insn *insn)
{
	for (unsigned r = 0; r < 16; r++)
		if ((CALL_KILLS >> r & 1) && (s->regs[r].kind == FLOW_ANY || (CALL_RETURNS >> r & 1)))
			s->regs[r] = any(insn, 40 + r, UINT64_MAX);
	s->epoch = mix(s->epoch, 2);
	s->frame_epoch = mix(s->frame_epoch, 2);
	slots_forget(s);
}

static void stack(struct flow_state *s, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const struct insn *insn)
{
	struct flow_value *sp = &s->regs[RSP], v;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		v = operand(s, &op[0], insn, true);
		sp->a -= 8;
		if (sp->kind == FLOW_FRAME) {
			slots_clobber(s, (int64_t)sp->a, 8, 8);
			slot_set(s, (int64_t)sp->a, &v);
		}
		break;
	case ZYDIS_MNEMONIC_POP: {
		int i = sp->kind == FLOW_FRAME ? slot_find(s, (int64_t)sp->a) : NONE;
		v = i != NONE ? s->slots[i].value : any(insn, 11, UINT64_MAX);
		sp->a += 8;
		assign(s, &op[0], &v, insn);
		break;
	}
	case ZYDIS_MNEMONIC_LEAVE: {
		*sp = s->regs[RBP];
		int i = sp->kind == FLOW_FRAME ? slot_find(s, (int64_t)sp->a) : NONE;
		s->regs[RBP] = i != NONE ? s->slots[i].value : any(insn, 12, UINT64_MAX);
		sp->a += 8;
		break;
	}
	default:
		break;
	}
}

void x86_64_flow(struct flow_state *s, const uint8_t *p, const struct insn *insn)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	if (insn->kind == INSN_NOP || insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH || !x86_64_full(p, insn->len, &in, op))
		return;
	if (in.cpu_flags && ((in.cpu_flags->modified | in.cpu_flags->set_0 | in.cpu_flags->set_1 | in.cpu_flags->undefined)
	    & (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF)))
		s->compare.valid = false;
	struct flow_value v;
	bool handled = true;
	switch (in.mnemonic) {
	case ZYDIS_MNEMONIC_CALL: call(s, insn); return;
	case ZYDIS_MNEMONIC_SYSCALL: call(s, insn); return;
	case ZYDIS_MNEMONIC_CMP: compare(s, op, insn); return;
	case ZYDIS_MNEMONIC_TEST: return;
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_LEAVE: stack(s, &in, op, insn); return;
	case ZYDIS_MNEMONIC_LEA: v = address_of(s, &op[1], insn); break;
	case ZYDIS_MNEMONIC_MOV:
		v = operand(s, &op[1], insn, op[1].size >= 32);
		if (op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == ZYDIS_REGISTER_RSP && v.kind == FLOW_ANY)
			v.b = 1;
		break;
	case ZYDIS_MNEMONIC_MOVZX: v = operand(s, &op[1], insn, false); break;
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD:
		v = operand(s, &op[1], insn, true);
		if (insn->pc_size && op[1].size == 32 && v.kind == FLOW_ANY)	/* a number, or an entry whose index is a constant */
			v = (struct flow_value){ .kind = FLOW_ENTRY, .width = 4, .scale = 1, .is_signed = true, .id = v.id, .a = insn->target };
		break;
	case ZYDIS_MNEMONIC_CDQE:
		return;		/* sign extension of eax: an index whose bound holds, an entry that is signed anyway */
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_AND: case ZYDIS_MNEMONIC_SHR: case ZYDIS_MNEMONIC_SHL:
		v = arithmetic(s, &in, op, insn);
		break;
	case ZYDIS_MNEMONIC_CMOVB: case ZYDIS_MNEMONIC_CMOVBE: case ZYDIS_MNEMONIC_CMOVL: case ZYDIS_MNEMONIC_CMOVLE:
	case ZYDIS_MNEMONIC_CMOVNB: case ZYDIS_MNEMONIC_CMOVNBE: case ZYDIS_MNEMONIC_CMOVNL: case ZYDIS_MNEMONIC_CMOVNLE:
	case ZYDIS_MNEMONIC_CMOVNO: case ZYDIS_MNEMONIC_CMOVNP: case ZYDIS_MNEMONIC_CMOVNS: case ZYDIS_MNEMONIC_CMOVNZ:
	case ZYDIS_MNEMONIC_CMOVO: case ZYDIS_MNEMONIC_CMOVP: case ZYDIS_MNEMONIC_CMOVS: case ZYDIS_MNEMONIC_CMOVZ:
		v = either(s, op, insn);
		break;
	case ZYDIS_MNEMONIC_XOR:
		v = any(insn, 8, op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER
		        && op[0].reg.value == op[1].reg.value ? 0 : UINT64_MAX);
		break;
	default:
		handled = false;
	}
	if (handled) {
		if (op[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
			store(s, &op[0], in.mnemonic == ZYDIS_MNEMONIC_MOV ? &v : NULL);
		else
			assign(s, &op[0], &v, insn);
		return;
	}
	for (unsigned i = 0; i < in.operand_count; i++) {
		if (!(op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
			store(s, &op[i], NULL);
		} else if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			int r = gpr(op[i].reg.value);
			if (r != NONE)
				s->regs[r] = any(insn, 60 + r, UINT64_MAX);
		}
	}
}

void x86_64_flow_edge(struct flow_state *s, const uint8_t *p, const struct insn *insn, bool taken)
{
	if (insn->kind != INSN_BRANCH || !s->compare.valid || insn->pc_pos == 0)
		return;
	unsigned condition = p[insn->pc_pos - 1] & 15;
	uint64_t k = s->compare.bound;
	if ((condition == 7 && !taken) || (condition == 6 && taken))		/* ja, jbe */
		flow_learn(s, s->compare.id, k);
	else if (((condition == 3 && !taken) || (condition == 2 && taken)) && k)	/* jae, jb */
		flow_learn(s, s->compare.id, k - 1);
	else if ((condition == 4 && taken) || (condition == 5 && !taken))	/* je, jne */
		flow_learn(s, s->compare.id, k);
}

enum flow_jump x86_64_flow_jump(const struct flow_state *state, const uint8_t *p, const struct insn *insn, struct flow_value *table)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	struct flow_state *s = (struct flow_state *)state;	/* operand() may note a slot, which changes nothing that is known */
	if (!x86_64_full(p, insn->len, &in, op))
		return FLOW_JUMP_UNKNOWN;
	if (op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && insn->pc_size)
		return FLOW_JUMP_TAIL;			/* through the GOT */
	*table = operand(s, &op[0], insn, false);
	return table->kind == FLOW_ANY || table->kind == FLOW_FRAME ? FLOW_JUMP_UNKNOWN : FLOW_JUMP_TABLE;
}
