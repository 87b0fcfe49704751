/* sampler.c - a clock of the thread's CPU time, and the handler of its signal. */
#include "tools/trace-run/sampler.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/msg.h"
#include "tools/trace-run/descriptor.h"
#include "tools/trace-run/stack.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { STACK_BYTES = 128 * 1024, NANO = 1000000000 };

static struct {
	int fd;				/* of the perf event; -1: the timer */
	timer_t timer;
	bool has_timer;
	uint64_t period;
	volatile sig_atomic_t on;
	volatile uint64_t code_low, code_high;
} sampler = { .fd = -1 };

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NANO + (uint64_t)t.tv_nsec;
}

uint64_t sampler_process_time(void) { return now(CLOCK_PROCESS_CPUTIME_ID); }

static void on_tick(int number, siginfo_t *info, void *p)
{
	const ucontext_t *context = p;
	int error = errno;
	struct sample *s = sampler.on ? emit_sample_begin() : NULL;

	(void)number;
	if (s) {
		s->time = now(CLOCK_MONOTONIC);
		s->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
		s->return_address = s->c_function = 0;
		s->frames = 0;
		s->weight = info->si_code == SI_TIMER && info->si_overrun > 0 ? 1 + (uint32_t)info->si_overrun : 1;
		stack_look(s, context, sampler.code_low, sampler.code_high);
		emit_sample();
	}
	errno = error;
}

/* What the kernel sends when it cannot queue another real-time signal; without a handler that would end the script. */
static void on_overflow(int number)
{
	(void)number;
}

static bool is_free(int number)
{
	struct sigaction was;

	return !sigaction(number, NULL, &was) && was.sa_handler == SIG_DFL;
}

static int install(void)
{
	static char stack[STACK_BYTES];
	struct sigaction action = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	int number = SIGRTMAX - 2;

	sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof stack }, NULL);
	while (number > SIGRTMIN && !is_free(number))
		number--;
	sigfillset(&action.sa_mask);
	sigaction(number, &action, NULL);
	if (is_free(SIGIO))
		sigaction(SIGIO, &(struct sigaction){ .sa_handler = on_overflow, .sa_flags = SA_RESTART | SA_ONSTACK }, NULL);
	return number;
}

static int open_perf(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = sampler.period,
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1, .wakeup_events = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -1 : descriptor_away(fd);
}

static bool prepare_perf(int number)
{
	struct f_owner_ex owner = { F_OWNER_TID, gettid() };

	sampler.fd = open_perf();
	if (sampler.fd < 0)
		return false;
	if (!fcntl(sampler.fd, F_SETOWN_EX, &owner) && !fcntl(sampler.fd, F_SETSIG, number) &&
	    !fcntl(sampler.fd, F_SETFL, fcntl(sampler.fd, F_GETFL) | O_ASYNC))
		return true;
	close(sampler.fd);
	sampler.fd = -1;
	return false;
}

static bool prepare_timer(int number)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number };

	event.sigev_notify_thread_id = gettid();
	sampler.has_timer = !timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &sampler.timer);
	return sampler.has_timer;
}

void sampler_prepare(struct sampler *s, unsigned hertz)
{
	static char why[160];
	int number;

	*s = (struct sampler){ .kind = "perf" };
	if (!hertz)
		return;
	stack_init();
	s->period = sampler.period = NANO / hertz;
	number = install();
	if (prepare_perf(number))
		return;
	snprintf(why, sizeof why, "perf_event_open: %s; the timer of the CPU time ticks no faster than the kernel's clock", strerror(errno));
	s->kind = "timer";
	s->why = why;
	if (prepare_timer(number))
		return;
	s->period = 0;
	s->why = "neither perf_event_open nor timer_create is allowed";
	msg_warn(NULL, "%s: symbols only", s->why);
}

static void set_timer(uint64_t period)
{
	struct timespec t = { (time_t)(period / NANO), (long)(period % NANO) };

	timer_settime(sampler.timer, 0, &(struct itimerspec){ t, t }, NULL);
}

void sampler_start(void)
{
	sampler.on = 1;
	if (sampler.fd >= 0)
		ioctl(sampler.fd, PERF_EVENT_IOC_ENABLE, 0);
	else if (sampler.has_timer)
		set_timer(sampler.period);
}

void sampler_stop(void)
{
	if (sampler.fd >= 0)
		ioctl(sampler.fd, PERF_EVENT_IOC_DISABLE, 0);
	else if (sampler.has_timer)
		set_timer(0);
	sampler.on = 0;
}

void sampler_detach(void)
{
	sampler.on = 0;
	if (sampler.fd >= 0)
		close(sampler.fd);
	sampler.fd = -1;
	sampler.has_timer = false;
}

void sampler_code_range(uint64_t low, uint64_t high)
{
	sampler.code_high = 0;
	sampler.code_low = low;
	sampler.code_high = high;
}
