/* export.h - counts of objects for other programs. */
#ifndef PROF_REPORT_EXPORT_H
#define PROF_REPORT_EXPORT_H
#include "tools/prof-report/report.h"

/* For callgrind_annotate and kcachegrind: executed instructions by address and line; calls are not in it. */
void report_callgrind(struct report *r, FILE *f);
/* For genhtml: a tracefile of lcov, where there is debug information. */
void report_lcov(struct report *r, FILE *f);
/* A stack of object and function, with executed instructions. */
void report_folded_counts(struct report *r, FILE *f);
#endif
