/* fakehost [signals] - calls into libfake.so by new and old addresses; with signals: while a timer interrupts it, in a system
   call that is restarted, and in an instruction that faults and is retried. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

int fake_run(int n);
int fake_run_old(int n);
long fake_read(int fd, void *buf, size_t n);
void fake_touch(char *p);

static int pipes[2];
static volatile sig_atomic_t ticks;
static char *page;

static void tick(int sig)
{
	(void)sig;
	if (++ticks % 4 == 0 && write(pipes[1], "x", 1) != 1)
		_exit(1);
}

static void fault(int sig)
{
	(void)sig;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void with_signals(void)
{
	struct itimerval period = { { 0, 20000 }, { 0, 20000 } }, off = { { 0, 0 }, { 0, 0 } };
	struct sigaction a = { .sa_handler = tick, .sa_flags = SA_RESTART };
	char c;

	if (pipe(pipes))
		_exit(1);
	sigaction(SIGALRM, &a, NULL);
	signal(SIGSEGV, fault);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	setitimer(ITIMER_REAL, &period, NULL);
	for (int i = 0; i < 5; i++) {
		fake_run(10);
		fake_read(pipes[0], &c, 1);
		mprotect(page, 4096, PROT_READ);
		fake_touch(page);
	}
	setitimer(ITIMER_REAL, &off, NULL);
}

int main(int argc, char **argv)
{
	char c = 0;

	(void)argv;
	for (int i = 0; i < 2; i++)
		fake_run(100 + i);
	for (int i = 0; i < 3; i++)
		fake_run_old(7);
	fake_touch(&c);
	if (argc > 1)
		with_signals();
	printf("%d\n", c);
	return 0;
}
