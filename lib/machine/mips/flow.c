/* flow.c - MIPS: what an instruction does to the values that addresses are made of: gp from t9, pages and addresses from the
   GOT, tables through   sltiu c,idx,N; beqz c,default; sll i,idx,2; addu p,table,i; lw e,0(p); addu e,e,gp; jr e. */
#include "lib/machine/mips/mips.h"
#include "lib/machine/values.h"

#define CALL_KILLS (BIT(AT) | BIT(2) | BIT(3) | 0xfff0u | BIT(24) | BIT(25) | BIT(RA))

static struct flow_value constant(uint64_t a) { return (struct flow_value){ .kind = FLOW_CONST, .a = (uint32_t)a, .id = mix(77, (uint32_t)a) }; }

/* b tells where a constant is from: the function's own address (in t9 when it is called), or the GOT. */
enum { OWN = 1, FROM_GOT = 2 };

static struct flow_value from_got(uint64_t a)
{
	struct flow_value v = constant(a);
	v.b = FROM_GOT;
	return v;
}

static struct flow_value reg(const struct flow_state *s, unsigned r) { return r ? s->regs[r] : constant(0); }

/* gp is never anything else for long. */
static void set(struct flow_state *s, unsigned r, struct flow_value v)
{
	if (r == GP && v.kind != FLOW_CONST && s->memory && s->memory->gp)
		v = constant(s->memory->gp);
	if (r)
		s->regs[r] = v;
}

static struct flow_value sum(const struct flow_state *s, struct flow_value x, struct flow_value y, const struct insn *insn)
{
	if (y.kind == FLOW_ENTRY || (x.kind == FLOW_ANY && y.kind != FLOW_ANY)) {
		struct flow_value t = x;
		x = y;
		y = t;
	}
	if (x.kind == FLOW_CONST && y.kind == FLOW_CONST) {
		if (!x.a)
			return y;
		return y.a ? constant(x.a + y.a) : x;
	}
	if (x.kind == FLOW_ENTRY && y.kind == FLOW_CONST) {
		x.kind = FLOW_TARGET;
		x.b = y.a;
		return x;
	}
	if (x.kind == FLOW_ENTRY && y.kind == FLOW_ANY) {	/* relative to something that went through too much */
		x.kind = FLOW_TARGET;
		x.b = 0;
		return x;
	}
	if (y.kind == FLOW_CONST && !y.a)
		return x;
	if (x.kind == FLOW_CONST && !x.a)
		return y;
	if (x.kind == FLOW_CONST && y.kind == FLOW_ANY)
		return (struct flow_value){ .kind = FLOW_PLACE, .scale = 1, .a = x.a, .id = mix(y.id, x.a), .max = flow_known_max(s, &y) };
	if (x.kind == FLOW_PLACE && y.kind == FLOW_CONST)
		return (struct flow_value){ .kind = FLOW_PLACE, .scale = 1, .a = (uint32_t)(x.a + y.a), .id = mix(x.id, y.a), .max = x.max };
	if (x.kind == FLOW_FRAME && y.kind == FLOW_CONST)
		return (struct flow_value){ .kind = FLOW_FRAME, .a = x.a + (uint64_t)(int64_t)(int32_t)y.a };
	return made_of(insn, 1, UINT64_MAX, &x, &y);
}

static struct flow_value plus(const struct flow_state *s, unsigned r, int32_t k, const struct insn *insn)
{
	struct flow_value x = reg(s, r);
	if (x.kind == FLOW_CONST && r) {
		uint64_t own = x.b & OWN;
		x = constant(x.a + (uint32_t)k);
		x.b = own;
		return x;
	}
	if (x.kind == FLOW_ANY && r) {
		struct flow_value v = any(insn, 3, UINT64_MAX);
		v.id = mix(x.id, (uint32_t)k);
		v.a = x.a;
		return v;
	}
	return sum(s, x, constant((uint32_t)k), insn);
}

