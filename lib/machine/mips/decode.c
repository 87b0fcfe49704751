/* decode.c - MIPS o32 instructions, up to MIPS32 release 5. */
#include <elf.h>
#include "lib/machine/mips/mips.h"

/* Of e_flags. */
#define E_ARCH 0xf0000000u
#define E_ARCH_32R6 0x90000000u
#define E_ARCH_64R6 0xa0000000u
enum { E_ABI2 = 0x20, E_ABI = 0xf000, E_ABI_O32 = 0x1000, E_ASE_MICROMIPS = 0x02000000, E_ASE_M16 = 0x04000000 };

const char *mips_refuse(uint32_t f)
{
	if (f & E_ABI2)
		return "MIPS n32 code: only o32 is handled";
	if ((f & E_ABI) && (f & E_ABI) != E_ABI_O32)
		return "MIPS code of another ABI than o32";
	if (f & E_ASE_MICROMIPS)
		return "microMIPS code is not handled";
	if (f & E_ASE_M16)
		return "MIPS16 code is not handled";
	if ((f & E_ARCH) == E_ARCH_32R6 || (f & E_ARCH) == E_ARCH_64R6)
		return "MIPS release 6 code is not handled";
	return NULL;
}

/* Only MIPS I has a slot behind a load in which the value is not there yet. */
bool mips_gentle(uint32_t f) { return (f & E_ARCH) == 0; }

enum mips_branch mips_branch(uint32_t w)
{
	switch (OP(w)) {
	case OP_SPECIAL:
		if (FUNCT(w) == 8)
			return MIPS_REGISTER;
		return FUNCT(w) != 9 ? MIPS_NONE : RD(w) == RA ? MIPS_REGISTER_CALL : MIPS_BAD;
	case OP_REGIMM:
		switch (RT(w)) {
		case 0: case 1: return RT(w) == 1 && RS(w) == ZERO ? MIPS_ALWAYS : MIPS_BRANCH;
		case 2: case 3: return MIPS_LIKELY;
		case 16: case 18: case 19: return MIPS_BAD;
		case 17: return RS(w) == ZERO ? MIPS_CALL : MIPS_BAD;
		}
		return MIPS_NONE;
	case OP_BEQ: return RS(w) == RT(w) ? MIPS_ALWAYS : MIPS_BRANCH;
	case OP_BLEZ: return RS(w) == ZERO ? MIPS_ALWAYS : MIPS_BRANCH;
	case OP_BNE: case OP_BGTZ: return MIPS_BRANCH;
	case OP_BEQL: return RS(w) == RT(w) ? MIPS_BAD : MIPS_LIKELY;
	case OP_BNEL: case OP_BLEZL: case OP_BGTZL: return MIPS_LIKELY;
	case OP_COP1: return RS(w) != 8 ? MIPS_NONE : RT(w) & 2 ? MIPS_LIKELY : MIPS_BRANCH;
	case OP_J: case OP_JAL: return MIPS_BAD;	/* to an absolute address */
	default: return MIPS_NONE;
	}
}

static bool special_uses(uint32_t w, regset *r, regset *x)
{
	regset s = BIT(RS(w)), t = BIT(RT(w)), d = BIT(RD(w));
	switch (FUNCT(w)) {
	case 0: case 2: case 3: *r = t; *x = d; return true;
	case 4: case 6: case 7: *r = s | t; *x = d; return true;
	case 1: *r = s | d; return true;				/* movf, movt: may keep rd */
	case 10: case 11: *r = s | t | d; return true;			/* movz, movn */
	case 8: *r = s; return true;
	case 9: *r = s; *x = d; return true;
	case 12: *r = BIT(V0) | BIT(A0) | BIT(5) | BIT(6) | BIT(7) | BIT(SP) | BIT(8) | BIT(9); *x = BIT(V0) | BIT(7); return true;
	case 13: case 15: return true;
	case 16: case 18: *x = d; return true;
	case 17: case 19: *r = s; return true;
	case 24: case 25: case 26: case 27: *r = s | t; return true;
	case 32: case 33: case 34: case 35: case 36: case 37: case 38: case 39: case 42: case 43: *r = s | t; *x = d; return true;
	case 48: case 49: case 50: case 51: case 52: case 54: *r = s | t; return true;	/* conditional traps */
	default: return false;
	}
}

