/* run.h - run directories, as so-run makes them. */
#ifndef COUNT_EXTRACT_RUN_H
#define COUNT_EXTRACT_RUN_H
#include "formats/run.h"
#include "formats/stream.h"

/* Whether the directory is one of a run: it has an index and no profiled objects, which lie elsewhere. */
bool run_is(const char *directory);
/* Writes an object without rows for each file that the run loaded and that did not count. */
void run_write_notes(struct stream_writer *w, const char *directory);
#endif
