/* notes.c - appends lines to a file that many processes write, each line once as far as that can be seen.  Lines are built in static
   memory: the loader holds its lock, and a thread's stack may be small. */
#define RUN_NO_LIBC
#include "formats/run.h"
#include "runtime/text.h"
#include "tools/so-run/audit/kernel.h"
#include "tools/so-run/audit/notes.h"

enum { LINE = 4096 + 256, PATH_LONGEST = 4096, O_WRONLY = 1 };

static void join(char *to, size_t size, const char *a, const char *b)
{
	size_t na = text_length(a, size), nb = text_length(b, size);

	to[0] = 0;
	if (na + nb + 2 > size)
		return;
	memcpy(to, a, na);
	to[na] = '/';
	memcpy(to + na + 1, b, nb + 1);
}

void notes_start(struct notes *n, const char *run)
{
	join(n->list, sizeof n->list, run, RUN_NOTES);
	join(n->said, sizeof n->said, run, RUN_SAID);
}

static bool has_line(const char *all, size_t size, const char *line, size_t n)
{
	for (size_t at = 0; at + n <= size;) {
		if (!memcmp(all + at, line, n))
			return true;
		while (at < size && all[at++] != '\n')
			;
	}
	return false;
}

static void munmap_const(const char *at, size_t n)
{
	if (at)
		sys_munmap((void *)(uintptr_t)at, n);
}

/* A write beyond the limit of file sizes is a signal, which kills. */
static bool may_write(void)
{
	return kernel_limit(RLIMIT_FSIZE) == UINT64_MAX;
}

/* Writes those lines that are not in the file yet. */
static void append(const struct notes *n, const char *lines, size_t length)
{
	size_t size = 0, end;
	const char *all = n->list[0] ? kernel_map(n->list, &size) : NULL;
	long fd = !n->list[0] || size > RUN_NOTES_MAX || !may_write() ? -1 :
		sys_openat(AT_FDCWD, n->list, O_CREAT | O_APPEND | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0600);

	for (size_t at = 0; fd >= 0 && at < length; at = end) {
		for (end = at; lines[end++] != '\n';)
			;
		if (!has_line(all, all ? size : 0, lines + at, end - at))
			sys_write((int)fd, lines + at, end - at);
	}
	if (fd >= 0)
		sys_close((int)fd);
	munmap_const(all, size);
}

static size_t put(char *to, size_t at, const char *s, size_t n)
{
	memcpy(to + at, s, n);
	return at + n;
}

/* The line's length, or 0: too long, or a name that would break the list. */
static size_t make_line(char *line, const char *path, const char *why)
{
	size_t n = text_length(path, PATH_LONGEST), length = 0;
	long base = 0;

	for (size_t i = 0; i < n; i++)
		if (path[i] == '\n' || path[i] == '\t')
			return 0;
	if (path[0] != '/') {
		base = sys_readlink("/proc/self/cwd", line, PATH_LONGEST);
		if (base > 0)
			length = put(line, (size_t)base, "/", 1);
	}
	if (length + n + text_length(why, 128) + 2 > LINE)
		return 0;
	length = put(line, length, path, n);
	length = put(line, length, "\t", 1);
	length = put(line, length, why, text_length(why, 128));
	return put(line, length, "\n", 1);
}

void notes_add(struct notes *n, const char *path, const char *why)
{
	static char line[LINE];
	size_t length = make_line(line, path, why);

	if (!length)
		return;
	if (n->begun)
		append(n, line, length);
	else if (length <= sizeof n->text - n->length)
		n->length = put(n->text, n->length, line, length);
}

/* Each line as a message, the loader's own aside: that is so in every program. */
static void say(const struct notes *n, const char *loader)
{
	static char message[LINE + 64];
	size_t skip = text_length(loader, PATH_LONGEST), end;

	for (size_t at = 0; at < n->length; at = end) {
		size_t length = put(message, 0, "so-run: ", 8);

		for (end = at; n->text[end++] != '\n';)
			;
		if (n->text[at + skip] == '\t' && !memcmp(n->text + at, loader, skip))
			continue;
		for (size_t i = at; i < end; i++)
			length = n->text[i] == '\t' ? put(message, length, ": not profiled: ", 16) : put(message, length, n->text + i, 1);
		sys_write(2, message, length);
	}
}

void notes_begin(struct notes *n, const char *loader)
{
	long fd;

	append(n, n->text, n->length);
	n->begun = true;
	fd = n->said[0] && may_write() ? sys_openat(AT_FDCWD, n->said, O_CREAT | O_EXCL | O_NOFOLLOW, 0600) : -1;
	if (fd < 0)
		return;
	sys_close((int)fd);
	say(n, loader);
}
