/* report.h - the parts of a report and what they share. */
#ifndef PROF_REPORT_REPORT_H
#define PROF_REPORT_REPORT_H
#include "lib/base/opt.h"
#include "tools/prof-report/table.h"
#include "tools/prof-report/view.h"

struct report {
	struct page page;
	struct profile profile;
	struct view *views;		/* one an object of the profile, in its order */
	size_t count;
	uint64_t insns, executions, blocks, blocks_run, bytes, bytes_run, gap_bytes;	/* of all objects */
	struct opt_list objects, functions, sources;	/* globs; files to annotate */
	uint64_t rows;			/* most rows a table */
};

/* Opens a view of each object of the profile. */
void report_open(struct report *r);
/* Sums over them. */
void report_sum(struct report *r);
void report_close(struct report *r);

/* A thing to be ranked: item INDEX of view VIEW. */
struct rank { uint64_t key, second; uint32_t view, index; };
struct ranking { VEC(struct rank) v; };
void ranking_sort(struct ranking *r);		/* greatest key first, then greatest second, then as they came */
/* How many rows of n a table shows. */
size_t report_rows(const struct report *r, size_t n);

bool report_wants_object(const struct report *r, const struct view *v);
bool report_wants_name(const struct report *r, const char *name);		/* of a Lua function */
bool report_wants_function(const struct report *r, const struct function *f);	/* f may be NULL */

/* report.c: the tables of what ran */
void report_summary(struct report *r);
void report_objects(struct report *r);
void report_functions(struct report *r);
void report_blocks(struct report *r);
void report_instructions(struct report *r);
/* missing.c: what did not run or was not counted */
void report_coverage(struct report *r);
void report_never_functions(struct report *r);
void report_never_blocks(struct report *r);
void report_not_counted(struct report *r, bool ranges);
void report_old_entries(struct report *r);
void report_skipped(struct report *r);		/* and threads that plain counting may have cost */
/* diff.c: what changed from a to b */
void report_diff(struct report *a, struct report *b);
/* top.c: what runs now in a program that is running, from the directories of its counter files, every so many seconds, so often */
struct top { const char *every, *times; char **directories; int count; };
void report_top(struct report *r, const struct top *top, FILE *f);
/* source.c */
void report_lines(struct report *r);
void report_never_lines(struct report *r);
void report_annotated(struct report *r);
/* The columns of a block that tell where it is: size, address, object, function and offset, source line. */
void report_block_place(struct table *t, const struct view *v, const struct profile_block *b);
#endif
