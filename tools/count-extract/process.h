/* process.h - counter files of one object by the processes that made them. */
#ifndef COUNT_EXTRACT_PROCESS_H
#define COUNT_EXTRACT_PROCESS_H
#include "tools/count-extract/write.h"

struct counter_files { char **v; size_t n, cap; };

/* Writes the object once for each process: those of one number and one program are one. */
void write_processes(struct stream_writer *w, struct profiled *p, const struct counter_files *files);
#endif
