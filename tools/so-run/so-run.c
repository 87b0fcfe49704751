/* so-run.c - runs a program with profiled objects in the place of its own, whichever way the loader finds them.

   The work is done by the audit object, in the program and all that it starts; here its environment is made, then the program takes
   our place, so that its status, signals and process number are its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "formats/counters.h"
#include "lib/base/msg.h"
#include "lib/base/opt.h"
#include "lib/base/out.h"
#include "lib/elf/object.h"
#include "tools/so-run/index.h"

enum { CANNOT_RUN = 126, NOT_FOUND = 127, NOT_READY = 3 };
#define LAST "last"

static const char *directory = "out", *run_directory, *label, *want, *reserve;
static bool discover, list, no_app;

static const struct opt options[] = {
	{ 'd', "directory", OPT_VALUE, &directory, "DIR", "where the profiled objects lie (out)" },
	{ 'r', "run", OPT_VALUE, &run_directory, "DIR", "make the run directory DIR for counter files (DIR/run.N beside the objects)" },
	{ 0, "discover", OPT_FLAG, &discover, NULL, "nothing needs to be profiled yet; tell where the list of what was loaded lies" },
	{ 0, "label", OPT_VALUE, &label, "TEXT", "keep TEXT in the run directory, as " RUN_LABEL },
	{ 0, "no-app", OPT_FLAG, &no_app, NULL, "leave executables as they are" },
	{ 0, "list", OPT_FLAG, &list, NULL, "run nothing; print each original, its profiled object, and why that cannot be used" },
	{ 0, "reserve", OPT_VALUE, &reserve, "FILE", "keep room for thread-local storage of the objects in FILE only, and not of all that are profiled" },
	{ 0, "want", OPT_VALUE, &want, "FILE", "run nothing; exit with 3 unless all paths in FILE have profiled objects that can be used" },
	{ 0, NULL, OPT_FLAG, NULL, NULL, NULL }
};
static const struct opt_tool tool = {
	.name = "so-run", .usage = "[-qv] [-d DIR] [-r DIR] [--discover] [--label TEXT] [--no-app] APP [ARG...] | --list | --want FILE", .options = options,
	.what = "Run a program with profiled objects in the place of its own.", .stop_at_operand = true,
};

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* As execvp looks for it; NULL: nowhere. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return xstrdup(name);
	for (path = path ? path : "/bin:/usr/bin"; ; path++) {
		size_t n = strcspn(path, ":");
		char *candidate = xasprintf("%.*s/%s", n ? (int)n : 1, n ? path : ".", name);

		if (is_program(candidate))
			return candidate;
		free(candidate);
		path += n;
		if (!*path)
			return NULL;
	}
}

static char *own_directory(void)
{
	char *self = realpath("/proc/self/exe", NULL);

	if (!self)
		msg_die("/proc/self/exe", "cannot tell where the audit object lies:");
	*strrchr(self, '/') = 0;
	return self;
}

static char *find_audit(void)
{
	char *bin = own_directory(), *beside = xasprintf("%s/so-run-audit.so", bin), *installed = xasprintf("%s/../lib/soprof/so-run-audit.so", bin);
	char *found = access(beside, R_OK) ? installed : beside;

	if (access(found, R_OK))
		msg_die(beside, "the audit object is missing:");
	if (strpbrk(found, ":$"))
		msg_die(found, "the loader takes no audit object with a colon or a dollar in its path");
	free(found == beside ? installed : beside);
	free(bin);
	return found;
}

/* What others made under that name is no run directory of ours. */
static char *make_given(const char *path)
{
	char *at;

	if (mkdir(path, 0700) && (errno != EEXIST || rmdir(path) || mkdir(path, 0700)))
		msg_die(path, errno == ENOTEMPTY || errno == EEXIST ? "not empty: a run directory holds one run" : "cannot make the run directory:");
	at = realpath(path, NULL);
	if (!at)
		msg_die(path, "cannot make the run directory:");
	return at;
}

static void point_to(const char *base, const char *run)
{
	char *temporary = xasprintf("%s/.last.%ld", base, (long)getpid()), *link = xasprintf("%s/" LAST, base);

	unlink(temporary);
	if (symlink(run, temporary) || rename(temporary, link))
		msg_detail(link, "cannot be made:");
	unlink(temporary);
	free(temporary);
	free(link);
}

/* The number behind the last one: the link tells where to begin. */
static unsigned long first_number(const char *base)
{
	char *link = xasprintf("%s/" LAST, base), name[64];
	ssize_t n = readlink(link, name, sizeof name - 1);

	free(link);
	name[n > 0 ? n : 0] = 0;
	return strncmp(name, "run.", 4) ? 0 : strtoul(name + 4, NULL, 10) + 1;
}

