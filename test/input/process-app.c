/* process-app.c HOW [ARG...] - calls a library 1,000,003 times from a counted program, in an odd process or with an odd end. */
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 1000003, THREADS = 8, ROUNDS = 10000000 };

long called(long x);
long flagged(long n);
void fault(void);

__attribute__((noinline, noclone)) long own(long x)
{
	__asm__ volatile ("");
	return called(x);
}

static void work(void)
{
	long x = 0;

	while (x < TIMES)
		x = own(x);
}

static void *in_thread(void *unused)
{
	long left = flagged(ROUNDS);

	if (left != ROUNDS - 1)
		abort();
	return unused;
}

static void threads(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, in_thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void late(void)
{
	work();
}

/* As daemons do: two forks, a session, no descriptor, another directory, no rights. */
static void become_daemon(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, &status, 0);
		_exit(status != 0);
	}
	setsid();
	pid = fork();
	if (pid)
		_exit(waitpid(pid, &status, 0) != pid || status);
	for (int i = 0; i < 256; i++)
		close(i);
	if (chdir("/") || setgid(65534) || setuid(65534))
		_exit(1);
}

/* At the same time in parent and child. */
static void work_in_two(void)
{
	int status = 0;
	pid_t pid = fork();

	work();
	if (!pid)
		_exit(0);
	if (waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

/* Where there is no directory for the child's counts. */
static void change_root(const char *root)
{
	if (chroot(root) || chdir("/"))
		exit(1);
	work_in_two();
}

static void fill_descriptors(void)
{
	while (dup(0) >= 0)
		;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";

	if (!strcmp(how, "threads")) {
		threads();
		return 0;
	}
	if (!strcmp(how, "daemon"))
		become_daemon();
	if (!strncmp(how, "descriptors", 11))
		fill_descriptors();
	if (!strcmp(how, "at-exit"))
		atexit(late);
	work();
	if (!strcmp(how, "chroot"))
		change_root(argv[2]);
	if (!strcmp(how, "descriptors-fork"))
		work_in_two();
	if (!strcmp(how, "exec"))
		execv(argv[2], argv + 2);
	if (!strcmp(how, "quick_exit"))
		quick_exit(0);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "fault"))
		fault();
	if (!strcmp(how, "seccomp")) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			return 1;
		work();
		syscall(SYS_exit, 0);
	}
	return 0;
}
