/* count.c - MIPS counting code: 64 bits in two words, the high one touched once in 2^32 times.

   With a value that is not 0 the store of the low word stands in the delay slot of the branch over the rest.  What a signal handler
   counts of the same block between load and store is lost (and when that overflows, the carry is made twice): --atomic loses nothing.
   A signal in a delay slot comes back to the branch, which then decides on the same value again. */
#include "lib/machine/mips/mips.h"

enum { BY_GP, BY_RA, BY_KEPT_RA, BY_STACK, MAKING_GP, ON_BASE };

const char *const mips_count_form_names[COUNT_FORMS] = {
	"gp, two dead registers", "two dead registers and dead ra", "two dead registers, ra kept in one", "registers kept on the stack",
	"gp, made at the entry of a function that has none",
	"the base that the block before has left" };

enum { STACK = 16 };

static void w(struct mips_code *c, uint32_t word) { mips_w(c, word); }

static void load(struct mips_code *c, unsigned base, unsigned t, int32_t offset, bool gentle)
{
	w(c, mips_i(OP_LW, base, t, offset));
	if (gentle)
		w(c, NOP);
}

/* The increment itself; b + low is the address of the counter's low word, the high one lies STEP bytes behind it.  (Its own offset
   from b might not fit into 16 bits.) */
static void plain(struct mips_code *c, unsigned b, unsigned t, int32_t low, int32_t step, bool gentle, bool restore_ra)
{
	w(c, mips_i(OP_LW, b, t, low));
	if (restore_ra)
		w(c, mips_i(OP_LW, SP, RA, 8));
	else if (gentle)
		w(c, NOP);
	w(c, mips_i(OP_ADDIU, t, t, 1));
	w(c, mips_i(OP_BNE, t, ZERO, gentle ? 7 : 6));
	w(c, mips_i(OP_SW, b, t, low));
	w(c, mips_i(OP_ADDIU, b, b, step));
	load(c, b, t, low, gentle);
	w(c, mips_i(OP_ADDIU, t, t, 1));
	w(c, mips_i(OP_SW, b, t, low));
	w(c, mips_i(OP_ADDIU, b, b, -step));
}

/* sc stands in the delay slot of the branch to the carry: both ways store. */
static void atomic(struct mips_code *c, unsigned b, unsigned t, int32_t low, int32_t step, bool restore_ra)
{
	if (restore_ra)
		w(c, mips_i(OP_LW, SP, RA, 8));
	w(c, mips_i(OP_LL, b, t, low));
	w(c, mips_i(OP_ADDIU, t, t, 1));
	w(c, mips_i(OP_BEQ, t, ZERO, 5));
	w(c, mips_i(OP_SC, b, t, low));
	w(c, mips_i(OP_BNE, t, ZERO, 12));
	w(c, NOP);
	w(c, mips_i(OP_BEQ, ZERO, ZERO, -7));
	w(c, NOP);
	w(c, mips_i(OP_BEQ, t, ZERO, -9));		/* the carry */
	w(c, NOP);
	w(c, mips_i(OP_ADDIU, b, b, step));
	w(c, mips_i(OP_LL, b, t, low));
	w(c, mips_i(OP_ADDIU, t, t, 1));
	w(c, mips_i(OP_SC, b, t, low));
	w(c, mips_i(OP_BEQ, t, ZERO, -4));
	w(c, NOP);
	w(c, mips_i(OP_ADDIU, b, b, -step));
}

static void increment(struct mips_code *c, const struct count_how *how, unsigned b, unsigned t, int32_t low, bool restore_ra)
{
	int32_t step = c->big ? -4 : 4;
	if (how->atomic)
		atomic(c, b, t, low, step, restore_ra);
	else
		plain(c, b, t, low, step, how->gentle, restore_ra);
}

static void store(struct mips_code *c, unsigned t, int32_t at) { w(c, mips_i(OP_SW, SP, t, at)); }

