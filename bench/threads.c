/* threads.c THREADS CALLS same|near|far - each thread calls one function so often: all the same one, or each its own, with counters
   side by side or on cache lines of their own.  Prints seconds of wall time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef long function(long);
function near0, near1, near2, near3, near4, near5, near6, near7, far0, far1, far2, far3, far4, far5, far6, far7;
static function *const near_ones[] = { near0, near1, near2, near3, near4, near5, near6, near7 };
static function *const far_ones[] = { far0, far1, far2, far3, far4, far5, far6, far7 };
static long calls;

static void *work(void *to)
{
	function *f = *(function *const *)to;
	long x = 0;

	while (x < calls)
		x = f(x);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 4 ? atoi(argv[1]) : 0;
	function *const *ones = argc == 4 && !strcmp(argv[3], "far") ? far_ones : near_ones;
	struct timespec a, b;
	pthread_t t[8];

	if (threads < 1 || threads > 8)
		return 2;
	calls = atol(argv[2]);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, (void *)&ones[strcmp(argv[3], "same") ? i : 0]);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.6f\n", (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
	return 0;
}
