/* prototypes.h - the functions of the script: which instruction of which one a bytecode address is. */
#ifndef TRACE_RUN_PROTOTYPES_H
#define TRACE_RUN_PROTOTYPES_H
#include "tools/trace-run/vm.h"

/* A place in a Lua function; prototype 0: not known. */
struct place { uint32_t prototype, position; };

/* Takes up a prototype that was just made, and writes its row. */
void prototypes_add(const struct vm_prototype *p);
/* The same for one that may be known already (its bytecode came from a file, say) and those in it. */
void prototypes_need(const struct vm_prototype *p);
/* From the signal handler only when nothing is being added (emit_held). */
struct place prototypes_at(const uint32_t *pc);
/* The bytecode that an address lies in.  False: it is not known. */
bool prototypes_bounds(const uint32_t *pc, const uint32_t **start, const uint32_t **end);
/* The prototype itself, or NULL; only for an address in one that is alive. */
const struct vm_prototype *prototypes_live(const uint32_t *pc);
/* Operand A of an instruction that is known.  It is a copy: the bytecode itself may be gone. */
uint8_t prototypes_operand(const uint32_t *pc);
#endif
