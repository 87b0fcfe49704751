/* signals.c - the sampler's signal stays the sampler's. */
#include "tools/trace-run/signals.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include "tools/trace-run/owner.h"

static bool installing;
static volatile int kept;		/* 0: none */
static struct sigaction wished;		/* what the script would find there */

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static __sighandler_t (*real_signal)(int, __sighandler_t);
static int (*real_mask)(int, const sigset_t *, sigset_t *);

#define FIND(to, name) \
	do { \
		if (!(to)) \
			*(void **)&(to) = dlsym(RTLD_NEXT, name); \
	} while (0)

int sigaction(int number, const struct sigaction *action, struct sigaction *was)
{
	FIND(real_sigaction, "sigaction");
	if (kept && number == kept && owner_is_process()) {
		struct sigaction before = wished;

		if (action)
			wished = *action;
		if (was)
			*was = before;
		return 0;
	}
	if (installing && action && number >= SIGRTMIN)
		kept = number;
	return real_sigaction(number, action, was);
}

__sighandler_t signal(int number, __sighandler_t handler)
{
	FIND(real_signal, "signal");
	if (kept && number == kept && owner_is_process()) {
		__sighandler_t before = wished.sa_handler;

		wished = (struct sigaction){ .sa_handler = handler };
		return before;
	}
	return real_signal(number, handler);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *was)
{
	sigset_t others;

	FIND(real_mask, "pthread_sigmask");
	if (set && kept && how != SIG_UNBLOCK && owner_is_thread()) {
		others = *set;
		sigdelset(&others, kept);
		set = &others;
	}
	return real_mask(how, set, was);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *was)
{
	int error = pthread_sigmask(how, set, was);

	if (!error)
		return 0;
	errno = error;
	return -1;
}

void signals_begin(void)
{
	installing = true;
}

/* The parent may have blocked all signals. */
void signals_end(void)
{
	sigset_t set;

	installing = false;
	if (!kept)
		return;
	sigemptyset(&set);
	sigaddset(&set, kept);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void signals_detach(void)
{
	kept = 0;
}
