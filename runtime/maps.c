/* maps.c - reads /proc/self/maps. */
#include "runtime/maps.h"
#include "runtime/system.h"
#include "runtime/text.h"

enum { CUT = 128 };	/* what is kept of a longer line: the numbers; its path is then none that can be opened */

bool maps_open(struct maps *m)
{
	long fd = sys_openat(AT_FDCWD, "/proc/self/maps", O_RDONLY, 0);

	m->fd = (int)fd;
	m->failed = fd < 0;
	m->begin = m->end = 0;
	return fd >= 0;
}

void maps_close(struct maps *m)
{
	sys_close(m->fd);
}

/* The length of the first whole line in the buffer with its newline, or 0. */
static size_t whole_line(const struct maps *m)
{
	for (size_t i = m->begin; i < m->end; i++)
		if (m->buffer[i] == '\n')
			return i + 1 - m->begin;
	return 0;
}

static bool read_more(struct maps *m)
{
	long n;

	memmove(m->buffer, m->buffer + m->begin, m->end - m->begin);
	m->end -= m->begin;
	m->begin = 0;
	if (m->end == sizeof m->buffer)
		m->end = CUT;
	n = sys_read(m->fd, m->buffer + m->end, sizeof m->buffer - m->end);
	m->failed |= n < 0;
	m->end += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static const char *next_field(const char *s, const char *end)
{
	while (s < end && *s != ' ')
		s++;
	while (s < end && *s == ' ')
		s++;
	return s;
}

static size_t without_deleted(const char *path, size_t n)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof deleted - 1;

	return n > tail && memcmp(path + n - tail, deleted, tail) == 0 ? n - tail : n;
}

/* start-end perms offset dev inode path */
static void parse(char *s, char *end, struct maps_line *line)
{
	const char *at = s;

	line->start = text_hex(&at, end);
	at += at < end;
	line->end = text_hex(&at, end);
	at = next_field(at, end);
	line->readable = end - at > 3 && at[0] == 'r';
	line->writable = end - at > 3 && at[1] == 'w';
	line->shared = end - at > 3 && at[3] == 's';
	at = next_field(at, end);
	line->offset = text_hex(&at, end);
	for (int i = 0; i < 3; i++)
		at = next_field(at, end);
	line->path = s + (at - s);
	line->path_length = without_deleted(at, (size_t)(end - at));
	line->path[line->path_length] = '\0';
}

bool maps_next(struct maps *m, struct maps_line *line)
{
	size_t n;
	char *s;

	while ((n = whole_line(m)) == 0)
		if (!read_more(m))
			return false;
	s = m->buffer + m->begin;
	m->begin += n;
	parse(s, s + n - 1, line);
	return true;
}