static char *make_next(const char *base)
{
	for (unsigned long i = first_number(base);; i++) {
		char *path = xasprintf("%s/run.%lu", base, i);

		if (!mkdir(path, 0700)) {
			point_to(base, strrchr(path, '/') + 1);
			return path;
		}
		if (errno != EEXIST)
			msg_die(path, "cannot make the run directory (-r gives another):");
		free(path);
	}
}

/* A copy in which executables are marked. */
static struct index without_apps(const struct index *x)
{
	struct run_index *copy = xmalloc(x->x->size);
	struct run_entry *e = (struct run_entry *)(copy + 1);

	memcpy(copy, x->x, x->x->size);
	for (uint32_t i = 0; i < copy->entries; i++)
		if (e[i].flags & RUN_APP)
			e[i].flags |= RUN_LEFT_OUT;
	return (struct index){ .x = copy };
}

static void put_index(const struct index *x, const char *base, const char *run)
{
	char *from = xasprintf("%s/%s", base, RUN_INDEX), *to = xasprintf("%s/%s", run, RUN_INDEX);

	if ((!x->kept || link(from, to)) && !out_file(to, x->x, x->x->size, 0644))
		exit(1);
	free(from);
	free(to);
}

static void put_label(const char *run)
{
	char *path = xasprintf("%s/%s", run, RUN_LABEL), *line = xasprintf("%s\n", label);

	if (!out_file(path, line, strlen(line), 0644))
		exit(1);
	free(path);
	free(line);
}

static void note(const char *run, const char *path, const char *why)
{
	char *list = xasprintf("%s/%s", run, RUN_NOTES), *absolute = realpath(path, NULL);
	FILE *f = fopen(list, "a");

	msg_warn(path, "not profiled: %s", why);
	if (f)
		fprintf(f, "%s\t%s\n", absolute ? absolute : path, why);
	if (!f || fclose(f))
		msg_warn(list, "cannot be written:");
	free(list);
	free(absolute);
}

