/* owner.c - whose the profile is. */
#include "tools/trace-run/owner.h"
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static pid_t process;
/* A page that a forked child finds empty: asking the kernel at each event of the compiler would cost more than the event. */
static volatile const char *page;
static _Thread_local bool is_thread;
static clockid_t clock_of_thread;

static void take_page(void)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	if (madvise(p, size, MADV_WIPEONFORK)) {
		munmap(p, size);
		return;
	}
	*p = 1;
	page = p;
}

void owner_take(void)
{
	process = getpid();
	is_thread = true;
	take_page();
	if (pthread_getcpuclockid(pthread_self(), &clock_of_thread))
		clock_of_thread = CLOCK_THREAD_CPUTIME_ID;
}

bool owner_is_process(void) { return page ? *page : getpid() == process; }
bool owner_is_thread(void) { return is_thread && owner_is_process(); }

uint64_t owner_time(void)
{
	struct timespec t = { 0, 0 };

	clock_gettime(clock_of_thread, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
