/* source.h - counts by source line.

   A line's count is, for each function that has code of it, the largest count of the blocks where one of the line's statements begins
   (rows of the line table marked is_stmt; all rows when it has none such), added up over the functions: what gcov shows for
   code that is not inlined twice into one function.  Its instructions are those executed of all its rows. */
#ifndef PROF_REPORT_SOURCE_H
#define PROF_REPORT_SOURCE_H
#include "tools/prof-report/report.h"

struct source_line {
	uint32_t file, line;		/* file: a number of lines.h */
	uint32_t function;		/* where most of its instructions were executed, or NO_FUNCTION */
	bool uncounted;			/* all its code stayed where it is not counted */
	uint64_t count, insns;
};
struct source_lines { VEC(struct source_line) v; };

/* The lines of the view's object, ascending by file and line; of functions the report wants when r is not NULL. */
struct source_lines source_fold(const struct report *r, struct view *v);
/* Lines with counted code, and how many of them were executed; 0 without debug information. */
void source_coverage(struct view *v, size_t *lines, size_t *lines_run);
void source_free(struct source *s);
#endif
