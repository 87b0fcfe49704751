/* process-fault.c - a library that is not profiled and crashes. */
void fault(void);
void fault(void) { __builtin_trap(); }
