/* tick.c - HZ: what this machine takes for HZ signals a second of CPU time with a handler that does nothing: the floor of any sampler
   like trace-run's.  Prints the CPU time of a fixed piece of work; HZ 0: without signals. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void on_tick(int number)
{
	(void)number;
}

static int start(int hertz)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000000ull / (unsigned)hertz, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1, .wakeup_events = 1,
	};
	struct f_owner_ex owner = { F_OWNER_TID, gettid() };
	int fd;

	sigaction(SIGRTMIN, &(struct sigaction){ .sa_handler = on_tick, .sa_flags = SA_RESTART }, NULL);
	fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, SIGRTMIN) || fcntl(fd, F_SETFL, O_ASYNC))
		return 1;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int main(int argc, char **argv)
{
	int hertz = argc > 1 ? atoi(argv[1]) : 0;
	volatile double x = 1;
	struct timespec t;

	if (hertz > 0 && start(hertz)) {
		perror("perf_event_open");
		return 1;
	}
	for (long i = 0; i < 100000000; i++)
		x = x * 1.0000001 + (double)(i % 7);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	printf("%.6f\n", (double)t.tv_sec + (double)t.tv_nsec / 1e9);
	return 0;
}
