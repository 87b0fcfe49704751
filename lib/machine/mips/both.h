/* both.h - one of the two machines: BIG, MACHINE and NAME say which.  Included by big.c and little.c. */
#include <elf.h>
#include "lib/machine/mips/mips.h"

static bool decode(const uint8_t *p, size_t n, uint64_t at, struct insn *insn) { return mips_decode(p, n, at, insn, BIG); }
static bool uses(const uint8_t *p, size_t n, regset *r, regset *x) { return mips_uses(p, n, r, x, BIG); }
static bool may_fork(const uint8_t *block, size_t n) { return mips_may_fork(block, n, BIG); }
static bool call_leaves(const uint8_t *block, size_t n, int32_t *offset) { return mips_call_leaves(block, n, offset, BIG); }
static bool jump_by_call_reg(const uint8_t *p) { return mips_jump_by_call_reg(p, BIG); }
static bool prologue(const uint8_t *p, size_t n, uint64_t at, struct prologue *q) { return mips_prologue(p, n, at, q, BIG); }
static void prologue_move(uint8_t *high, uint8_t *low, uint32_t d) { mips_prologue_move(high, low, d, BIG); }
static bool address_form(const uint8_t *p, const struct insn *insn, uint64_t text, bool *whole, int32_t *offset)
{
	return mips_address_form(p, insn, text, whole, offset, BIG);
}
static int makes_gp(const uint8_t *p, const struct insn *insn, int32_t slot) { return mips_makes_gp(p, insn, slot, BIG); }
static int32_t gp_slot(const uint8_t *p, size_t n) { return mips_gp_slot(p, n, BIG); }
static size_t rewrite(uint8_t *out, uint64_t at, const struct rewrite *w) { return mips_rewrite(out, at, w, BIG); }
static size_t join(uint8_t *out, uint64_t at, uint64_t target, bool far, regset dead) { return mips_join(out, at, target, far, dead, BIG); }
static size_t spring(uint8_t *out, uint64_t at, uint64_t target, uint64_t entry, bool by_register)
{
	return mips_spring(out, at, target, entry, by_register, BIG);
}
static void pad(uint8_t *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = 0;
}
static void trap(uint8_t *out, size_t n) { mips_trap(out, n, BIG); }
static void count(uint8_t *out, uint64_t at, uint64_t counter, struct count_how how) { mips_count(out, at, counter, how, BIG); }
static uint32_t count_base(uint64_t counter, uint64_t gp) { return mips_count_base(counter, gp, BIG); }
static void fork_check(uint8_t *out, uint64_t at, uint64_t alive, uint64_t stub) { mips_fork_check(out, at, alive, stub, BIG); }
static void fork_stub(uint8_t *out, uint64_t at, uint64_t common, uint64_t back) { mips_fork_stub(out, at, common, back, BIG); }
static void fork_common(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t child)
{
	mips_fork_common(out, at, private_page, header, child, BIG);
}
static void init_stub(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t init, uint64_t next)
{
	mips_init_stub(out, at, private_page, header, init, next, BIG);
}
static void flow(struct flow_state *s, const uint8_t *p, const struct insn *insn) { mips_flow(s, p, insn, BIG); }
static void flow_edge(struct flow_state *s, const uint8_t *p, const struct insn *insn, bool taken) { mips_flow_edge(s, p, insn, taken, BIG); }
static enum flow_jump flow_jump(const struct flow_state *s, const uint8_t *p, const struct insn *insn, struct flow_value *table)
{
	return mips_flow_jump(s, p, insn, table, BIG);
}
static bool flow_address(const struct flow_state *s, const uint8_t *p, const struct insn *insn, struct flow_address *a)
{
	return mips_flow_address(s, p, insn, a, BIG);
}

const struct machine MACHINE = {
	.name = NAME, .e_machine = EM_MIPS, .elf_class = ELFCLASS32, .elf_data = BIG ? ELFDATA2MSB : ELFDATA2LSB, .page = 65536, .word = 4,
	.through_gp = true, .short_reach = 131000,
	.relative = R_MIPS_REL32, .irelative = 128, .absolute = R_MIPS_32, .jump_slot = R_MIPS_JUMP_SLOT,
	.insn_align = 4, .spring_size = 20, .mark_size = 4, .regs = 32, .stack_reg = SP, .count_form_names = mips_count_form_names,
	.call_kills = BIT(AT) | BIT(2) | BIT(3) | 0xfff0u | BIT(24) | BIT(25) | BIT(RA),
	.call_uses = BIT(2) | BIT(3) | 0xf0u | BIT(15) | BIT(T9), .return_uses = BIT(2) | BIT(3),
	.always_live = BIT(ZERO) | BIT(K0) | BIT(K0 + 1) | BIT(GP) | BIT(SP), .callee_saved = 0xff0000u | BIT(FP), .gp_reg = BIT(GP), .call_reg = T9, .jump_reg = AT,
	.other_class = "MIPS n64 code: only o32 is handled", .refuse = mips_refuse, .gentle = mips_gentle,
	.decode = decode, .uses = uses, .rewrite = rewrite, .prologue = prologue, .prologue_move = prologue_move, .address_form = address_form, .makes_gp = makes_gp, .gp_slot = gp_slot,
	.call_leaves = call_leaves, .jump_by_call_reg = jump_by_call_reg, .spring = spring, .join = join,
	.count_size = mips_count_size, .count = count, .count_plan = mips_count_plan, .count_base = count_base, .count_stack = mips_count_stack, .pad = pad, .trap = trap,
	.fork_check_size = MIPS_FORK_CHECK, .fork_stub_size = MIPS_FORK_STUB, .fork_common_size = MIPS_FORK_COMMON, .init_stub_size = MIPS_INIT_STUB,
	.may_fork = may_fork, .fork_check = fork_check, .fork_stub = fork_stub, .fork_common = fork_common, .init_stub = init_stub,
	.runtime = &blob,
	.flow = flow, .flow_edge = flow_edge, .flow_jump = flow_jump, .flow_address = flow_address, .flow_begin = mips_flow_begin,
};
