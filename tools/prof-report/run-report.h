/* run-report.h - the tables of a run of trace-compiled code. */
#ifndef PROF_REPORT_RUN_REPORT_H
#define PROF_REPORT_RUN_REPORT_H
#include "tools/prof-report/report.h"

/* What is asked for; none: all tables but the samples. */
struct run_tables { bool lines, traces, samples; };

/* One section a run of the profile. */
void report_runs(struct report *r, const struct run_tables *wanted);
/* Folded stacks, as flame graphs are made of: outermost function first, then the samples. */
void report_folded(struct report *r, FILE *f);

/* run-tables.c */
void report_run_lines(struct report *r, const struct run *run);
void report_run_functions(struct report *r, const struct run *run);
void report_run_parts(struct report *r, const struct run *run);
void report_run_samples(struct report *r, const struct run *run);
#endif
