/* registry.h - which counter files a process has mapped, for a forked child that cannot read /proc/self/maps: in a root of its own,
   without a free descriptor. */
#ifndef RUNTIME_REGISTRY_H
#define RUNTIME_REGISTRY_H
#include "formats/counters.h"

/* To be called when the counter file is mapped at H. */
void registry_add(const struct counters_header *h);
/* The header at the next place of the list, where *PLACE begins with 0; NULL: no more.  It may be unmapped or anything else by now. */
struct counters_header *registry_next(unsigned *place);
#endif
