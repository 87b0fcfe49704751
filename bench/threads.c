/* threads.c CALLS NAME... - a thread for each name, each on a processor of its own as far as there are so many, calls the function of
   that name so often.  Prints nanoseconds of its thread's CPU time a call, the middle of all threads. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef long function(long);
enum { MOST = 8 };
static struct { function *f; int number; double seconds, wall; } threads[MOST];
static pthread_barrier_t begin;
static long calls;
static cpu_set_t all;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void take_processor(int number)
{
	cpu_set_t one;
	int seen = 0;

	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all) && seen++ == number % CPU_COUNT(&all)) {
			CPU_ZERO(&one);
			CPU_SET(i, &one);
			sched_setaffinity(0, sizeof one, &one);
			return;
		}
}

static void *work(void *to)
{
	int i = *(const int *)to;
	function *f = threads[i].f;
	long x = 0;
	double from, begun;

	take_processor(i);
	pthread_barrier_wait(&begin);
	from = now(CLOCK_THREAD_CPUTIME_ID);
	begun = now(CLOCK_MONOTONIC);
	while (x < calls)
		x = f(x);
	threads[i].seconds = now(CLOCK_THREAD_CPUTIME_ID) - from;
	threads[i].wall = now(CLOCK_MONOTONIC) - begun;
	return NULL;
}

static _Alignas(64) volatile long turn;	/* odd: the other's; -1: the end */

static void *answer(void *unused)
{
	take_processor(1);
	pthread_barrier_wait(&begin);
	for (long i; (i = turn) >= 0;)
		if (i % 2)
			__sync_bool_compare_and_swap(&turn, i, i + 1);
	return unused;
}

/* The least of many rounds within two seconds: in it nobody else had the processors. */
static void ping(void)
{
	enum { TURNS = 100 };
	double least = 1e9, begun, from, to = 0;
	pthread_t t;

	pthread_barrier_init(&begin, NULL, 2);
	pthread_create(&t, NULL, answer, NULL);
	take_processor(0);
	pthread_barrier_wait(&begin);
	for (begun = now(CLOCK_MONOTONIC); to < begun + 2; least = to - from < least ? to - from : least) {
		from = now(CLOCK_MONOTONIC);
		for (int i = 0; i < TURNS; i++) {
			long mine = turn, spins = 0;

			turn = mine + 1;
			while (turn != mine + 2 && (++spins % 100000 || now(CLOCK_MONOTONIC) < begun + 3))
				;
		}
		to = now(CLOCK_MONOTONIC);
	}
	turn = -1;
	pthread_join(t, NULL);
	printf("%.1f\n", least * 1e9 / TURNS);
}

int main(int argc, char **argv)
{
	int n = argc - 2;
	double sum = 0, wall = 0;
	pthread_t t[MOST];

	sched_getaffinity(0, sizeof all, &all);
	if (argc == 1) {
		ping();
		return 0;
	}
	if (n < 1 || n > MOST || (calls = atol(argv[1])) < 1)
		return 2;
	pthread_barrier_init(&begin, NULL, (unsigned)n);
	for (int i = 0; i < n; i++) {
		void *symbol = dlsym(RTLD_DEFAULT, argv[i + 2]);

		if (!symbol)
			return 2;
		memcpy(&threads[i].f, &symbol, sizeof symbol);
		threads[i].number = i;
		pthread_create(&t[i], NULL, work, &threads[i].number);
	}
	for (int i = 0; i < n; i++) {
		pthread_join(t[i], NULL);
		sum += threads[i].seconds;
		wall += threads[i].wall;
	}
	printf("%.4f %.3f\n", sum * 1e9 / n / (double)calls, sum / wall);
	return 0;
}
