/* forks.h - processes whose forks nobody noticed. */
#ifndef COUNT_EXTRACT_FORKS_H
#define COUNT_EXTRACT_FORKS_H
#include "tools/count-extract/files.h"
#include "tools/count-extract/profiled.h"

/* Whether the process of the counter file may have forked and counted on in it with its child: it has no profiled C library, whose
   system calls would have noticed, and the object or the program calls for forks. */
bool forks_unseen(const struct profiled *p, const struct listing *l, const char *path);
#endif
