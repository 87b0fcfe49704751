/* count-extract.c - turns counter files into a profile stream, one object at a time. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/msg.h"
#include "lib/base/opt.h"
#include "lib/base/out.h"
#include "lib/base/progress.h"
#include "tools/count-extract/files.h"
#include "tools/count-extract/forks.h"
#include "tools/count-extract/process.h"
#include "tools/count-extract/run.h"
#include "tools/count-extract/write.h"

/* A profiled object and which of its counter files are wanted. */
struct job {
	char *path;
	struct stat st;			/* two names of one object are one job */
	bool all;			/* all that lie in the directory of counter files */
	VEC(char *) runs;		/* all that lie in these run directories */
	VEC(char *) named;		/* those given one by one */
};

static VEC(struct job) jobs;
static VEC(struct listing *) listings;
static const char *output, *counters_dir;
static bool by_process, reset;

static const struct opt options[] = {
	{ 'O', "counters", OPT_VALUE, &counters_dir, "DIR", "counter files lie in DIR (where SOPROF_DIR pointed), not beside the objects" },
	{ 0, "by-process", OPT_FLAG, &by_process, NULL, "keep processes apart" },
	{ 0, "reset", OPT_FLAG, &reset, NULL, "write nothing; from now on counts begin at what they are now" },
	{ 'o', "output", OPT_VALUE, &output, "FILE", "write there instead of standard output" },
	{ 0, NULL, OPT_FLAG, NULL, NULL, NULL }
};
static const struct opt_tool tool = {
	.name = "count-extract", .usage = "[-v] [-O DIR] [-o FILE] [--by-process] [--reset] DIR|FILE...", .options = options,
	.what = "Sums the counter files of profiled objects into a profile stream.",
};

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* One listing a directory, however it is spelt: "out", "out/". */
static struct listing *listing_of(const char *directory)
{
	struct listing *l;

	for (size_t i = 0; i < listings.n; i++)
		if (!strcmp(listings.v[i]->directory, directory) || same_file(listings.v[i]->directory, directory))
			return listings.v[i];
	l = xcalloc(1, sizeof *l);
	listing_read(l, directory);
	vec_push(&listings, l);
	return l;
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *copy;

	if (!slash)
		return xstrdup(".");
	copy = xstrdup(path);
	copy[slash == path ? 1 : slash - path] = 0;
	return copy;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct job *job_of(const char *path)
{
	struct stat st = {0};
	bool known = !stat(path, &st);

	for (size_t i = 0; i < jobs.n; i++)
		if (known && jobs.v[i].st.st_dev == st.st_dev && jobs.v[i].st.st_ino == st.st_ino)
			return &jobs.v[i];
	vec_push(&jobs, ((struct job){ .path = xstrdup(path), .st = st }));
	return &jobs.v[jobs.n - 1];
}

static bool is_profiled(const char *path)
{
	struct object o;
	bool is = !object_open(&o, path);

	if (is) {
		is = object_section(&o, SECTION_MAP);
		object_close(&o);
	}
	return is;
}

/* Objects that the run did not load say nothing. */
static void add_run(const char *directory, const struct run_index *x)
{
	struct listing *l = listing_of(directory);

	for (uint32_t i = 0; i < x->entries; i++) {
		const char *twin = run_string(x, run_entries(x)[i].twin);
		struct job *job;

		if (!listing_has(l, base_of(twin)))
			continue;
		if (access(twin, F_OK)) {
			msg_error(twin, "the profiled object is not there any more: its counts are left out:");
			continue;
		}
		job = job_of(twin);
		vec_push(&job->runs, xstrdup(directory));
	}
	if (!l->files.n)
		msg_warn(directory, "nothing was counted in this run");
}

static void add_directory(const char *directory)
{
	struct listing *l = listing_of(directory);
	const struct run_index *x = run_is(directory) ? run_index_map(directory) : NULL;
	size_t before = jobs.n;

	if (x) {
		add_run(directory, x);
		run_index_unmap(x);
		return;
	}

	for (size_t i = 0; i < l->files.n; i++) {
		char *path = path_join(directory, l->files.v[i].name);

		if (l->files.v[i].is_elf && is_profiled(path))
			job_of(path)->all = true;
		else
			msg_detail(path, l->files.v[i].is_elf ? "not a profiled object" : "not an object");
		free(path);
	}
	if (jobs.n == before && !msg_status())
		msg_error(directory, "no profiled object in this directory");
}

/* The job whose object has the name that the counter file's header gives: one given on the command line, else beside the file. */
static struct job *job_for_counters(const char *path, const char *object)
{
	char *directory = directory_of(path), *beside = path_join(directory, object);
	struct job *found = NULL;

