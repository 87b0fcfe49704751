/* process.c - what the run-time code learns about the process it is in. */
#include "runtime/process.h"
#include "runtime/text.h"

/* How far the current entry of the environment agrees with one setting. */
struct match { size_t named, length; bool off; };

static void take_byte(struct setting *s, struct match *m, char c)
{
	if (m->off)
		return;
	if (s->name[m->named]) {
		m->off = s->name[m->named++] != c;
	} else if (m->length + 1 < s->size) {
		s->value[m->length++] = c;
		s->value[m->length] = '\0';
	} else {
		s->value[0] = '\0';
		m->off = true;
	}
}

static void take(struct setting *settings, struct match *matches, size_t count, char c)
{
	static const struct match none;

	for (size_t i = 0; i < count; i++)
		if (c)
			take_byte(&settings[i], &matches[i], c);
		else
			matches[i] = none;
}

enum { SETTINGS = 4 };

/* Sixteen bytes that lie in one page with it. */
static bool can_read(const void *p)
{
	return (uintptr_t)p >= COUNTERS_PAGE && sys_readable((const void *)((uintptr_t)p & ~(uintptr_t)15));
}

/* What constructors are given is not believed: C libraries differ in it. */
static void take_all(struct setting *settings, struct match *matches, size_t count, const char *const *environment)
{
	size_t left = 1 << 23;
	const char *s;

	for (; (uintptr_t)environment % sizeof *environment == 0 && can_read(environment) && *environment; environment++)
		for (s = *environment;; s++) {
			if ((s == *environment || (uintptr_t)s % COUNTERS_PAGE == 0) && !can_read(s))
				return;
			if (!left--)
				return;
			take(settings, matches, count, *s);
			if (!*s)
				break;
		}
}

void process_settings(struct setting *settings, size_t count, const char *const *environment)
{
	struct match matches[SETTINGS];
	char chunk[512];
	long fd, n;

	memset(matches, 0, sizeof matches);
	for (size_t i = 0; i < count; i++)
		settings[i].value[0] = '\0';
	if (sys_privileged())
		return;
	fd = sys_openat(AT_FDCWD, "/proc/self/environ", O_RDONLY, 0);
	if (fd < 0) {
		take_all(settings, matches, count, environment);
		return;
	}
	while ((n = sys_read((int)fd, chunk, sizeof chunk)) > 0)
		for (long i = 0; i < n; i++)
			take(settings, matches, count, chunk[i]);
	sys_close((int)fd);
}

void process_fill(struct counters_header *h)
{
	struct system_time now = { 0, 0 };
	long n = sys_readlink("/proc/self/exe", h->executable, sizeof h->executable - 1);

	h->executable[n > 0 ? n : 0] = '\0';
	h->pid = sys_getpid();
	sys_clock_gettime(CLOCK_REALTIME, &now);
	h->start_ns = (uint64_t)now.seconds * 1000000000 + (uint64_t)now.nanoseconds;
}
