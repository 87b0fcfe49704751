/* process.c - sorts counter files by process. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/msg.h"
#include "tools/count-extract/process.h"

struct made { uint32_t pid; uint64_t start; const char *path; char *program; };
struct all { VEC(struct made) v; };

static int by_process(const void *pa, const void *pb)
{
	const struct made *a = pa, *b = pb;
	int order;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	order = strcmp(a->program, b->program);
	return order ? order : strcmp(a->path, b->path);
}

static void read_header(struct all *all, const char *path)
{
	struct counters_header h;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why = "cannot be opened";

	if (fd >= 0) {
		why = counters_read_header(fd, &h);
		close(fd);
	}
	if (why)
		msg_error(path, "%s", why);
	else
		vec_push(&all->v, ((struct made){ h.pid, h.start_ns, path, xstrdup(h.executable) }));
}

static bool same_process(const struct made *a, const struct made *b)
{
	return a->pid == b->pid && !strcmp(a->program, b->program);
}

/* A profiled executable of a cache is called NAME~KEY. */
static char *label(const struct made *m)
{
	const char *key = strrchr(m->program, '~');
	size_t n = key && strlen(key) == 17 && strspn(key + 1, "0123456789abcdef") == 16 ? (size_t)(key - m->program) : strlen(m->program);

	return xasprintf("%" PRIu32 " %.*s", m->pid, (int)n, m->program);
}

void write_processes(struct stream_writer *w, struct profiled *p, const struct counter_files *files)
{
	struct all all = {{0}};

	for (size_t i = 0; i < files->n; i++)
		read_header(&all, files->v[i]);
	if (all.v.n)
		qsort(all.v.v, all.v.n, sizeof *all.v.v, by_process);
	for (size_t i = 0; i < all.v.n;) {
		const struct made *first = &all.v.v[i];
		char *name = label(first);

		profiled_clear(p);
		for (; i < all.v.n && same_process(first, &all.v.v[i]); i++)
			profiled_add(p, all.v.v[i].path);
		p->original.process = name;
		if (p->processes)
			write_profile(w, p);
		p->original.process = NULL;
		free(name);
	}
	for (size_t i = 0; i < all.v.n; i++)
		free(all.v.v[i].program);
	vec_free(&all.v);
}