static struct flow_value load(struct flow_state *s, uint32_t w, const struct insn *insn)
{
	struct flow_value x = reg(s, RS(w)), v;
	uint64_t word;
	int64_t at;
	switch (x.kind) {
	case FLOW_FRAME:
		at = (int64_t)x.a + IMM(w);
		for (int i = slot_find(s, at); i != FLOW_NO_SLOT; )
			return s->slots[i].value;
		v = (struct flow_value){ .kind = FLOW_ANY, .id = mix(mix(s->frame_epoch, 4), (uint64_t)at), .max = UINT64_MAX, .a = at < 0 };
		slot_set(s, at, &v);
		return v;
	case FLOW_CONST:
		if (s->memory && s->memory->constant(s->memory->context, (uint32_t)(x.a + (uint32_t)IMM(w)), &word))
			return from_got(word);
		if (s->memory && s->memory->fixed(s->memory->context, (uint32_t)(x.a + (uint32_t)IMM(w)), &word))
			return constant(word);
		v = any(insn, 4, UINT64_MAX);
		v.id = mix(s->epoch, (uint32_t)(x.a + (uint32_t)IMM(w)));
		return v;
	case FLOW_PLACE:
		return (struct flow_value){ .kind = FLOW_ENTRY, .width = 4, .scale = 1, .is_signed = true, .a = (uint32_t)(x.a + (uint32_t)IMM(w)),
			.id = mix((uint32_t)insn->at, 77), .max = x.max == UINT64_MAX ? UINT64_MAX : x.max / 4 };
	default:
		v = any(insn, 4, UINT64_MAX);
		v.id = mix(s->epoch, (uint64_t)(uint32_t)IMM(w) << 32 | (x.id ^ (uint32_t)x.a));
		return v;
	}
}

static struct flow_value narrow(const struct flow_state *s, uint32_t w, const struct insn *insn, uint64_t max)
{
	struct flow_value x = reg(s, RS(w)), v = any(insn, 5, max);
	if (x.kind == FLOW_ANY)
		v.id = mix(mix(s->epoch, OP(w)), (uint64_t)(uint32_t)IMM(w) << 32 | x.id);
	return v;
}

static void store(struct flow_state *s, uint32_t w, unsigned bytes)
{
	struct flow_value x = reg(s, RS(w)), v = reg(s, RT(w));
	if (x.kind != FLOW_FRAME) {
		s->epoch = mix(s->epoch, 1);
		slots_forget(s);
		return;
	}
	int64_t at = (int64_t)x.a + IMM(w);
	s->frame_epoch = mix(s->frame_epoch, 1);
	slots_clobber(s, at, bytes, 4);
	if (OP(w) == OP_SW)
		slot_set(s, at, &v);
}

static struct flow_value less(const struct flow_state *s, unsigned r, int32_t k, const struct insn *insn)
{
	struct flow_value x = reg(s, r), v = any(insn, 6, 1);
	if (x.kind == FLOW_ANY && k > 0)
		v = (struct flow_value){ .kind = FLOW_LESS, .b = x.id, .max = (uint64_t)k - 1, .id = v.id };
	return v;
}

static struct flow_value shifted(const struct flow_state *s, uint32_t w, const struct insn *insn)
{
	struct flow_value x = reg(s, RT(w)), v = any(insn, 7, UINT64_MAX);
	uint64_t max = flow_known_max(s, &x);
	if (x.kind != FLOW_ANY)
		return x.kind == FLOW_CONST ? constant(x.a << SHIFT(w)) : made_of(insn, 7, UINT64_MAX, &x, NULL);
	v.id = mix(x.id, SHIFT(w) + 1000);
	if (max < UINT32_MAX)
		v.max = max << SHIFT(w);
	v.a = x.a;
	return v;
}

