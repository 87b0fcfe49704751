/* stack.h - what the kernel put on the stack of a new process: arguments, environment, auxiliary vector.  Needs no /proc. */
#ifndef SO_RUN_AUDIT_STACK_H
#define SO_RUN_AUDIT_STACK_H
#include <stdbool.h>
#include <stdint.h>

enum { AUX_PHDR = 3, AUX_PHENT = 4, AUX_PHNUM = 5, AUX_BASE = 7, AUX_SECURE = 23, AUX_EXECFN = 31 };

struct stack { char **argv, **environment; const uintptr_t *auxiliary; };

/* To be called on the stack of the first thread, before the program runs. */
bool stack_find(struct stack *s);
uintptr_t stack_auxiliary(const struct stack *s, uintptr_t type);
/* The place of a variable in the environment, and where its value begins; NULL: not set, or empty. */
char **stack_variable(const struct stack *s, const char *name, char **value);
#endif
