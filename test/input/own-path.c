/* own-path.c - what a program reads of the links to its executable.  With a path as argument: of that only, and with "wait": of
   none, but waits for its standard input to end. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bound by data, not by a PLT. */
static ssize_t (*volatile by_data)(const char *, char *, size_t) = readlink;
static volatile size_t room = 4096;		/* not known to the compiler: the checked functions are called */

static void show(const char *what, const char *buffer, ssize_t n)
{
	printf("%s %zd %.*s\n", what, n, n > 0 ? (int)n : 0, buffer);
}

static void sizes(const char *path)
{
	char buffer[4096];

	for (size_t size = 0; size < 300; size++) {
		ssize_t n;

		memset(buffer, '#', sizeof buffer);
		errno = 0;
		n = readlink(path, buffer, size);
		printf("%zu %zd %d %d ", size, n, n < 0 ? errno : 0, buffer[size] == '#' && (n < 0 || buffer[n] == '#' || !buffer[n]));
		show("", buffer, n);
	}
}

static void all(const char *path)
{
	char buffer[4096], small[PATH_MAX], *p;
	ssize_t (*found)(const char *, char *, size_t) = (ssize_t (*)(const char *, char *, size_t))(uintptr_t)dlsym(RTLD_DEFAULT, "readlink");
	int dir = open("/proc/self", O_PATH);

	show("readlink", buffer, readlink(path, buffer, room));
	show("by data", buffer, by_data(path, buffer, room));
	show("by dlsym", buffer, found(path, buffer, room));
	show("readlinkat", buffer, readlinkat(AT_FDCWD, path, buffer, room));
	show("in a directory", buffer, readlinkat(dir, "exe", buffer, room));
	printf("realpath %s\n", realpath(path, small));
	p = realpath(path, NULL);
	printf("realpath %s\n", p);
	free(p);
	p = canonicalize_file_name(path);
	printf("canonical %s\n", p);
	free(p);
	close(dir);
}

static void in_handler(int sig)
{
	char buffer[4096];

	(void)sig;
	show("in a handler", buffer, readlink("/proc/self/exe", buffer, sizeof buffer));
}

static void *thread(void *p)
{
	char buffer[4096];

	for (int i = 0; i < 1000; i++) {
		ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer);

		if (n != (ssize_t)strlen(p) || memcmp(buffer, p, (size_t)n))
			return p;
	}
	return NULL;
}

static void threads(void)
{
	char *own = realpath("/proc/self/exe", NULL);
	pthread_t t[4];
	void *wrong;

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, own);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &wrong);
		puts(wrong ? "wrong" : "right");
	}
	free(own);
}

int main(int argc, char **argv)
{
	char path[64], buffer[64];
	int fd;

	if (argc > 1 && !strcmp(argv[1], "wait"))
		return read(0, buffer, sizeof buffer) < 0;
	if (argc > 1) {
		all(argv[1]);
		fd = open(argv[1], O_PATH | O_NOFOLLOW);
		show("of the link", buffer, readlinkat(fd, "", buffer, room));
		return 0;
	}
	all("/proc/self/exe");
	sizes("/proc/self/exe");
	snprintf(path, sizeof path, "/proc/%ld/exe", (long)getpid());
	all(path);
	fd = open("/proc/self/exe", O_RDONLY);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	all(path);
	errno = 0;
	printf("no such %zd %d\n", readlink("/proc/self/no/exe", buffer, sizeof buffer), errno);
	printf("no link %p %d\n", (void *)realpath("/nowhere/exe", NULL), errno);
	printf("nothing %p %d\n", (void *)realpath(NULL, NULL), errno);
	signal(SIGUSR1, in_handler);
	raise(SIGUSR1);
	threads();
	return 0;
}
