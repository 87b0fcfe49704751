/* write.h - from sums to a profile stream. */
#ifndef COUNT_EXTRACT_WRITE_H
#define COUNT_EXTRACT_WRITE_H
#include "formats/profile.h"
#include "tools/count-extract/profiled.h"

/* Writes the object map, its blocks, entries by old addresses, and what was not counted. */
void write_profile(struct stream_writer *w, struct profiled *p);
#endif