static bool cop1_uses(uint32_t w, regset *r, regset *x)
{
	switch (RS(w)) {
	case 0: case 2: case 3: *x = BIT(RT(w)); return true;
	case 4: case 6: case 7: *r = BIT(RT(w)); return true;
	case 8: case 20: case 21: case 22: return true;
	case 16: case 17:
		if (FUNCT(w) == 18 || FUNCT(w) == 19)		/* movz.fmt, movn.fmt */
			*r = BIT(RT(w));
		return true;
	default: return false;
	}
}

static bool cop1x_uses(uint32_t w, regset *r)
{
	unsigned f = FUNCT(w);
	if (f < 16)		/* indexed loads and stores, prefx */
		*r = BIT(RS(w)) | BIT(RT(w));
	else if (f == 30)	/* alnv.ps */
		*r = BIT(RS(w));
	return true;
}

static bool special2_uses(uint32_t w, regset *r, regset *x)
{
	switch (FUNCT(w)) {
	case 0: case 1: case 4: case 5: *r = BIT(RS(w)) | BIT(RT(w)); return true;
	case 2: *r = BIT(RS(w)) | BIT(RT(w)); *x = BIT(RD(w)); return true;
	case 32: case 33: *r = BIT(RS(w)); *x = BIT(RD(w)); return true;
	default: return false;
	}
}

static bool special3_uses(uint32_t w, regset *r, regset *x)
{
	switch (FUNCT(w)) {
	case 0: *r = BIT(RS(w)); *x = BIT(RT(w)); return true;			/* ext */
	case 4: *r = BIT(RS(w)) | BIT(RT(w)); *x = BIT(RT(w)); return true;	/* ins */
	case 32: *r = BIT(RT(w)); *x = BIT(RD(w)); return true;			/* seb, seh, wsbh */
	case 59: *x = BIT(RT(w)); return true;					/* rdhwr */
	default: return false;
	}
}

static bool regimm_uses(uint32_t w, regset *r, regset *x)
{
	unsigned t = RT(w);
	if (t == 17)
		*x = BIT(RA);
	if (t <= 3 || t == 17 || (t >= 8 && t <= 14 && t != 13) || t == 31)
		*r = BIT(RS(w));
	return *r != 0;
}

bool mips_word_uses(uint32_t w, regset *r, regset *x)
{
	regset s = BIT(RS(w)), t = BIT(RT(w));
	bool known = true;
	*r = *x = 0;
	switch (OP(w)) {
	case OP_SPECIAL: known = special_uses(w, r, x); break;
	case OP_REGIMM: known = regimm_uses(w, r, x); break;
	case OP_BEQ: case OP_BNE: case OP_BEQL: case OP_BNEL: *r = s | t; break;
	case OP_BLEZ: case OP_BGTZ: case OP_BLEZL: case OP_BGTZL: *r = s; break;
	case OP_ADDI: case OP_ADDIU: case OP_SLTI: case OP_SLTIU: case OP_ANDI: case OP_ORI: case OP_XORI: *r = s; *x = t; break;
	case OP_LUI: *x = t; break;
	case OP_COP1: known = cop1_uses(w, r, x); break;
	case OP_COP1X: known = cop1x_uses(w, r); break;
	case OP_SPECIAL2: known = special2_uses(w, r, x); break;
	case OP_SPECIAL3: known = special3_uses(w, r, x); break;
	case 32: case 33: case 35: case 36: case 37: case OP_LL: *r = s; *x = t; break;
	case 34: case 38: *r = s | t; *x = t; break;				/* lwl, lwr */
	case 40: case 41: case 42: case 43: case 46: *r = s | t; break;
	case OP_SC: *r = s | t; *x = t; break;
	case 47: case 49: case 51: case 53: case 57: case 61: *r = s; break;	/* cache, pref, floating-point loads and stores */
	default: known = false;
	}
	*r &= ~BIT(ZERO);
	*x &= ~BIT(ZERO);
	return known;
}

