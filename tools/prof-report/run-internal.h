/* run-internal.h - what run.c and attribute.c share. */
#ifndef PROF_REPORT_RUN_INTERNAL_H
#define PROF_REPORT_RUN_INTERNAL_H
#include "tools/prof-report/run.h"

/* attribute.c: puts the sample of a row where it belongs. */
void run_sample(struct run *r, const struct stream_row *row);
/* The constructors of an object run before its row is written: samples that were nowhere are put where they belong now. */
void run_settle(struct run *r);
/* The live trace whose code has the address, or NULL. */
struct run_trace *run_trace_at(struct run *r, uint64_t address);
/* Index in alive of the first trace that ends behind the address. */
size_t run_alive_at(const struct run *r, uint64_t address);
#endif
