/* address.c - how MIPS code obtains addresses: gp from the function's own address, everything else from the GOT. */
#include "lib/machine/mips/mips.h"

struct half { uint32_t value, high, low; bool known; };

/* addu x, half, t9, by which gp is made. */
static bool adds_own(uint32_t w) { return OP(w) == OP_SPECIAL && FUNCT(w) == 33 && (RS(w) == T9 || RT(w) == T9); }

/* lui x, hi; addiu x, x, lo; addu gp, x, t9: as three instructions on end (gcc, and the patent's detector 41), or scheduled apart, the last
   into the slot of a branch (clang). */
bool mips_prologue(const uint8_t *p, size_t n, uint64_t at, struct prologue *q, bool big)
{
	struct half regs[32] = { 0 };
	uint32_t own = 0;		/* what the function added to t9 before */
	bool last = false;
	for (size_t i = 0; i + 4 <= n && i < PROLOGUE_REACH; i += 4) {
		uint32_t w = mips_word(p + i, big);
		regset r, x;
		if ((mips_branch(w) == MIPS_BRANCH || mips_branch(w) == MIPS_ALWAYS) && i + 8 <= n)
			w = mips_word(p + i + 4, big), last = true;
		if ((last && !adds_own(w)) || mips_branch(w) != MIPS_NONE || !mips_word_uses(w, &r, &x))
			return false;
		if (adds_own(w)) {
			const struct half *h = &regs[RS(w) == T9 ? RT(w) : RS(w)];
			if (!h->known || !h->low)
				return false;
			q->entry = (uint32_t)at;
			q->high = (uint32_t)at + h->high;
			q->low = (uint32_t)at + h->low;
			q->in_gp = RD(w) == GP;
			q->distance = h->value;
			q->gp = (uint32_t)at + own + h->value;
			return true;
		}
		if (OP(w) == OP_ADDIU && RS(w) == T9 && RT(w) == T9) {
			own += (uint32_t)IMM(w);
			continue;
		}
		if (x & BIT(T9))
			return false;
		if (OP(w) == OP_LUI)
			regs[RT(w)] = (struct half){ w << 16, (uint32_t)i, 0, true };
		else if (OP(w) == OP_ADDIU && RS(w) == RT(w) && regs[RT(w)].known && !regs[RT(w)].low)
			regs[RT(w)] = (struct half){ regs[RT(w)].value + (uint32_t)IMM(w), regs[RT(w)].high, (uint32_t)i, true };
		else
			for (unsigned k = 0; k < 32; k++)
				if (x & BIT(k))
					regs[k].known = false;
	}
	return false;
}

static void put_low(uint8_t *p, uint32_t v, bool big) { mips_put(p, (mips_word(p, big) & 0xffff0000) | (v & 0xffff), big); }

void mips_prologue_move(uint8_t *high, uint8_t *low, uint32_t distance, bool big)
{
	put_low(high, mips_hi(distance), big);
	put_low(low, distance, big);
}

bool mips_address_form(const uint8_t *p, const struct insn *insn, uint64_t text, bool *whole, int32_t *offset, bool big)
{
	uint32_t w = mips_word(p + (insn->len == 8 ? 4 : 0), big);
	*whole = OP(w) == OP_LW;
	*offset = IMM(w);
	if (*whole)
		return RT(w) != GP && RT(w) != ZERO;
	return OP(w) == OP_ADDIU && RS(w) != ZERO && RT(w) != ZERO && RT(w) != SP && !((text - (uint32_t)IMM(w)) & 0xffff);
}

/* gcc has one place, which every call is followed by a load of; clang may use the register for anything, and its places again. */
int32_t mips_gp_slot(const uint8_t *p, size_t n, bool big)
{
	int32_t slot = INT32_MIN;
	for (size_t i = 0; i + 4 <= n; i += 4) {
		uint32_t w = mips_word(p + i, big);
		if (OP(w) != OP_SW || RT(w) != GP || (RS(w) != SP && RS(w) != FP))
			continue;
		if (slot != INT32_MIN && slot != IMM(w))
			return INT32_MIN;
		slot = IMM(w);
	}
	for (size_t i = 0; slot != INT32_MIN && i + 4 <= n; i += 4) {
		uint32_t w = mips_word(p + i, big);
		int32_t size = OP(w) == 61 ? 8 : (OP(w) >= 40 && OP(w) <= 46) || OP(w) == 57 ? 4 : 0;
		bool kept = OP(w) == OP_SW && RT(w) == GP;
		if (size && !kept && (RS(w) == SP || RS(w) == FP) && IMM(w) < slot + 4 && IMM(w) + size > slot)
			return INT32_MIN;
	}
	return slot;
}

int mips_makes_gp(const uint8_t *p, const struct insn *insn, int32_t slot, bool big)
{
	int makes = 0;
	for (unsigned i = 0; i < insn->len; i += 4) {
		uint32_t w = mips_word(p + i, big);
		regset r, x;
		if (!mips_word_uses(w, &r, &x) || !(x & BIT(GP)))
			continue;
		bool saved = OP(w) == OP_LW && (RS(w) == SP || RS(w) == FP) && slot != INT32_MIN && IMM(w) == slot;
		makes = saved || adds_own(w) ? 1 : -1;
	}
	return makes;
}
