/* moments-lib.c - a function of its own for each moment in an object's life, called as often as its macro says: nothing else calls it. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define MOMENT(name, times) \
	__attribute__((noinline, noclone, visibility("hidden"))) long name(long x) { __asm__ volatile (""); return x + 1; } \
	static void name##_##times(void) { for (volatile long x = 0; x < times;) x = name(x); }

MOMENT(in_init, 11)
MOMENT(in_constructor, 12)
MOMENT(in_call, 13)
MOMENT(in_handler, 1)
MOMENT(in_exit_handler, 15)
MOMENT(in_destructor, 16)
MOMENT(in_fini, 17)

/* While the object is being relocated nothing outside it can be called. */
__attribute__((noinline, noclone, visibility("hidden"))) long in_resolver(long x) { __asm__ volatile (""); return x * 3; }
static long two(long x) { return x + 2; }
static long three(long x) { return x + 3; }
static long (*resolve(void))(long)
{
	long x = 1;

	for (int i = 0; i < 10; i++)
		x = in_resolver(x);
	return x == 59049 ? two : three;
}
long chosen(long x) __attribute__((ifunc("resolve")));
long (*const volatile chosen_at_load)(long) = chosen;	/* the one reference: the loader fills it in, before any constructor */

static void tell(const char *what)
{
	size_t n = 0;

	while (what[n])
		n++;
	if (write(1, what, n) < 0)
		abort();
}

void first(void);
void last(void);
void first(void) { in_init_11(); }
void last(void) { in_fini_17(); tell("fini\n"); }
__attribute__((constructor)) static void begin(void) { in_constructor_12(); }
__attribute__((destructor)) static void end(void) { in_destructor_16(); tell("destructor\n"); }

static void handler(int number) { (void)number; in_handler_1(); }
static void at_exit(void) { in_exit_handler_15(); tell("exit handler\n"); }

/* Calls, 14 signals, and with IN_EXIT a handler for the program's exit.  0: all is as it should be. */
int moments(int in_exit);
int moments(int in_exit)
{
	struct sigaction act = { .sa_handler = handler };

	in_call_13();
	sigaction(SIGUSR1, &act, NULL);
	for (int i = 0; i < 14; i++)
		raise(SIGUSR1);
	if (in_exit)
		atexit(at_exit);
	return chosen_at_load(40) != 42;
}
