/* usage.h - keeps the counter files of a directory below the cap (struct counters_usage). */
#ifndef RUNTIME_USAGE_H
#define RUNTIME_USAGE_H
#include "formats/counters.h"
#include "runtime/system.h"

struct usage {
	struct counters_usage *shared;	/* NULL: no such file can be had here, so the directory is looked at each time */
	uint32_t units;			/* taken */
};

/* Takes room for a file of SIZE bytes in the directory; false: it would go above LIMIT bytes, and nothing is to be ended. */
bool usage_take(struct usage *u, int dir, uint64_t size, uint64_t limit);
/* Ends what usage_take began; gives the room back unless the file was made. */
void usage_end(struct usage *u, bool made);
#endif