/* The kernel hands such a program to the loader with the sign that the environment is not to be trusted. */
static bool is_secure(const char *path)
{
	struct stat st;
	struct statvfs fs;

	if (stat(path, &st) || statvfs(path, &fs) || fs.f_flag & ST_NOSUID)
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != getuid()) || (st.st_mode & S_ISGID && st.st_gid != getgid()) ||
	       (getuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* Why the audit object has no say in the program, or NULL.  Scripts have their interpreter's. */
static const char *out_of_reach(const char *path)
{
	struct object o;
	const char *why = "a static program";

	if (is_secure(path))
		return "it runs with other rights than its caller's, and so without LD_AUDIT";
	if (object_open(&o, path))
		return NULL;
	for (size_t i = 0; i < o.phnum; i++)
		if (o.phdrs[i].p_type == PT_INTERP)
			why = o.eh.e_ident[EI_CLASS] == (sizeof(long) == 8 ? ELFCLASS64 : ELFCLASS32) ? NULL : "a program of another machine";
	object_close(&o);
	return why;
}

/* What earlier audit objects there are stay, but not one of ours. */
static void set_audit(const char *audit)
{
	const char *was = getenv("LD_AUDIT");
	char *all;

	if (!was || !*was || strstr(was, "/so-run-audit"))
		all = xstrdup(audit);
	else
		all = xasprintf("%s:%s", was, audit);
	setenv("LD_AUDIT", all, 1);
	free(all);
}

/* What the objects that are profiled, or those of them that are named in a file, have of thread-local storage. */
static uint64_t tls_of(const struct index *x)
{
	FILE *f = reserve ? fopen(reserve, "r") : NULL;
	char *line = NULL;
	size_t size = 0;
	uint64_t bytes = 0;

	if (!f) {
		for (uint32_t i = 0; i < x->x->entries; i++)
			bytes += run_entries(x->x)[i].tls;
		return bytes;
	}
	while (getline(&line, &size, f) > 0) {
		struct stat st;
		const struct run_entry *e;

		line[strcspn(line, "\n")] = 0;
		e = stat(line, &st) ? NULL : index_find(x, &st);
		bytes += e ? e->tls : 0;
	}
	free(line);
	fclose(f);
	return bytes;
}

/* With an audit object the loader lays out the threads' blocks before it has seen what the program needs; what that has of
   thread-local storage must find room in what is kept for objects that are opened later.  Not more than that: it comes out of each
   thread's stack, and there are programs that make threads with the smallest one. */
static void set_tls(const struct index *x)
{
	enum { LEAST = 4096, UNKNOWN = 16384, LATER = 512 };
	const char *was = getenv("GLIBC_TUNABLES");
	uint64_t bytes = LATER + tls_of(x);
	char *all;

	if (was && strstr(was, "glibc.rtld.optional_static_tls="))
		return;
	if (discover && bytes < UNKNOWN)
		bytes = UNKNOWN;
	all = xasprintf("%s%sglibc.rtld.optional_static_tls=%lu", was ? was : "", was && *was ? ":" : "", (unsigned long)(bytes < LEAST ? LEAST : bytes));
	setenv("GLIBC_TUNABLES", all, 1);
	free(all);
}

static void set_quiet(const char *run)
{
	char *said = xasprintf("%s/%s", run, RUN_SAID);
	int fd = open(said, O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	free(said);
}

/* Every path must be an original whose profiled object is as young as it; what is gone is wanted no more. */
static bool is_ready(const struct index *x)
{
	FILE *f = fopen(want, "r");
	char *line = NULL;
	size_t cap = 0;
	bool ready = f;

	while (f && ready && getline(&line, &cap, f) > 0) {
		const struct run_entry *e;
		struct stat st;

		line[strcspn(line, "\n")] = 0;
		if (stat(line, &st))
			continue;
		e = index_find(x, &st);
		ready = e && !e->why && e->size == (uint64_t)st.st_size;
	}
	free(line);
	if (f)
		fclose(f);
	return ready;
}

static int print_list(const struct index *x)
{
	for (uint32_t i = 0; i < x->x->entries; i++) {
		const struct run_entry *e = &run_entries(x->x)[i];

		printf("%s\t%s\t%s\n", run_string(x->x, e->original), run_string(x->x, e->twin), e->why ? run_string(x->x, e->why) : "");
	}
	return fflush(stdout) ? 1 : 0;
}

/* The profiled executable, or what was given. */
static const char *program_for(const struct index *x, const char *path)
{
	struct stat st;
	const struct run_entry *e = stat(path, &st) ? NULL : index_find(x, &st);

	return e && !e->why && run_is_program(e) ? run_string(x->x, e->twin) : path;
}

/* The path that the kernel would show of it. */
static void tell_original(const char *path)
{
	char *original = realpath(path, NULL), *value;

	if (!original)
		return;
	value = xasprintf("%s" RUN_ORIGINAL "%s", getenv(COUNTERS_DIR_ENV), original);
	setenv(COUNTERS_DIR_ENV, value, 1);
	free(value);
	free(original);
}

static char *prepare_run(const struct index *x, const char *base, const char *path)
{
	char *run = run_directory ? make_given(run_directory) : make_next(base), *audit = find_audit();
	const char *why = out_of_reach(path);

	put_index(x, base, run);
	if (label)
		put_label(run);
	if (msg_level == 0)
		set_quiet(run);
	if (why)
		note(run, path, why);
	/* A loader of another class would complain. */
	if (!why) {
		set_audit(audit);
		set_tls(x);
	}
	setenv(COUNTERS_DIR_ENV, run, 1);
	if (discover)
		msg_note(NULL, "what was loaded and is not profiled: %s/%s", run, RUN_NOTES);
	msg_detail(NULL, "counter files: %s", run);
	free(audit);
	return run;
}

static int run(const struct index *x, const char *base, char **argv)
{
	char *path = find_program(argv[0]);
	const char *program;

	if (!path || access(path, F_OK)) {
		msg_error(argv[0], "not found");
		return NOT_FOUND;
	}
	if (!discover && !x->x->entries)
		msg_die(base, "no profiled object in this directory");
	prepare_run(x, base, path);
	program = program_for(x, path);
	if (program != path)
		tell_original(path);
	execv(program, argv);
	msg_error(path, "cannot run:");
	return errno == ENOENT ? NOT_FOUND : CANNOT_RUN;
}

int main(int argc, char **argv)
{
	int first = opt_parse(&tool, argc, argv);
	struct index x;
	char *base;

	if (first == argc && !list && !want)
		opt_usage(&tool, "no program given");
	if (discover && mkdir(directory, 0777) && errno != EEXIST)
		msg_die(directory, "cannot make the directory:");
	base = realpath(directory, NULL);
	if (!base)
		msg_die(directory, "cannot open:");
	if (!index_make(&x, base))
		return 1;
	if (list)
		return print_list(&x);
	if (want)
		return is_ready(&x) ? 0 : NOT_READY;
	if (no_app)
		x = without_apps(&x);
	return run(&x, base, argv + first);
}
