/* mips.h - the parts of the MIPS o32 back end.  What depends on the byte order takes it as its last argument; both.h makes of
   that the functions of the two machines.

   A branch and its delay slot are one instruction of 8 bytes here: nothing jumps into delay slots. */
#ifndef MACHINE_MIPS_H
#define MACHINE_MIPS_H
#include "lib/machine/machine.h"

enum { ZERO = 0, AT = 1, V0 = 2, A0 = 4, T0 = 8, T9 = 25, K0 = 26, GP = 28, SP = 29, FP = 30, RA = 31 };
enum { OP_SPECIAL, OP_REGIMM, OP_J, OP_JAL, OP_BEQ, OP_BNE, OP_BLEZ, OP_BGTZ, OP_ADDI, OP_ADDIU, OP_SLTI, OP_SLTIU, OP_ANDI, OP_ORI,
       OP_XORI, OP_LUI, OP_COP1 = 17, OP_COP1X = 19, OP_BEQL, OP_BNEL, OP_BLEZL, OP_BGTZL, OP_SPECIAL2 = 28, OP_SPECIAL3 = 31,
       OP_LWL = 34, OP_LW, OP_LWR = 38, OP_SW = 43, OP_LL = 48, OP_SC = 56 };
#define OP(w) ((w) >> 26)
#define RS(w) ((w) >> 21 & 31)
#define RT(w) ((w) >> 16 & 31)
#define RD(w) ((w) >> 11 & 31)
#define SHIFT(w) ((w) >> 6 & 31)
#define FUNCT(w) ((w) & 63)
#define IMM(w) ((int32_t)(int16_t)(w))
#define BIT(r) ((regset)1 << (r))
#define NOP 0u

static inline uint32_t mips_word(const uint8_t *p, bool big)
{
	return big ? (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3] : (uint32_t)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
}

static inline void mips_put(uint8_t *p, uint32_t w, bool big)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = w >> 8 * (big ? 3 - i : i);
}

/* decode.c */
enum mips_branch { MIPS_NONE, MIPS_BRANCH, MIPS_LIKELY, MIPS_ALWAYS, MIPS_CALL, MIPS_REGISTER, MIPS_REGISTER_CALL, MIPS_BAD };
enum mips_branch mips_branch(uint32_t w);
bool mips_word_uses(uint32_t w, regset *reads, regset *writes);	/* false: not an instruction that is known */
bool mips_decode(const uint8_t *p, size_t n, uint64_t at, struct insn *insn, bool big);
bool mips_uses(const uint8_t *p, size_t n, regset *reads, regset *writes, bool big);
bool mips_may_fork(const uint8_t *block, size_t n, bool big);
bool mips_call_leaves(const uint8_t *block, size_t n, int32_t *offset, bool big);
bool mips_jump_by_call_reg(const uint8_t *p, bool big);
const char *mips_refuse(uint32_t e_flags);
bool mips_gentle(uint32_t e_flags);

/* address.c: gp prologues, references to text */
bool mips_prologue(const uint8_t *p, size_t n, uint64_t at, struct prologue *prologue, bool big);
void mips_prologue_move(uint8_t *high, uint8_t *low, uint32_t distance, bool big);
int mips_makes_gp(const uint8_t *p, const struct insn *insn, int32_t slot, bool big);
int32_t mips_gp_slot(const uint8_t *p, size_t n, bool big);
bool mips_address_form(const uint8_t *p, const struct insn *insn, uint64_t text, bool *whole, int32_t *offset, bool big);

/* write.c */
struct mips_code { uint8_t *out; uint64_t at; unsigned n; bool big; };
size_t mips_rewrite(uint8_t *out, uint64_t at, const struct rewrite *w, bool big);
size_t mips_join(uint8_t *out, uint64_t at, uint64_t target, bool far, regset dead, bool big);
size_t mips_spring(uint8_t *out, uint64_t at, uint64_t target, uint64_t entry, bool by_register, bool big);
void mips_trap(uint8_t *out, size_t n, bool big);
void mips_w(struct mips_code *c, uint32_t w);
uint32_t mips_i(unsigned op, unsigned rs, unsigned rt, int32_t imm);
uint32_t mips_r(unsigned funct, unsigned rd, unsigned rs, unsigned rt);
static inline uint32_t mips_move(unsigned to, unsigned from) { return mips_r(33, to, from, ZERO); }
static inline uint32_t mips_hi(uint32_t v) { return (v + 0x8000) >> 16; }

/* count.c */
size_t mips_count_size(struct count_how how);
void mips_count(uint8_t *out, uint64_t at, uint64_t counter, struct count_how how, bool big);
uint32_t mips_count_base(uint64_t counter, uint64_t gp, bool big);
struct count_how mips_count_plan(const struct count_where *where);
unsigned mips_count_stack(struct count_how how, unsigned *from, unsigned *to);
extern const char *const mips_count_form_names[COUNT_FORMS];

/* stubs.c: calls of the run-time code */
enum { MIPS_FORK_CHECK = 64, MIPS_FORK_STUB = 0, MIPS_FORK_COMMON = 296, MIPS_INIT_STUB = 136 };
void mips_fork_check(uint8_t *out, uint64_t at, uint64_t alive, uint64_t stub, bool big);
void mips_fork_stub(uint8_t *out, uint64_t at, uint64_t common, uint64_t back, bool big);
void mips_fork_common(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t child, bool big);
void mips_init_stub(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t init, uint64_t next, bool big);

/* flow.c */
void mips_flow(struct flow_state *s, const uint8_t *p, const struct insn *insn, bool big);
void mips_flow_edge(struct flow_state *s, const uint8_t *p, const struct insn *insn, bool taken, bool big);
enum flow_jump mips_flow_jump(const struct flow_state *s, const uint8_t *p, const struct insn *insn, struct flow_value *table, bool big);
bool mips_flow_address(const struct flow_state *s, const uint8_t *p, const struct insn *insn, struct flow_address *a, bool big);
void mips_flow_begin(struct flow_state *s, uint64_t at, bool entry);
#endif
