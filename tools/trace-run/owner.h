/* owner.h - whose the profile is: one process, one thread of it.

   A child that was made without the C library's fork, and a thread beside the VM, come through the same code. */
#ifndef TRACE_RUN_OWNER_H
#define TRACE_RUN_OWNER_H
#include <stdbool.h>
#include <stdint.h>

/* The calling thread runs the script. */
void owner_take(void);
bool owner_is_process(void), owner_is_thread(void);
/* CPU time of the thread that runs the script, whoever asks; ns. */
uint64_t owner_time(void);
#endif
