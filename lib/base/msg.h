/* msg.h - messages on standard error, in one form: "tool: object: what". */
#ifndef BASE_MSG_H
#define BASE_MSG_H
#include <stdbool.h>

/* 0: errors only (-q), 1: errors, warnings and notes, 2: also what msg_detail says (-v). */
extern int msg_level;

/* Names the tool in all later messages and gives SIGPIPE its default action (a reader that left is not an error). */
void msg_init(const char *tool);
const char *msg_tool(void);

/* Prints "tool: object: text"; object may be NULL.  A format that ends in ':' gets strerror(errno) added.
   msg_error makes msg_status return 1; msg_warn and msg_note do not. */
void msg_error(const char *object, const char *format, ...) __attribute__((format(printf, 2, 3)));
void msg_warn(const char *object, const char *format, ...) __attribute__((format(printf, 2, 3)));
void msg_note(const char *object, const char *format, ...) __attribute__((format(printf, 2, 3)));
void msg_detail(const char *object, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like msg_error, then exits with 1; temporary output files are removed (out.h). */
_Noreturn void msg_die(const char *object, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 1 when msg_error was called, else 0: a tool's exit status. */
int msg_status(void);
#endif
