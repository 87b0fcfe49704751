/* index.h - which profiled object of a directory stands for which original (formats/run.h). */
#ifndef SO_RUN_INDEX_H
#define SO_RUN_INDEX_H
#include <stdbool.h>
#include <sys/stat.h>
#include "formats/run.h"

struct index { const struct run_index *x; bool kept; };	/* kept: the directory holds it as it is */

/* Looks at the directory (absolute), and only at files that the index there does not know yet.  False after a message. */
bool index_make(struct index *x, const char *directory);
/* The entry whose original is that file, or NULL. */
const struct run_entry *index_find(const struct index *x, const struct stat *st);
#endif
