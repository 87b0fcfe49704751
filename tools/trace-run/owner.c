/* owner.c - whose the profile is. */
#include "tools/trace-run/owner.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pid_t process;
static _Thread_local bool is_thread;
static clockid_t clock_of_thread;

void owner_take(void)
{
	process = getpid();
	is_thread = true;
	if (pthread_getcpuclockid(pthread_self(), &clock_of_thread))
		clock_of_thread = CLOCK_THREAD_CPUTIME_ID;
}

bool owner_is_process(void) { return getpid() == process; }
bool owner_is_thread(void) { return is_thread && owner_is_process(); }

uint64_t owner_time(void)
{
	struct timespec t = { 0, 0 };

	clock_gettime(clock_of_thread, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
