/* survive.c - calls a function of a profiled library 1,000,003 times and ends in the way that the first argument says. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 1000003 };
extern char **environ;

long called(long x);

static void work(void)
{
	long x = 0;

	while (x < TIMES)
		x = called(x);
}

static void await(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		perror("child");
		exit(1);
	}
}

/* Parent and child wait for each other, so that both count at the same time. */
static int to_child[2], to_parent[2];

static void meet(int is_child)
{
	char c = 0;

	if (write(is_child ? to_parent[1] : to_child[1], &c, 1) != 1 || read(is_child ? to_child[0] : to_parent[0], &c, 1) != 1)
		abort();
}

static void both(pid_t pid)
{
	meet(!pid);
	work();
	if (!pid)
		_exit(0);
	await(pid);
}

static int in_clone(void *unused)
{
	(void)unused;
	meet(1);
	work();
	_exit(0);
}

static void cloned(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid = clone(in_clone, stack + sizeof stack, SIGCHLD, NULL);

	meet(0);
	work();
	await(pid);
}

static void *forks(void *unused)
{
	both(fork());
	return unused;
}

static void *works(void *unused)
{
	for (int i = 0; i < 10; i++)
		work();
	return unused;
}

static void in_threads(int n, void *(*f)(void *))
{
	pthread_t t[64];

	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, f, NULL))
			exit(1);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	called(1);
	alarms++;
}

/* Long enough for some thousands of signals. */
static void alarmed(void)
{
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	long rounds = 0;

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (rounds < 20 || (alarms < 5000 && rounds < 1000)) {
		work();
		rounds++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%ld\n", rounds * TIMES + alarms);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	char *again[] = { argv[0], "return", NULL };
	pid_t pid;

	if (pipe(to_child) || pipe(to_parent))
		return 1;
	if (!strcmp(how, "alarm"))
		return alarmed(), 0;
	if (!strcmp(how, "threads"))
		return in_threads(8, works), 0;
	if (!strcmp(how, "vfork-child")) {	/* the child counts in its parent's file, whose memory it has */
		if (!(pid = vfork())) {
			work();
			_exit(0);
		}
		return await(pid), 0;
	}
	if (!strcmp(how, "thread-fork"))
		return in_threads(1, forks), 0;
	if (!strcmp(how, "fork"))
		return both(fork()), 0;
	if (!strcmp(how, "raw-clone"))
		return both(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)), 0;
	if (!strcmp(how, "raw-fork"))
		return both(syscall(SYS_fork)), 0;
	if (!strcmp(how, "clone"))
		return cloned(), 0;
	if (!strcmp(how, "grandchild") && !(pid = fork())) {
		both(fork());
		_exit(0);
	} else if (!strcmp(how, "grandchild")) {
		await(pid);
	}
	work();
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "exec"))
		execv(argv[0], again);
	if (!strcmp(how, "vfork-exec")) {
		if (!(pid = vfork())) {
			execv(argv[0], again);
			_exit(1);
		}
		await(pid);
	}
	if (!strcmp(how, "spawn")) {
		if (posix_spawn(&pid, argv[0], NULL, NULL, again, environ))
			return 1;
		await(pid);
	}
	if (!strcmp(how, "system"))
		return system("true");
	return 0;
}
