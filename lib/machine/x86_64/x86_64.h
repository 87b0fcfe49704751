/* x86_64.h - the parts of the x86-64 back end. */
#ifndef MACHINE_X86_64_H
#define MACHINE_X86_64_H
#include <Zydis/Zydis.h>
#include "lib/machine/machine.h"

/* decode.c */
bool x86_64_decode(const uint8_t *p, size_t n, uint64_t at, struct insn *insn);
bool x86_64_uses(const uint8_t *p, size_t n, regset *reads, regset *writes);
bool x86_64_full(const uint8_t *p, size_t n, ZydisDecodedInstruction *in, ZydisDecodedOperand *op);
bool x86_64_may_fork(const uint8_t *block, size_t n);

/* flow.c */
void x86_64_flow(struct flow_state *s, const uint8_t *p, const struct insn *insn);
void x86_64_flow_edge(struct flow_state *s, const uint8_t *p, const struct insn *insn, bool taken);
enum flow_jump x86_64_flow_jump(const struct flow_state *s, const uint8_t *p, const struct insn *insn, struct flow_value *table);
#endif
