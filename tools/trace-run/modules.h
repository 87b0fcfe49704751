/* modules.h - the objects whose C code may be sampled, and where they lie. */
#ifndef TRACE_RUN_MODULES_H
#define TRACE_RUN_MODULES_H

/* Writes the rows of objects that were not there before. */
void modules_look(void);
#endif
