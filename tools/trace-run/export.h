/* export.h - the live traces as perf reads them. */
#ifndef TRACE_RUN_EXPORT_H
#define TRACE_RUN_EXPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export_line { uint64_t address; const char *file; int32_t line; };

/* /tmp/perf-PID.map.  False after a message. */
bool export_perf_map(void);
/* PATH: %p in it stands for the process's number; a folder stands for jit-PID.dump in it. */
bool export_jitdump(const char *path);
void export_trace(uint64_t code, size_t size, const char *name, const struct export_line *lines, size_t n);
void export_flush(void);
void export_end(void);
/* A forked child: both belong to its parent. */
void export_detach(void);
/* Whether a jitdump wants lines. */
bool export_wants_lines(void), export_wants_names(void);
#endif