static bool special(struct flow_state *s, uint32_t w, const struct insn *insn, struct flow_value *v)
{
	struct flow_value x = reg(s, RS(w)), y = reg(s, RT(w));
	switch (FUNCT(w)) {
	case 0: *v = shifted(s, w, insn); return true;
	case 2: *v = any(insn, 8, UINT32_MAX >> SHIFT(w)); return true;
	case 32: case 33: *v = sum(s, x, y, insn); return true;
	case 37: *v = y.kind == FLOW_CONST && !y.a ? x : x.kind == FLOW_CONST && !x.a ? y : made_of(insn, 9, UINT64_MAX, &x, &y); return true;
	case 35: *v = made_of(insn, 10, UINT64_MAX, &x, &y); return true;
	case 43:			/* sltu with a bound in a register */
		*v = y.kind == FLOW_CONST && y.a && y.a < 1 << 20 && x.kind == FLOW_ANY ? less(s, RS(w), (int32_t)y.a, insn) : any(insn, 6, 1);
		return true;
	case 10: case 11: {		/* movz, movn */
		struct flow_value old = reg(s, RD(w));
		*v = made_of(insn, 13, UINT64_MAX, &x, &old);
		return true;
	}
	default: return false;
	}
}

/* One instruction that is no branch. */
static void one(struct flow_state *s, uint32_t w, const struct insn *insn)
{
	struct flow_value v;
	regset r, x;
	switch (OP(w)) {
	case OP_SPECIAL:
		if (FUNCT(w) == 12)
			break;
		if (special(s, w, insn, &v)) {
			set(s, RD(w), v);
			return;
		}
		break;
	case OP_ADDIU: set(s, RT(w), plus(s, RS(w), IMM(w), insn)); return;
	case OP_LUI: set(s, RT(w), constant(w << 16)); return;
	case OP_ORI:
		if (!RS(w)) {
			set(s, RT(w), constant(w & 0xffff));
			return;
		}
		break;
	case OP_SLTIU: set(s, RT(w), less(s, RS(w), IMM(w), insn)); return;
	case OP_ANDI: set(s, RT(w), any(insn, 12, w & 0xffff)); return;
	case 36: set(s, RT(w), narrow(s, w, insn, 0xff)); return;
	case 37: set(s, RT(w), narrow(s, w, insn, 0xffff)); return;
	case OP_LW: set(s, RT(w), load(s, w, insn)); return;
	case OP_SW: store(s, w, 4); return;
	case 40: store(s, w, 1); return;
	case 41: store(s, w, 2); return;
	case 42: case 46: case OP_SC: case 57: store(s, w, 4); break;
	case 61: store(s, w, 8); return;
	case OP_SPECIAL3:
		if (FUNCT(w) == 0) {		/* ext */
			set(s, RT(w), any(insn, 14, (UINT64_C(2) << RD(w)) - 1));
			return;
		}
		break;
	default: break;
	}
	if (!mips_word_uses(w, &r, &x))
		return;
	for (unsigned k = 1; k < 32; k++)
		if (x >> k & 1)
			set(s, k, any(insn, 60 + k, UINT64_MAX));
}

static void call(struct flow_state *s, const struct insn *insn)
{
	for (unsigned r = 1; r < 32; r++)
		if (CALL_KILLS >> r & 1)
			s->regs[r] = any(insn, 80 + r, UINT64_MAX);
	for (unsigned r = 1; r < 32; r++)
		if ((CALL_KILLS & ~(BIT(2) | BIT(3))) >> r & 1)
			s->regs[r].b = FLOW_NOTHING;
	s->epoch = mix(s->epoch, 2);
	slots_forget(s);
}

void mips_flow(struct flow_state *s, const uint8_t *p, const struct insn *insn, bool big)
{
	if (insn->len == 4) {
		one(s, mips_word(p, big), insn);
		if (insn->kind == INSN_SYSCALL)
			s->epoch = mix(s->epoch, 2);
		return;
	}
	if (insn->kind == INSN_BRANCH)		/* the slot belongs to the edges: a likely branch has it on one only */
		return;
	one(s, mips_word(p + 4, big), insn);
	if (insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT)
		call(s, insn);
}

