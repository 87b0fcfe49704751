/* progress.h - a progress bar on standard error: only on a terminal, only after two seconds. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H
#include <stdint.h>

void progress_begin(const char *what, uint64_t total);
void progress_at(uint64_t done);	/* cheap: looks at the clock every few thousand calls at the most */
void progress_end(void);		/* wipes the bar */
void progress_hide(void);		/* wipes it until the next step: msg.c calls this before a message */
#endif
