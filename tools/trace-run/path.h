/* path.h - the way that a trace takes through the bytecode.

   A snapshot says where the interpreter goes on when a guard fails.  Behind a comparison that is the side that the trace does not take:
   the code that compares would be put on a line that is perhaps never executed.  So the bytecode between one snapshot and the next is
   followed, and such a snapshot's code is the comparison's. */
#ifndef TRACE_RUN_PATH_H
#define TRACE_RUN_PATH_H
#include <stddef.h>
#include <stdint.h>

enum { PATH_DEPTH = 64 };

struct path {
	const uint32_t *cursor, *at[1 + PATH_DEPTH];
	size_t n;
};

/* The next snapshot: its PC and the calls that are inlined there, innermost first.  Returns which instruction its code belongs to. */
const uint32_t *path_next(struct path *p, const uint32_t *const *at, size_t n);
#endif
