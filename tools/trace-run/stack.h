/* stack.h - what a signal handler can tell of where Lua is, without following a pointer that may be stale. */
#ifndef TRACE_RUN_STACK_H
#define TRACE_RUN_STACK_H
#include <ucontext.h>
#include "tools/trace-run/emit.h"

/* The thread's native stack. */
void stack_init(void);
/* Fills in state, return address, C function and calls. */
void stack_look(struct sample *s, const ucontext_t *context, uint64_t code_low, uint64_t code_high);
#endif
