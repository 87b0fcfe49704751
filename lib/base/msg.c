/* msg.c - messages on standard error. */
#include "lib/base/msg.h"
#include "lib/base/progress.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int msg_level = 1;
static const char *tool_name = "soprof";
static int status;

void msg_init(const char *tool)
{
	tool_name = tool;
	signal(SIGPIPE, SIG_DFL);
}

const char *msg_tool(void)
{
	return tool_name;
}

int msg_status(void)
{
	return status;
}

/* Appends to a line of cap bytes; what does not fit is cut. */
static size_t add(char *line, size_t n, size_t cap, const char *s)
{
	size_t len = strlen(s), room = cap - n;

	if (len > room)
		len = room;
	memcpy(line + n, s, len);
	return n + len;
}

/* File names may hold anything; a message stays one line and does not steer the terminal. */
static void defuse(char *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
}

static void say(const char *object, const char *format, va_list ap)
{
	char text[4096], line[8192];
	int error = errno;
	size_t n = 0, cap = sizeof line - 1, len = strlen(format);

	vsnprintf(text, sizeof text, format, ap);
	n = add(line, n, cap, tool_name);
	n = add(line, n, cap, ": ");
	if (object) {
		n = add(line, n, cap, object);
		n = add(line, n, cap, ": ");
	}
	n = add(line, n, cap, text);
	if (len && format[len - 1] == ':') {
		n = add(line, n, cap, " ");
		n = add(line, n, cap, strerror(error));
	}
	defuse(line, n);
	line[n++] = '\n';
	progress_hide();
	fflush(stderr);
	/* One write a message, so that lines of two filters do not mix. */
	if (write(STDERR_FILENO, line, n) < 0)
		errno = error;
	errno = error;
}

#define SAY() do { va_list ap; va_start(ap, format); say(object, format, ap); va_end(ap); } while (0)

void msg_error(const char *object, const char *format, ...)
{
	status = 1;
	SAY();
}

void msg_warn(const char *object, const char *format, ...)
{
	if (msg_level >= 1)
		SAY();
}

void msg_note(const char *object, const char *format, ...)
{
	if (msg_level >= 1)
		SAY();
}

void msg_detail(const char *object, const char *format, ...)
{
	if (msg_level >= 2)
		SAY();
}

void msg_die(const char *object, const char *format, ...)
{
	SAY();
	exit(1);
}