	for (size_t i = 0; i < jobs.n && !found; i++)
		if (!strcmp(jobs.v[i].path, beside))
			found = &jobs.v[i];
	for (size_t i = 0; i < jobs.n && !found; i++)
		if (!strcmp(base_of(jobs.v[i].path), object))
			found = &jobs.v[i];
	if (!found && !access(beside, F_OK))
		found = job_of(beside);
	free(directory);
	free(beside);
	return found;
}

static void add_counter_file(const char *path)
{
	struct counters_header h;
	struct job *job;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why;

	if (fd < 0) {
		msg_error(path, "cannot open:");
		return;
	}
	why = counters_read_header(fd, &h);
	close(fd);
	if (why) {
		msg_error(path, "%s", why);
		return;
	}
	/* The name comes from a file: it must not lead elsewhere. */
	job = strchr(h.object, '/') || !*h.object ? NULL : job_for_counters(path, h.object);
	if (job)
		vec_push(&job->named, xstrdup(path));
	else
		msg_error(path, "its profiled object is not beside it: name that too");
}

enum operand { OPERAND_DIRECTORY, OPERAND_OBJECT, OPERAND_COUNTERS, OPERAND_MISSING };

static enum operand operand_kind(const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		msg_error(path, "cannot open:");
		return OPERAND_MISSING;
	}
	if (S_ISDIR(st.st_mode))
		return OPERAND_DIRECTORY;
	return is_elf_file(path) ? OPERAND_OBJECT : OPERAND_COUNTERS;
}

/* Objects first, so that a counter file finds its own among them. */
static void add_operands(char **operands, int n)
{
	enum operand *kinds = xcalloc((size_t)n, sizeof *kinds);

	for (int i = 0; i < n; i++) {
		kinds[i] = operand_kind(operands[i]);
		if (kinds[i] == OPERAND_DIRECTORY)
			add_directory(operands[i]);
		else if (kinds[i] == OPERAND_OBJECT)
			job_of(operands[i])->all = true;
	}
	for (int i = 0; i < n; i++)
		if (kinds[i] == OPERAND_COUNTERS)
			add_counter_file(operands[i]);
	free(kinds);
}

/* Among the first n of those named. */
static bool is_named(const struct job *job, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (same_file(job->named.v[i], path))
			return true;
	return false;
}

/* Adds to the files that are to be summed. */
static void add_all(struct profiled *p, struct counter_files *files, const struct job *job, const char *directory)
{
	struct listing *l = listing_of(directory);
	const char *object = p->header.object;
	size_t n = strlen(object);
	char *prefix = xasprintf("%s.", object);

	for (size_t i = listing_find(l, prefix); i < l->files.n && !strncmp(l->files.v[i].name, prefix, n + 1); i++) {
		char *path;

		if (l->files.v[i].is_elf || counter_object(l->files.v[i].name) != n)
			continue;
		l->files.v[i].used = true;
		path = path_join(directory, l->files.v[i].name);
		if (!is_named(job, job->named.n, path))
			vec_push(files, path);
		else
			free(path);
	}
	free(prefix);
}

static void find_counters(struct profiled *p, struct counter_files *files, const struct job *job)
{
	char *directory = directory_of(job->path);

	if (job->all)
		add_all(p, files, job, counters_dir ? counters_dir : directory);
	for (size_t i = 0; i < job->runs.n; i++)
		add_all(p, files, job, job->runs.v[i]);
	for (size_t i = 0; i < job->named.n; i++)
		if (!is_named(job, i, job->named.v[i]))
			vec_push(files, xstrdup(job->named.v[i]));
	free(directory);
}

static bool any_forks_unseen(const struct profiled *p, const struct counter_files *files)
{
	bool any = false;

	for (size_t i = 0; i < files->n && !any; i++) {
		char *directory = directory_of(files->v[i]);

		any = forks_unseen(p, listing_of(directory), files->v[i]);
		free(directory);
	}
	return any;
}