static void write(struct mips_code *c, uint64_t counter, const struct count_how *how)
{
	uint64_t low = counter + (c->big ? 4 : 0);
	unsigned t = how->reg & 31, b = AT;
	uint32_t d;
	switch (how->form) {
	case MAKING_GP:
		w(c, mips_move(t, RA));
		d = (uint32_t)(how->gp - (c->at + 4 * c->n + 8));
		w(c, mips_i(OP_REGIMM, ZERO, 17, 1));
		w(c, mips_i(OP_LUI, 0, GP, (int32_t)mips_hi(d)));
		w(c, mips_i(OP_ADDIU, GP, GP, (int32_t)d));
		w(c, mips_r(33, GP, GP, RA));
		w(c, mips_move(RA, t));
		/* fall through */
	case BY_GP: case ON_BASE:
		d = (uint32_t)(low - how->gp);
		if (how->form == ON_BASE) {
			increment(c, how, b, t, (int16_t)d, false);
			break;
		}
		w(c, mips_i(OP_LUI, 0, b, (int32_t)mips_hi(d)));
		w(c, mips_r(33, b, b, GP));
		increment(c, how, b, t, (int16_t)d, false);
		break;
	case BY_RA: case BY_KEPT_RA:
		if (how->form == BY_KEPT_RA)
			w(c, mips_move(t, RA));
		d = (uint32_t)(low - (c->at + 4 * c->n + 8));
		w(c, mips_i(OP_REGIMM, ZERO, 17, 1));
		w(c, mips_i(OP_LUI, 0, b, (int32_t)mips_hi(d)));
		w(c, mips_r(33, b, b, RA));
		if (how->form == BY_KEPT_RA)
			w(c, mips_move(RA, t));
		increment(c, how, b, t, (int16_t)d, false);
		break;
	default:
		w(c, mips_i(OP_ADDIU, SP, SP, -STACK));
		store(c, RA, 8);
		store(c, AT, 0);
		d = (uint32_t)(low - (c->at + 4 * c->n + 8));
		w(c, mips_i(OP_REGIMM, ZERO, 17, 1));
		store(c, T0, 4);
		w(c, mips_i(OP_LUI, 0, AT, (int32_t)mips_hi(d)));
		w(c, mips_r(33, AT, AT, RA));
		increment(c, how, AT, T0, (int16_t)d, true);
		w(c, mips_i(OP_LW, SP, T0, 4));
		w(c, mips_i(OP_LW, SP, AT, 0));
		w(c, mips_i(OP_ADDIU, SP, SP, STACK));
	}
}

size_t mips_count_size(struct count_how how)
{
	struct mips_code c = { 0 };
	write(&c, 0, &how);
	return 4 * c.n;
}

void mips_count(uint8_t *out, uint64_t at, uint64_t counter, struct count_how how, bool big)
{
	struct mips_code c = { .out = out, .at = at, .big = big };
	write(&c, counter, &how);
}

struct count_how mips_count_plan(const struct count_where *where)
{
	struct count_how how = { .form = BY_STACK, .atomic = where->atomic, .gentle = where->gentle };
	regset t = where->dead & ~(BIT(ZERO) | BIT(AT) | BIT(K0) | BIT(K0 + 1) | BIT(GP) | BIT(SP) | BIT(RA));
	if (!(where->dead & BIT(AT)) || !t)
		return how;
	how.reg = (uint8_t)__builtin_ctzll(t);
	how.gp = where->gp;
	how.form = where->makes_gp ? MAKING_GP : where->gp && where->has_base ? ON_BASE : where->gp ? BY_GP : where->dead & BIT(RA) ? BY_RA : BY_KEPT_RA;
	return how;
}

uint32_t mips_count_base(uint64_t counter, uint64_t gp, bool big) { return mips_hi((uint32_t)(counter + (big ? 4 : 0) - gp)); }

unsigned mips_count_stack(struct count_how how, unsigned *from, unsigned *to)
{
	if (how.form != BY_STACK)
		return 0;
	*from = 4;
	*to = (unsigned)mips_count_size(how);
	return STACK;
}
