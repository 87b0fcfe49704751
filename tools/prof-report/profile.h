/* profile.h - what the profile streams said: objects with their block counts, equal objects summed; runs of trace-compiled code.

   Row types join here: profile_row in profile.c sorts them by type.  An object with rows of type 32 or more is a run (run.h).
   A type that is not known is counted and reported, never an error. */
#ifndef PROF_REPORT_PROFILE_H
#define PROF_REPORT_PROFILE_H
#include <stdio.h>
#include "formats/profile.h"
#include "formats/stream.h"
#include "tools/prof-report/run.h"

struct profile_block {
	uint64_t address, count;
	uint32_t size;
	uint32_t insns;			/* filled in by view.c for executed blocks; 0: not known */
	uint32_t function;		/* index in the view's functions */
};
struct profile_entry { uint64_t address, count; };			/* entered by its old address */
struct profile_gap { uint64_t start, size; const char *why, *name, *kind; };	/* not counted */

struct profile_object {
	struct object_info info;
	VEC(struct profile_block) blocks;	/* ascending by address, then size; no two alike */
	VEC(struct profile_entry) entries;	/* ascending */
	VEC(struct profile_gap) gaps;		/* ascending */
	struct arena arena;
	struct run *run;			/* not NULL: it is one */
};

struct profile_skipped { char *path, *why; };

struct profile {
	VEC(struct profile_object *) objects;	/* in the order they came */
	VEC(struct profile_skipped) skipped;	/* loaded by a run, and not counted; no two alike */
	VEC(struct run *) runs;
	bool keep_samples;			/* of runs, one by one */
	uint64_t unknown_rows;
};

/* Adds the objects of one stream.  False after a message; what was whole up to there is in. */
bool profile_read(struct profile *p, FILE *f, const char *name);
void profile_free(struct profile *p);
/* Whether both are counts of one file (and one process, where these are kept apart). */
bool same_object(const struct object_info *a, const struct object_info *b);

/* Sums and products that stay at the largest number instead of wrapping. */
uint64_t add_sat(uint64_t a, uint64_t b);
uint64_t mul_sat(uint64_t a, uint64_t b);
#endif