static void sum(struct stream_writer *w, struct profiled *p, const struct job *job)
{
	struct counter_files files = {0};

	find_counters(p, &files, job);
	p->forks_unseen = !reset && any_forks_unseen(p, &files);
	if (reset)
		for (size_t i = 0; i < files.n; i++)
			baseline_make(p, files.v[i]);
	else if (by_process)
		write_processes(w, p, &files);
	else {
		for (size_t i = 0; i < files.n; i++)
			profiled_add(p, files.v[i]);
		write_profile(w, p);
	}
	for (size_t i = 0; i < files.n; i++)
		free(files.v[i]);
	vec_free(&files);
}

static void do_job(struct stream_writer *w, const struct job *job)
{
	struct profiled p;
	const char *why = profiled_open(&p, job->path);

	if (why) {
		msg_error(job->path, "%s", *why ? why : "not a profiled object");
		return;
	}
	if (p.header.flags & COUNTERS_IDENTITY)
		msg_note(job->path, "moved only (so-gen --identity): it has no counters");
	else
		sum(w, &p, job);
	profiled_close(&p);
}

/* Counts that nobody asked for are counts lost: say so, once an object. */
static void name_orphans(const struct listing *l)
{
	size_t last = 0;
	const char *last_name = "";

	for (size_t i = 0; i < l->files.n; i++) {
		const char *name = l->files.v[i].name;
		size_t n = counter_object(name);

		if (!n || l->files.v[i].used || l->files.v[i].is_elf || (n == last && !strncmp(name, last_name, n)))
			continue;
		msg_warn(l->directory, "%s: counter files of \"%.*s\", which is no profiled object here", name, (int)n, name);
		last = n;
		last_name = name;
	}
}

static void name_missing(char **operands, int n)
{
	for (size_t i = 0; i < listings.n; i++)
		if (listings.v[i]->refused)
			msg_warn(listings.v[i]->directory, "%" PRIu32 " counter files were not made because of the cap (%s): their counts are missing",
				listings.v[i]->refused, COUNTERS_CAP_ENV);
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < listings.n; k++)
			if (!strcmp(listings.v[k]->directory, operands[i]))
				name_orphans(listings.v[k]);
}

static void free_all(void)
{
	for (size_t i = 0; i < jobs.n; i++) {
		for (size_t k = 0; k < jobs.v[i].named.n; k++)
			free(jobs.v[i].named.v[k]);
		vec_free(&jobs.v[i].named);
		for (size_t k = 0; k < jobs.v[i].runs.n; k++)
			free(jobs.v[i].runs.v[k]);
		vec_free(&jobs.v[i].runs);
		free(jobs.v[i].path);
	}
	vec_free(&jobs);
	for (size_t i = 0; i < listings.n; i++) {
		listing_free(listings.v[i]);
		free(listings.v[i]);
	}
	vec_free(&listings);
}

static void do_jobs(struct stream_writer *w)
{
	progress_begin("objects", jobs.n);
	for (size_t i = 0; i < jobs.n; i++) {
		do_job(w, &jobs.v[i]);
		progress_at(i + 1);
	}
	progress_end();
}

static void write_all(struct out *out, char **operands, int n)
{
	static struct stream_writer w;

	stream_begin(&w, STREAM_PROFILE, out->f, output ? output : "standard output");
	do_jobs(&w);
	for (int i = 0; i < n; i++)
		run_write_notes(&w, operands[i]);
	name_missing(operands, n);
	if (stream_finish(&w))
		out_commit(out);
	else
		out_abandon(out);
}

int main(int argc, char **argv)
{
	int first = opt_parse(&tool, argc, argv);
	struct out out = {0};

	if (first == argc)
		opt_usage(&tool, "no directory or file is given");
	if (!reset && (!out_open(&out, output, 0666) || out_is_terminal(&out)))
		return 1;
	add_operands(argv + first, argc - first);
	if (reset)
		do_jobs(NULL);
	else if (!jobs.n && msg_status())
		out_abandon(&out);
	else
		write_all(&out, argv + first, argc - first);
	free_all();
	return msg_status();
}