static bool likely(uint32_t w) { return mips_branch(w) == MIPS_LIKELY; }

static unsigned kind_of(uint32_t w, enum mips_branch b)
{
	switch (b) {
	case MIPS_BRANCH: case MIPS_LIKELY: return INSN_BRANCH;
	case MIPS_ALWAYS: return INSN_JUMP;
	case MIPS_CALL: return INSN_CALL;
	case MIPS_REGISTER_CALL: return INSN_CALL_INDIRECT;
	case MIPS_REGISTER: return RS(w) == RA ? INSN_RETURN : INSN_JUMP_INDIRECT;
	default: break;
	}
	if (w == NOP)
		return INSN_NOP;
	return OP(w) != OP_SPECIAL ? INSN_OTHER : FUNCT(w) == 12 ? INSN_SYSCALL : FUNCT(w) == 13 ? INSN_TRAP : INSN_OTHER;
}

static unsigned link_flags(uint32_t w) { return OP(w) == OP_LL ? INSN_LINK_LOAD : OP(w) == OP_SC ? INSN_LINK_STORE | INSN_MARK : 0; }

bool mips_decode(const uint8_t *p, size_t n, uint64_t at, struct insn *insn, bool big)
{
	regset r, x;
	if (n < 4 || at & 3)
		return false;
	uint32_t w = mips_word(p, big), slot;
	enum mips_branch b = mips_branch(w);
	if (b == MIPS_BAD || !mips_word_uses(w, &r, &x))
		return false;
	*insn = (struct insn){ .at = at, .len = 4, .kind = (uint8_t)kind_of(w, b), .flags = (uint8_t)link_flags(w) };
	if (b == MIPS_NONE)
		return true;
	if (n < 8)
		return false;
	slot = mips_word(p + 4, big);
	if (mips_branch(slot) != MIPS_NONE || !mips_word_uses(slot, &r, &x) || (OP(slot) == OP_SPECIAL && (FUNCT(slot) == 12 || FUNCT(slot) == 13)))
		return false;
	insn->len = 8;
	insn->flags |= link_flags(slot);
	if (insn_is_direct(insn->kind))
		insn->target = (uint32_t)(at + 4 + (uint32_t)(IMM(w) * 4));
	return true;
}

bool mips_uses(const uint8_t *p, size_t n, regset *reads, regset *writes, bool big)
{
	uint32_t w = mips_word(p, big);
	regset r, x;
	if (!mips_word_uses(w, reads, writes))
		return false;
	if (n < 8 || mips_branch(w) == MIPS_NONE)
		return true;
	if (!mips_word_uses(mips_word(p + 4, big), &r, &x))
		return false;
	*reads |= r & ~*writes;
	if (!likely(w))			/* else the slot runs only when the branch is taken */
		*writes |= x;
	return true;
}

bool mips_may_fork(const uint8_t *block, size_t n, bool big)
{
	int32_t number = -1;
	for (size_t i = 0; i + 4 <= n; i += 4) {
		uint32_t w = mips_word(block + i, big);
		regset r, x;
		if (OP(w) == OP_ADDIU && RS(w) == ZERO && RT(w) == V0)
			number = IMM(w);
		else if (mips_word_uses(w, &r, &x) && (x & BIT(V0)) && FUNCT(w) != 12)
			number = -1;
	}
	return number == -1 || number == 4002 || number == 4120 || number == 4435;	/* fork, clone, clone3 */
}

/* The call register's last value in the block: a load from beyond the stack is a pointer, or a word of the GOT. */
bool mips_call_leaves(const uint8_t *block, size_t n, int32_t *offset, bool big)
{
	for (size_t i = n - 8; i >= 4; i -= 4) {
		uint32_t w = mips_word(block + i - 4, big);
		regset r, x;
		if (!mips_word_uses(w, &r, &x))
			return false;
		if (!(x & BIT(T9)))
			continue;
		*offset = RS(w) == GP ? IMM(w) : INT32_MAX;
		return OP(w) == OP_LW && RS(w) != SP && RS(w) != FP;
	}
	return false;
}

bool mips_jump_by_call_reg(const uint8_t *p, bool big) { return RS(mips_word(p, big)) == T9; }
