/* no-libc.c - a program without a C library, and (-DLIB) its library: both call a counted function, fork with a system call of their
   own, and count on in parent and child at the same time. */
#if defined(LIB)
long called(long x);
long called(long x) { return x + 1; }
#else
enum { TIMES = 1000003, SYS_FORK = 57, SYS_CLONE = 56, SYS_EXIT = 60, SYS_WAIT4 = 61, SIGCHLD_NUMBER = 17 };
long called(long x);

static long system_call(long number, long a, long b, long c)
{
	register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
	long result;

	__asm__ volatile ("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
	return result;
}

__attribute__((noinline)) long own(long x) { __asm__ volatile (""); return called(x); }

static void work(void)
{
	for (long x = 0; x < TIMES;)
		x = own(x);
}

static int child_of(long pid)
{
	int status = 0;

	work();
	if (pid == 0)
		system_call(SYS_EXIT, 0, 0, 0);
	return pid < 0 || system_call(SYS_WAIT4, pid, (long)&status, 0) != pid || status;
}

__attribute__((force_align_arg_pointer, noreturn)) void _start(void)
{
	int failed = child_of(system_call(SYS_FORK, 0, 0, 0));

	failed |= child_of(system_call(SYS_CLONE, SIGCHLD_NUMBER, 0, 0));
	system_call(SYS_EXIT, failed, 0, 0);
	__builtin_unreachable();
}
#endif
