/* write.c - MIPS instructions that a copy will not do for: branches, jumps through tables, text addresses. */
#include <string.h>
#include "lib/machine/mips/mips.h"

void mips_w(struct mips_code *c, uint32_t w)
{
	if (c->out)
		mips_put(c->out + 4 * c->n, w, c->big);
	c->n++;
}

uint32_t mips_i(unsigned op, unsigned rs, unsigned rt, int32_t imm) { return op << 26 | rs << 21 | rt << 16 | (imm & 0xffff); }
uint32_t mips_r(unsigned funct, unsigned rd, unsigned rs, unsigned rt) { return rs << 21 | rt << 16 | rd << 11 | funct; }

static uint64_t here(const struct mips_code *c) { return c->at + 4 * c->n; }

static void addu(struct mips_code *c, unsigned d, unsigned s, unsigned t) { mips_w(c, mips_r(33, d, s, t)); }
static void lui(struct mips_code *c, unsigned t, uint32_t v) { mips_w(c, mips_i(OP_LUI, 0, t, (int32_t)mips_hi(v))); }
static void addiu(struct mips_code *c, unsigned t, unsigned s, uint32_t v) { mips_w(c, mips_i(OP_ADDIU, s, t, (int32_t)v)); }

/* A branch word with the offset that leads from the next instruction's place to target. */
static uint32_t aimed(const struct mips_code *c, uint32_t w, uint64_t target)
{
	return (w & 0xffff0000) | ((uint32_t)((int64_t)(target - here(c) - 4) >> 2) & 0xffff);
}

#define BAL mips_i(OP_REGIMM, ZERO, 17, 0)
#define B mips_i(OP_BEQ, ZERO, ZERO, 0)

static unsigned any_of(regset set, regset not)
{
	set &= ~(not | BIT(ZERO) | BIT(K0) | BIT(K0 + 1) | BIT(GP) | BIT(SP) | BIT(RA));
	if (set & BIT(AT))
		return AT;
	return set ? (unsigned)__builtin_ctzll(set) : 0;
}

/* Goes anywhere: its own address by a call of what follows; ra is kept on the stack where it is live.  The slot is the last word. */
static void far_jump(struct mips_code *c, unsigned t, uint64_t target, bool keep_ra, bool gentle, uint32_t slot)
{
	if (keep_ra) {
		addiu(c, SP, SP, (uint32_t)-8);
		mips_w(c, mips_i(OP_SW, SP, RA, 4));
	}
	uint32_t d = (uint32_t)(target - here(c) - 8);
	mips_w(c, BAL + 1);
	lui(c, t, d);
	addu(c, t, t, RA);
	addiu(c, t, t, d);
	if (keep_ra) {
		mips_w(c, mips_i(OP_LW, SP, RA, 4));
		addiu(c, SP, SP, 8);
	}
	(void)gentle;			/* two instructions stand between the load and whoever reads ra */
	mips_w(c, mips_r(8, 0, t, 0));
	mips_w(c, slot);
}

/* The branch that is taken when w is not, and is not a likely one. */
static uint32_t inverted(uint32_t w)
{
	switch (OP(w)) {
	case OP_REGIMM: return (w & ~(2u << 16)) ^ 1u << 16;
	case OP_COP1: return (w & ~(2u << 16)) ^ 1u << 16;
	case OP_BEQL: case OP_BNEL: case OP_BLEZL: case OP_BGTZL: return (w & ~(16u << 26)) ^ 1u << 26;
	default: return w ^ 1u << 26;
	}
}

static bool copies_ra(const struct rewrite *w, regset touched) { return !(w->dead & BIT(RA)) || (touched & BIT(RA)); }

static bool far_branch(struct mips_code *c, const struct rewrite *w, uint32_t branch, uint32_t slot)
{
	regset r, x;
	mips_word_uses(slot, &r, &x);
	unsigned t = any_of(w->dead, r | x);
	if (w->insn.kind == INSN_CALL) {
		uint32_t d = (uint32_t)(w->target - here(c) - 8);
		t = any_of(w->dead | BIT(AT), r | x);
		mips_w(c, BAL + 1);
		lui(c, t, d);
		addu(c, t, t, RA);
		addiu(c, t, t, d);
		mips_w(c, mips_r(9, RA, t, 0));
		mips_w(c, slot);
		return t != 0;
	}
	bool ra = copies_ra(w, r | x);
	if (w->insn.kind == INSN_BRANCH) {
		bool likely = mips_branch(branch) == MIPS_LIKELY;
		unsigned jump = (ra ? 10 : 6);
		mips_w(c, (inverted(branch) & 0xffff0000) | (jump + 1 + likely));
		mips_w(c, likely ? NOP : slot);
		if (likely)
			mips_w(c, slot);
		slot = NOP;
	} else if ((r | x) & BIT(SP)) {		/* a slot that moves or reads the stack pointer: before it all */
		mips_w(c, slot);
		slot = NOP;
	}
	far_jump(c, t, w->target, ra, false, slot);
	return t != 0;
}

/* y = x + old low half, or the word of the GOT, becomes the new address. */
static bool address(struct mips_code *c, const struct rewrite *w, uint32_t word, regset free)
{
	unsigned y = RT(word), x = RS(word), t = y;
	uint32_t d;
	if (OP(word) == OP_LW) {
		d = (uint32_t)(w->address - w->gp);
		if (x == y)
			t = any_of(free, BIT(x));
	} else {
		d = (uint32_t)(w->address - (w->old_address - (uint32_t)IMM(word)));
		if (x == y)
			t = any_of(free, BIT(x));
	}
	if (OP(word) == OP_ADDIU && c->out && (int32_t)d == (int16_t)d) {	/* in reach: only the immediate changes */
		addiu(c, y, x, d);
		mips_w(c, NOP);
		mips_w(c, NOP);
		return true;
	}
	lui(c, t, d);
	addu(c, t, t, x);
	addiu(c, y, t, d);
	return t != 0;
}

