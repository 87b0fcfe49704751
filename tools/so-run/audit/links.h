/* links.h - what a program reads of the links in /proc that lead to its executable: the original, not the profiled one. */
#ifndef SO_RUN_AUDIT_LINKS_H
#define SO_RUN_AUDIT_LINKS_H
#include "formats/run.h"
#include "tools/so-run/audit/bind.h"

/* TWIN is what this process runs, or NULL, and ORIGINAL the path that it would run without us.  All stay where they are. */
void links_start(const struct run_index *x, const char *twin, const char *original);
/* Does nothing in a run that has no profiled executable. */
void links_bind(const struct bind *b);
#endif