static void learn(struct flow_state *s, uint32_t w, bool taken)
{
	if (OP(w) != OP_BEQ && OP(w) != OP_BNE && OP(w) != OP_BEQL && OP(w) != OP_BNEL)
		return;
	unsigned r = RS(w) ? RS(w) : RT(w);
	bool zero = (OP(w) == OP_BEQ || OP(w) == OP_BEQL) == taken;
	struct flow_value x = reg(s, r), y = reg(s, RS(w) ? RT(w) : RS(w));
	if (y.kind == FLOW_CONST && y.a == 0 && x.kind == FLOW_LESS && !zero)
		flow_learn(s, (uint32_t)x.b, x.max);
	else if (y.kind == FLOW_CONST && x.kind == FLOW_ANY && zero)
		flow_learn(s, x.id, y.a);
}

void mips_flow_edge(struct flow_state *s, const uint8_t *p, const struct insn *insn, bool taken, bool big)
{
	uint32_t w = mips_word(p, big);
	if (insn->kind != INSN_BRANCH)
		return;
	learn(s, w, taken);
	if (taken || mips_branch(w) != MIPS_LIKELY)
		one(s, mips_word(p + 4, big), insn);
}

enum flow_jump mips_flow_jump(const struct flow_state *s, const uint8_t *p, const struct insn *insn, struct flow_value *table, bool big)
{
	unsigned r = RS(mips_word(p, big));
	(void)insn;
	*table = reg(s, r);
	if (r == T9 && table->kind != FLOW_TARGET)
		return FLOW_JUMP_TAIL;
	return table->kind == FLOW_ANY || table->kind == FLOW_PLACE || table->kind == FLOW_LESS || table->kind == FLOW_FRAME ? FLOW_JUMP_UNKNOWN : FLOW_JUMP_TABLE;
}

static bool obtains(const struct flow_state *s, uint32_t w, struct flow_address *to)
{
	struct flow_value x = reg(s, RS(w));
	if (x.kind != FLOW_CONST || !RS(w) || !s->memory)
		return false;
	uint32_t a = (uint32_t)x.a + (uint32_t)IMM(w);
	if (OP(w) == OP_LW)
		return RT(w) != GP && s->memory->constant(s->memory->context, a, &to->text) && (to->text & 0xffff);
	to->text = a;
	return OP(w) == OP_ADDIU && !(x.a & 0xffff) && x.b == FROM_GOT && RT(w) != GP;
}

/* Is it the instruction's own address in t9 that one of these registers holds? */
static bool uses_own(const struct flow_state *s, uint32_t w)
{
	regset r, x;
	if (!mips_word_uses(w, &r, &x) || mips_branch(w) == MIPS_REGISTER || mips_branch(w) == MIPS_REGISTER_CALL)
		return false;
	if (OP(w) == OP_ADDIU && RS(w) == T9 && RT(w) == T9)
		return false;
	if ((OP(w) == OP_LWL || OP(w) == OP_LWR) && RS(w) != RT(w))	/* half of what the register had stays until the other half is loaded */
		r &= ~BIT(RT(w));
	for (unsigned k = 1; k < 32; k++)
		if ((r >> k & 1) && s->regs[k].kind == FLOW_CONST && s->regs[k].b == OWN)
			return true;
	return false;
}

bool mips_flow_address(const struct flow_state *s, const uint8_t *p, const struct insn *insn, struct flow_address *a, bool big)
{
	uint32_t w = mips_word(p, big), slot = insn->len == 8 ? mips_word(p + 4, big) : NOP;
	*a = (struct flow_address){ .own = uses_own(s, w) || uses_own(s, slot) };
	return obtains(s, insn->len == 8 ? slot : w, a);
}

void mips_flow_begin(struct flow_state *s, uint64_t at, bool entry)
{
	if (entry) {
		s->regs[T9] = constant(at);
		s->regs[T9].b = OWN;
		for (unsigned r = 1; r < 28; r++)
			if ((0xffff00u | BIT(24) | BIT(AT)) >> r & 1)
				s->regs[r].b = FLOW_NOTHING;
	}
	if (s->memory && s->memory->gp)
		s->regs[GP] = constant(s->memory->gp);
}