static bool conflicts(uint32_t branch, uint32_t slot)
{
	regset r, x, r2, x2;
	mips_word_uses(branch, &r, &x);
	mips_word_uses(slot, &r2, &x2);
	return ((r & x2) | (x & (r2 | x2))) != 0;
}

/* The slot's instruction goes before the branch; what the branch reads of its result is read from a copy. */
static bool hoist(struct mips_code *c, const struct rewrite *w, uint32_t *branch, uint32_t slot)
{
	regset r, x, free = w->dead;
	if (mips_branch(*branch) == MIPS_LIKELY)
		return false;
	mips_word_uses(*branch, &r, &x);
	unsigned y = RT(slot);
	if (x & (BIT(RS(slot)) | BIT(y)))
		return false;
	if (conflicts(*branch, slot)) {
		unsigned t = any_of(free, r | BIT(RS(slot)) | BIT(y));
		bool rs = RS(*branch) == y, rt = (OP(*branch) == OP_BEQ || OP(*branch) == OP_BNE) && RT(*branch) == y;
		mips_w(c, mips_move(t, y));
		if (rs)
			*branch = (*branch & ~(31u << 21)) | t << 21;
		if (rt)
			*branch = (*branch & ~(31u << 16)) | t << 16;
		free &= ~BIT(t);
		if (!t)
			return false;
	}
	return address(c, w, slot, free & ~r);
}

static bool table_jump(struct mips_code *c, const struct rewrite *w, uint32_t branch, uint32_t slot)
{
	regset r, x;
	mips_word_uses(slot, &r, &x);
	unsigned t = any_of(w->dead, r | x | BIT(RS(branch)));
	lui(c, t, (uint32_t)w->places);
	addu(c, t, t, RS(branch));
	mips_w(c, mips_i(OP_LW, t, t, (int32_t)w->places));
	if (w->what & REWRITE_GENTLE)
		mips_w(c, NOP);
	addu(c, t, t, RS(branch));
	mips_w(c, mips_r(8, 0, t, 0));
	mips_w(c, slot);
	return t != 0;
}

static bool rewrite(struct mips_code *c, const struct rewrite *w)
{
	uint32_t branch = mips_word(w->p, c->big), slot;
	if (w->insn.len == 4)
		return address(c, w, branch, w->dead);
	slot = mips_word(w->p + 4, c->big);
	if (w->what & REWRITE_ADDRESS) {
		if (!hoist(c, w, &branch, slot))
			return false;
		slot = NOP;
	}
	if (w->what & REWRITE_TABLE)
		return table_jump(c, w, branch, slot);
	if (w->what & REWRITE_BY_REGISTER) {
		if (w->insn.kind == INSN_BRANCH) {
			bool likely = mips_branch(branch) == MIPS_LIKELY;
			mips_w(c, (inverted(branch) & 0xffff0000) | 3);
			mips_w(c, likely ? NOP : slot);
			mips_w(c, mips_r(8, 0, T9, 0));
			mips_w(c, likely ? slot : NOP);
			return true;
		}
		mips_w(c, w->insn.kind == INSN_CALL ? mips_r(9, RA, T9, 0) : mips_r(8, 0, T9, 0));
		mips_w(c, slot);
		return true;
	}
	if (w->what & REWRITE_FAR)
		return far_branch(c, w, branch, slot);
	mips_w(c, insn_is_direct(w->insn.kind) ? aimed(c, branch, w->target) : branch);
	mips_w(c, slot);
	return true;
}

size_t mips_rewrite(uint8_t *out, uint64_t at, const struct rewrite *w, bool big)
{
	struct mips_code c = { .out = out, .at = at, .big = big };
	return rewrite(&c, w) ? 4 * c.n : 0;
}

size_t mips_join(uint8_t *out, uint64_t at, uint64_t target, bool far, regset dead, bool big)
{
	struct mips_code c = { .out = out, .at = at, .big = big };
	if (far) {
		unsigned t = any_of(dead, 0);
		if (!t)
			return 0;
		far_jump(&c, t, target, !(dead & BIT(RA)), false, NOP);
	} else {
		mips_w(&c, aimed(&c, B, target));
		mips_w(&c, NOP);
	}
	return 4 * c.n;
}

/* A jump that replaces the first instructions of a function: relative to the call register, which holds the function's address, or to pc. */
size_t mips_spring(uint8_t *out, uint64_t at, uint64_t target, uint64_t entry, bool by_register, bool big)
{
	struct mips_code c = { .out = out, .at = at, .big = big };
	if (by_register) {
		uint32_t d = (uint32_t)(target - entry);
		lui(&c, AT, d);
		addu(&c, AT, AT, T9);
		addiu(&c, AT, AT, d);
		mips_w(&c, mips_r(8, 0, AT, 0));
		mips_w(&c, mips_move(T9, AT));
	} else {
		far_jump(&c, AT, target, true, false, NOP);
	}
	return 4 * c.n;
}

/* break: two of them, so that a trap in a delay slot is one too. */
void mips_trap(uint8_t *out, size_t n, bool big)
{
	for (size_t i = 0; i + 4 <= n; i += 4)
		mips_put(out + i, 0x0000000d, big);
}
