/* root.c - opening files under --sysroot, where symbolic links must not lead out of it. */
#include "tools/so-input/root.h"
#include "lib/base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK };

int root_init(struct root *r, const char *dir)
{
	r->dir = NULL;
	r->fd = -1;
	if (!dir)
		return 0;
	r->dir = realpath(dir, NULL);
	if (!r->dir)
		return -1;
	r->fd = open(r->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0) {
		free(r->dir);
		r->dir = NULL;
		return -1;
	}
	if (!strcmp(r->dir, "/"))
		root_close(r);
	return 0;
}

void root_close(struct root *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->dir);
	r->dir = NULL;
	r->fd = -1;
}

static const char *inside(const struct root *r, const char *name)
{
	size_t n = strlen(r->dir);

	return !strncmp(name, r->dir, n) && name[n] == '/' ? name + n : name;
}

static int open_in(const struct root *r, const char *name)
{
	struct open_how how = { .flags = FLAGS, .resolve = RESOLVE_IN_ROOT };
	int fd = syscall(SYS_openat2, r->fd, name, &how, sizeof how);

	/* Kernels before 5.6: absolute links lead out of the tree then. */
	if (fd < 0 && errno == ENOSYS)
		fd = openat(r->fd, name + strspn(name, "/"), FLAGS);
	return fd;
}

static bool is_same(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int root_open(const struct root *r, const char *name, char **path)
{
	char link[64], *plain;
	int fd;

	*path = NULL;
	if (!r->dir) {
		fd = open(name, FLAGS);
		if (fd >= 0)
			*path = xstrdup(name);
		return fd;
	}
	name = inside(r, name);
	fd = open_in(r, name);
	if (fd < 0)
		return fd;
	plain = xasprintf("%s%s%s", r->dir, *name == '/' ? "" : "/", name);
	if (!is_same(fd, plain)) {
		free(plain);
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		plain = realpath(link, NULL);
	}
	if (!plain) {
		close(fd);
		errno = ENOENT;
		return -1;
	}
	*path = plain;
	return fd;
}
