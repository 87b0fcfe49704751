/* x86_64.h - the system-call layer of the run-time code on x86-64 Linux: the call itself, its numbers, and the constants that
   differ between machines.  Another machine's header defines the same names. */
#ifndef RUNTIME_X86_64_H
#define RUNTIME_X86_64_H

enum {
	SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_mmap = 9, SYS_munmap = 11, SYS_pwrite64 = 18,
	SYS_mremap = 25, SYS_madvise = 28, SYS_getpid = 39, SYS_ftruncate = 77, SYS_getuid = 102, SYS_getgid = 104, SYS_geteuid = 107,
	SYS_getegid = 108, SYS_getdents64 = 217, SYS_clock_gettime = 228, SYS_openat = 257, SYS_unlinkat = 263,
	SYS_readlinkat = 267, SYS_fallocate = 285, SYS_prlimit64 = 302, SYS_statx = 332,
};
enum {
	O_RDONLY = 0, O_RDWR = 2, O_CREAT = 0100, O_EXCL = 0200, O_APPEND = 02000, O_NONBLOCK = 04000, O_DIRECTORY = 0200000,
	O_NOFOLLOW = 0400000, O_CLOEXEC = 02000000, O_PATH = 010000000,
};
enum { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 16, MAP_ANONYMOUS = 32, MAP_FIXED_NOREPLACE = 0x100000 };
/* Below where the kernel puts mappings, and where sanitizers allow them. */
#define REGISTRY_ADDRESS 0x7e9053504000
enum { EPERM = 1, EINTR = 4, EIO = 5, EFAULT = 14, EEXIST = 17, EINVAL = 22, ENAMETOOLONG = 36, ENOSYS = 38, EOPNOTSUPP = 95 };

static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile ("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                  : "rcx", "r11", "memory");
	return result;
}

/* The calls whose 64-bit arguments or results have another form on 32-bit machines. */
static inline long sys_pwrite(int fd, const void *bytes, size_t n, uint64_t offset)
{
	return system_call(SYS_pwrite64, fd, (long)bytes, (long)n, (long)offset, 0, 0);
}

static inline long sys_ftruncate(int fd, uint64_t size)
{
	return system_call(SYS_ftruncate, fd, (long)size, 0, 0, 0, 0);
}

static inline long sys_fallocate(int fd, uint64_t size)
{
	return system_call(SYS_fallocate, fd, 0, 0, (long)size, 0, 0);
}

struct system_time { int64_t seconds, nanoseconds; };

static inline long sys_clock_gettime(int clock, struct system_time *t)
{
	return system_call(SYS_clock_gettime, clock, (long)t, 0, 0, 0, 0);
}
#endif
