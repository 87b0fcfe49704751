/* A thread of C that uses CPU time beside the script's. */
#include <pthread.h>
#include <time.h>

static pthread_t thread;
static double wanted;
static volatile unsigned long turns;

static void *spin(void *none)
{
	struct timespec t;

	(void)none;
	do {
		for (int i = 0; i < 10000; i++)
			turns++;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < wanted);
	return none;
}

void spin_start(double seconds)
{
	wanted = seconds;
	pthread_create(&thread, NULL, spin, NULL);
}

void spin_join(void)
{
	pthread_join(thread, NULL);
}
