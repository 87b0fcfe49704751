/* usage.h - keeps the counter files of a directory below the cap (struct counters_usage). */
#ifndef RUNTIME_USAGE_H
#define RUNTIME_USAGE_H
#include "formats/counters.h"
#include "runtime/system.h"

struct usage {
	struct counters_usage *shared;	/* NULL: no such file can be had here, so the directory is looked at each time */
	uint64_t limit;			/* units in all */
	uint32_t units;			/* that this file needs */
	int dir;
	bool taken;
};

/* Begins with a file of SIZE bytes in the directory, which may have LIMIT bytes; false: there is surely no room, and nothing is to
   be ended. */
bool usage_begin(struct usage *u, int dir, uint64_t size, uint64_t limit);
/* Takes the room.  The file must be in the directory and have its size: so whoever counts the directory anew while others are
   making their files may count one of them twice until the next time, but leaves none out. */
bool usage_take(struct usage *u);
/* Gives the room back unless the file was made. */
void usage_end(struct usage *u, bool made);
#endif
