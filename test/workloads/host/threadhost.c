/* threadhost THREADS N - threads that compute, wait for one another, are cancelled and interrupted. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

unsigned long threadlib_sort(unsigned long seed, size_t n);
unsigned long threadlib_next(void);
int threadlib_ackermann(int m, int n);
extern __thread int threadlib_depth;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int whose, threads, n, depths[64];
static unsigned long results[64];
static volatile sig_atomic_t ticks;
static long shared;

static void *work(void *argument)
{
	int me = (int)(long)argument;

	results[me] = threadlib_sort((unsigned long)me + 7, (size_t)n) + (unsigned long)threadlib_ackermann(2, 40 + me);
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		shared++;
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	while (whose != me)
		pthread_cond_wait(&turn, &lock);
	depths[me] = threadlib_depth;
	whose++;
	pthread_cond_broadcast(&turn);
	pthread_mutex_unlock(&lock);
	return argument;
}

static void cleanup(void *text)
{
	puts(text);
}

static void *sleeper(void *argument)
{
	pthread_cleanup_push(cleanup, "cancelled, cleaned up");
	sem_post(argument);
	for (;;)
		sleep(100);
	pthread_cleanup_pop(0);
	return NULL;
}

static void tick(int sig)
{
	(void)sig;
	ticks++;
}

static void interrupted(void)
{
	struct itimerspec period = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigevent event;
	timer_t timer;
	unsigned long crc = 0;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGALRM;
	signal(SIGALRM, tick);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &period, NULL);
	while (ticks < 20)
		crc = crc32(crc, (const unsigned char *)"some bytes", 10);
	timer_delete(timer);
	printf("interrupted %s\n", crc || ticks >= 20 ? "enough" : "never");
}

int main(int argc, char **argv)
{
	pthread_t id[64], victim;
	void *value;
	sem_t ready;

	threads = argc > 1 ? atoi(argv[1]) : 4;
	n = argc > 2 ? atoi(argv[2]) : 1000;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (long i = 0; i < threads; i++)
		pthread_create(&id[i], NULL, work, (void *)i);
	for (int i = 0; i < threads; i++) {
		pthread_join(id[i], &value);
		printf("thread %ld: %lu depth %d\n", (long)value, results[i], depths[i]);
	}
	printf("shared %ld\n", shared);
	sem_init(&ready, 0, 0);
	pthread_create(&victim, NULL, sleeper, &ready);
	sem_wait(&ready);
	pthread_cancel(victim);
	pthread_join(victim, &value);
	puts(value == PTHREAD_CANCELED ? "was cancelled" : "was not cancelled");
	interrupted();
	return 3;
}
