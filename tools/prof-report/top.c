/* top.c - a program while it runs: count-extract reads its counter files again and again, and what was added since is shown.

   The files are read as they are: each count is whole, and none of the program's memory is touched. */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/msg.h"
#include "tools/prof-report/report.h"

extern char **environ;

/* All counts of an object at the last look, in the order of its blocks. */
struct last { VEC(uint64_t) counts; };
struct live {
	struct report *r;
	struct last *last;		/* one a view */
	size_t count;
	uint64_t total;			/* instructions from the beginning */
};

/* Beside us, else in PATH. */
static char *find_extract(void)
{
	char self[4096], *beside;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = 0;
	if (strrchr(self, '/'))
		*strrchr(self, '/') = 0;
	beside = xasprintf("%s/count-extract", self);
	if (!access(beside, X_OK))
		return beside;
	free(beside);
	return xstrdup("count-extract");
}

/* The pid of a count-extract whose output *f reads, or -1 after a message. */
static pid_t start_extract(const struct top *top, FILE **f)
{
	char *program = find_extract(), **argv = xcalloc((size_t)top->count + 3, sizeof *argv);
	posix_spawn_file_actions_t actions;
	int pipes[2], error;
	pid_t pid = -1;

	argv[0] = program;
	argv[1] = "-q";
	for (int i = 0; i < top->count; i++)
		argv[i + 2] = top->directories[i];
	if (pipe(pipes))
		msg_die(NULL, "no pipe:");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclose(&actions, pipes[0]);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
	error = posix_spawnp(&pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	*f = fdopen(pipes[0], "rb");
	if (error) {
		errno = error;
		msg_error(program, "cannot be run:");
		fclose(*f);
		pid = -1;
	}
	free(argv);
	free(program);
	return pid;
}

static bool read_counts(const struct top *top, struct profile *p)
{
	FILE *f;
	pid_t pid = start_extract(top, &f);
	bool good;

	if (pid < 0)
		return false;
	good = profile_read(p, f, "count-extract");
	fclose(f);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return good;
}

static struct view *view_of(struct report *r, const struct profile_object *o)
{
	for (size_t i = 0; i < r->count; i++)
		if (same_object(&r->views[i].p->info, &o->info) && r->views[i].p->blocks.n == o->blocks.n)
			return &r->views[i];
	return NULL;
}

/* An object that was not there before. */
static struct view *add_view(struct live *l, struct profile_object *o)
{
	struct report *r = l->r;

	r->views = xrealloc(r->views, (r->count + 1) * sizeof *r->views);
	l->last = xrealloc(l->last, (r->count + 1) * sizeof *l->last);
	l->last[r->count] = (struct last){{0}};
	for (size_t i = 0; i < o->blocks.n; i++)
		vec_push(&l->last[r->count].counts, 0);
	vec_push(&r->profile.objects, o);
	view_open(&r->views[r->count], o);
	return &r->views[r->count++];
}

/* The view's blocks get what was added since the last look. */
static void update(struct live *l, struct view *v, const struct profile_object *now)
{
	struct last *last = &l->last[v - l->r->views];

	for (size_t i = 0; i < now->blocks.n; i++) {
		uint64_t count = now->blocks.v[i].count;

		/* Fewer than before: a counter file is gone, or a new baseline was made. */
		v->p->blocks.v[i].count = count > last->counts.v[i] ? count - last->counts.v[i] : 0;
		last->counts.v[i] = count;
	}
	view_sum(v);
}

static void look(struct live *l, struct profile *now)
{
	for (size_t i = 0; i < l->r->count; i++) {
		for (size_t k = 0; k < l->r->views[i].p->blocks.n; k++)
			l->r->views[i].p->blocks.v[k].count = 0;
		view_sum(&l->r->views[i]);
	}
	for (size_t i = 0; i < now->objects.n; i++) {
		struct view *v = view_of(l->r, now->objects.v[i]);

		if (v) {
			update(l, v, now->objects.v[i]);
			continue;
		}
		v = add_view(l, now->objects.v[i]);
		for (size_t k = 0; k < v->p->blocks.n; k++)
			l->last[l->r->count - 1].counts.v[k] = v->p->blocks.v[k].count;
		/* It belongs to the report now. */
		now->objects.v[i] = now->objects.v[now->objects.n - 1];
		now->objects.n--;
		i--;
	}
	report_sum(l->r);
	l->total = add_sat(l->total, l->r->insns);
}

static void show(struct live *l, FILE *f, bool terminal, double seconds)
{
	struct report *r = l->r;

	if (terminal)
		fputs("\033[H\033[2J", f);
	page_begin(&r->page, f, false);
	page_text(&r->page, "%s instructions in the last %.1f seconds, %s since the beginning\n", with_commas(r->insns), seconds, with_commas(l->total));
	report_functions(r);
	report_blocks(r);
	page_end(&r->page);
	fputs(terminal ? "" : "\n", f);
	fflush(f);
}

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double number(const char *s, double otherwise, const char *option)
{
	char *end;
	double v = s ? strtod(s, &end) : otherwise;

	if (s && (end == s || *end || !(v >= 0) || v > 1e9))
		msg_die(option, "not a number: %s", s);
	return v;
}

void report_top(struct report *r, const struct top *top, FILE *f)
{
	double every = number(top->every, 2, "--every"), times = number(top->times, 1e18, "--times"), begun = now_seconds(), seconds = 0;
	struct live l = { .r = r };
	bool terminal = isatty(fileno(f));

	r->rows = r->rows > 10 ? 10 : r->rows;
	for (double i = 0; i < times && !ferror(f); i++) {
		struct profile now = { .unknown_rows = 0 };
		struct timespec pause = { (time_t)every, (long)((every - (double)(time_t)every) * 1e9) };

		if (i > 0)
			nanosleep(&pause, NULL);
		read_counts(top, &now);
		seconds = now_seconds() - begun;
		begun += seconds;
		look(&l, &now);
		show(&l, f, terminal, seconds);
		profile_free(&now);
	}
	for (size_t i = 0; i < r->count; i++)
		vec_free(&l.last[i].counts);
	free(l.last);
	report_close(r);
}
