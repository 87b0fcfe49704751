/* quiet.c - in the place of lib/base/msg.c: a fuzz target makes millions of messages that nobody reads. */
#include "lib/base/msg.h"
#include <stdlib.h>

int msg_level;

void msg_init(const char *tool) { (void)tool; }
const char *msg_tool(void) { return "fuzz"; }
int msg_status(void) { return 0; }
void msg_error(const char *object, const char *format, ...) { (void)object, (void)format; }
void msg_warn(const char *object, const char *format, ...) { (void)object, (void)format; }
void msg_note(const char *object, const char *format, ...) { (void)object, (void)format; }
void msg_detail(const char *object, const char *format, ...) { (void)object, (void)format; }
/* A parser must say what is wrong and go back, not end the tool. */
void msg_die(const char *object, const char *format, ...) { (void)object, (void)format; abort(); }

/* Stands in for madvise where a target's files are memory of the allocator's, whose pages others share. */
int fuzz_no_advice(void *p, size_t n, int advice);
int fuzz_no_advice(void *p, size_t n, int advice)
{
	(void)p, (void)n, (void)advice;
	return 0;
}
