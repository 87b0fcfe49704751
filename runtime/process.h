/* process.h - what the run-time code learns about the process it is in. */
#ifndef RUNTIME_PROCESS_H
#define RUNTIME_PROCESS_H
#include "formats/counters.h"
#include "runtime/system.h"

struct setting {
	const char *name;	/* with the '=' */
	char *value;		/* size bytes; "" where the variable is not set or does not fit */
	size_t size;
};

/* Environment variables as the program was started with them: no C library is asked.  All "" in a privileged program.  ENVIRONMENT is
   where to look when there is no /proc; it may be anything. */
void process_settings(struct setting *settings, size_t count, const char *const *environment);
/* Fills in the header's part about the run, for a file that this process makes now. */
void process_fill(struct counters_header *h);
#endif
