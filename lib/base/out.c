/* out.c - output that appears whole or not at all. */
#include "lib/base/out.h"
#include "lib/base/mem.h"
#include "lib/base/msg.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Temporary files that exist now: removed when the tool ends early. */
struct live { struct live *next; char *path; };
static struct live *volatile live;
static pid_t owner;		/* a forked child must not remove them */
static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
enum { DEADLY = sizeof deadly / sizeof *deadly };

static void remove_all(void)
{
	if (getpid() != owner)
		return;
	for (struct live *l = live; l; l = l->next)
		unlink(l->path);
}

static void on_signal(int number)
{
	remove_all();
	signal(number, SIG_DFL);
	raise(number);
}

static void watch(void)
{
	static bool watching;

	if (watching)
		return;
	watching = true;
	owner = getpid();
	atexit(remove_all);
	for (int i = 0; i < DEADLY; i++) {
		struct sigaction was;

		if (!sigaction(deadly[i], NULL, &was) && was.sa_handler == SIG_DFL)
			signal(deadly[i], on_signal);
	}
}

static void block(sigset_t *was)
{
	sigset_t set;

	sigemptyset(&set);
	for (int i = 0; i < DEADLY; i++)
		sigaddset(&set, deadly[i]);
	sigprocmask(SIG_BLOCK, &set, was);
}

/* Makes the temporary file of pattern PATH and lists it, with no moment between in which a signal would leave it behind. */
static int create(char *path)
{
	struct live *l = xmalloc(sizeof *l);
	sigset_t was;
	int fd;

	watch();
	block(&was);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0) {
		l->path = path;
		l->next = live;
		live = l;
	} else {
		free(l);
	}
	sigprocmask(SIG_SETMASK, &was, NULL);
	return fd;
}

/* Renames the temporary file to TO, or removes it when TO is NULL, and takes it off the list. */
static int settle(const char *path, const char *to)
{
	struct live *head = live, **at = &head, *l;
	sigset_t was;
	int result;

	block(&was);
	result = to ? rename(path, to) : unlink(path);
	if (to && result) {
		int error = errno;

		unlink(path);
		errno = error;
	}
	while (*at && (*at)->path != path)
		at = &(*at)->next;
	l = *at;
	if (l)
		*at = l->next;
	live = head;
	sigprocmask(SIG_SETMASK, &was, NULL);
	free(l);
	return result;
}

/* The descriptor that a name like /dev/stdout stands for, or -1. */
static int standard_fd(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	if (!path || !strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (int i = 0; i < 2; i++) {
		size_t n = strlen(folders[i]);
		char *end;
		long fd;

		if (strncmp(path, folders[i], n) || path[n] < '0' || path[n] > '9')
			continue;
		fd = strtol(path + n, &end, 10);
		if (!*end && fd < 1 << 20)
			return (int)fd;
	}
	return -1;
}

static mode_t current_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

static int open_temporary(struct out *o, const char *path, unsigned mode)
{
	char *target = realpath(path, NULL), *slash;
	int fd;

	/* A symbolic link to a regular file stays one: the file behind it is replaced. */
	o->path = target ? target : xstrdup(path);
	slash = strrchr(o->path, '/');
	o->temporary = slash ? xasprintf("%.*s.soprof-XXXXXX", (int)(slash + 1 - o->path), o->path) : xstrdup(".soprof-XXXXXX");
	fd = create(o->temporary);
	if (fd >= 0) {
		fchmod(fd, mode & ~current_umask());
	} else {
		free(o->temporary);
		o->temporary = NULL;
	}
	return fd;
}

static int open_any(struct out *o, const char *path, unsigned mode)
{
	struct stat st;
	int fd = standard_fd(path);

	if (fd >= 0) {
		o->path = xstrdup(fd == STDOUT_FILENO ? "standard output" : path);
		return fcntl(fd, F_DUPFD_CLOEXEC, 3);
	}
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		o->path = xstrdup(path);
		return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (!strncmp(path, "/proc/", 6)) {
		o->path = xstrdup(path);
		return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_APPEND);
	}
	return open_temporary(o, path, mode);
}

bool out_open(struct out *o, const char *path, unsigned mode)
{
	int fd;

	*o = (struct out){ 0 };
	if (path && !*path) {
		msg_error(NULL, "an output without a name");
		return false;
	}
	if (standard_fd(path) == STDOUT_FILENO)
		fflush(stdout);
	fd = open_any(o, path, mode);
	if (fd >= 0)
		o->f = fdopen(fd, "w");
	if (o->f)
		return true;
	msg_error(path ? path : "standard output", "cannot write:");
	if (fd >= 0)
		close(fd);
	out_abandon(o);
	return false;
}

static void forget(struct out *o)
{
	free(o->path);
	free(o->temporary);
	*o = (struct out){ 0 };
}

bool out_commit(struct out *o)
{
	bool bad;

	errno = 0;
	bad = fflush(o->f) || ferror(o->f);
	if (fclose(o->f) && !bad)
		bad = true;
	o->f = NULL;
	if (!bad && o->temporary)
		bad = settle(o->temporary, o->path);
	else if (o->temporary) {
		int error = errno;

		settle(o->temporary, NULL);
		errno = error;
	}
	if (bad && errno)
		msg_error(o->path, "cannot write:");
	else if (bad)
		msg_error(o->path, "cannot write");
	forget(o);
	return !bad;
}

void out_abandon(struct out *o)
{
	if (o->f)
		fclose(o->f);
	if (o->temporary)
		settle(o->temporary, NULL);
	forget(o);
}

bool out_file(const char *path, const void *bytes, size_t len, unsigned mode)
{
	struct out o;

	if (!out_open(&o, path, mode))
		return false;
	if (fwrite(bytes, 1, len, o.f) != len) {
		msg_error(o.path, "cannot write:");
		out_abandon(&o);
		return false;
	}
	return out_commit(&o);
}

bool out_is_terminal(const struct out *o)
{
	if (!isatty(fileno(o->f)))
		return false;
	msg_error(o->path, "is a terminal: pipe it to map-dump, or give -o");
	return true;
}
