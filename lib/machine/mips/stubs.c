/* stubs.c - MIPS code that calls the run-time code, which follows o32 and finds its own address by itself. */
#include "lib/machine/mips/mips.h"

static void w(struct mips_code *c, uint32_t word) { mips_w(c, word); }

/* bal to what follows: ra is the address behind the next instruction, which is given. */
static uint64_t locate(struct mips_code *c, uint32_t slot)
{
	uint64_t label = c->at + 4 * c->n + 8;
	w(c, mips_i(OP_REGIMM, ZERO, 17, 1));
	w(c, slot);
	return label;
}

static void address(struct mips_code *c, unsigned r, uint64_t label, uint64_t target)
{
	uint32_t d = (uint32_t)(target - label);
	w(c, mips_i(OP_LUI, 0, r, (int32_t)mips_hi(d)));
	w(c, mips_i(OP_ADDIU, r, r, (int32_t)d));
	w(c, mips_r(33, r, r, RA));
}

static void call(struct mips_code *c, unsigned r)
{
	w(c, mips_r(9, RA, r, 0));
	w(c, NOP);
}

/* Stands behind a system call, which on o32 leaves at, v1, t0 to t9, HI and LO undefined: so glibc tells the compiler
   (__SYSCALL_CLOBBERS of sysdeps/unix/sysv/linux/mips/mips32/sysdep.h: $1, $3, $8 to $15, $24, $25, hi, lo), and musl, too.  So at and
   t8 are free without asking; ra is kept in t8.  stub is fork_common: there are no stubs between. */
void mips_fork_check(uint8_t *out, uint64_t at, uint64_t alive, uint64_t stub, bool big)
{
	struct mips_code c = { .out = out, .at = at, .big = big };
	uint32_t d = (uint32_t)(alive + (big ? 4 : 0) - (at + 12));
	w(&c, mips_move(24, RA));
	locate(&c, mips_i(OP_LUI, 0, AT, (int32_t)mips_hi(d)));
	w(&c, mips_r(33, AT, AT, RA));
	w(&c, mips_i(OP_LW, AT, AT, (int32_t)d));
	w(&c, NOP);
	w(&c, mips_i(OP_BNE, AT, ZERO, 8));
	w(&c, NOP);
	uint64_t label = locate(&c, NOP);
	address(&c, AT, label, stub);
	call(&c, AT);
	w(&c, mips_move(RA, 24));
}

void mips_fork_stub(uint8_t *out, uint64_t at, uint64_t common, uint64_t back, bool big)
{
	(void)out, (void)at, (void)common, (void)back, (void)big;
}

#define SAVED (BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(7) | 0xff00u | BIT(24) | BIT(25) | BIT(GP) | BIT(RA))
enum { FRAME = 112 };

static void each_saved(struct mips_code *c, unsigned op)
{
	int32_t at = 24;
	for (unsigned r = 0; r < 32; r++, at += SAVED >> (r - 1) & 1 ? 4 : 0)
		if (SAVED >> r & 1)
			w(c, mips_i(op, SP, r, at));
}

void mips_fork_common(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t child, bool big)
{
	struct mips_code c = { .out = out, .at = at, .big = big };
	w(&c, mips_i(OP_ADDIU, SP, SP, -FRAME));
	each_saved(&c, OP_SW);
	w(&c, mips_r(16, AT, 0, 0));				/* mfhi */
	w(&c, mips_i(OP_SW, SP, AT, 16));
	w(&c, mips_r(18, AT, 0, 0));				/* mflo */
	w(&c, mips_i(OP_SW, SP, AT, 20));
	uint64_t label = locate(&c, NOP);
	address(&c, A0, label, private_page);
	address(&c, 5, label, header);
	address(&c, T9, label, child);
	call(&c, T9);
	w(&c, mips_i(OP_LW, SP, AT, 16));
	w(&c, NOP);
	w(&c, mips_r(17, 0, AT, 0));
	w(&c, mips_i(OP_LW, SP, AT, 20));
	w(&c, NOP);
	w(&c, mips_r(19, 0, AT, 0));
	each_saved(&c, OP_LW);
	w(&c, NOP);
	w(&c, mips_r(8, 0, RA, 0));
	w(&c, mips_i(OP_ADDIU, SP, SP, FRAME));
}

/* Keeps a0, a1, a2 (argc, argv, envp) and ra. */
void mips_init_stub(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t init, uint64_t next, bool big)
{
	struct mips_code c = { .out = out, .at = at, .big = big };
	w(&c, mips_i(OP_ADDIU, SP, SP, -40));
	w(&c, mips_i(OP_SW, SP, RA, 36));
	for (unsigned r = 0; r < 3; r++)
		w(&c, mips_i(OP_SW, SP, A0 + r, (int32_t)(16 + 4 * r)));
	uint64_t label = locate(&c, NOP);
	address(&c, A0, label, private_page);
	address(&c, 5, label, header);
	address(&c, T9, label, init);
	call(&c, T9);
	for (unsigned r = 0; r < 3; r++)
		w(&c, mips_i(OP_LW, SP, A0 + r, (int32_t)(16 + 4 * r)));
	label = locate(&c, NOP);
	address(&c, T9, label, next);
	w(&c, mips_i(OP_LW, SP, RA, 36));
	w(&c, NOP);
	w(&c, mips_r(8, 0, next ? T9 : RA, 0));
	w(&c, mips_i(OP_ADDIU, SP, SP, 40));
}
