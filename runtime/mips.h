/* mips.h - the system-call layer of the run-time code on MIPS o32 Linux, both byte orders. */
#ifndef RUNTIME_MIPS_H
#define RUNTIME_MIPS_H

enum {
	SYS_read = 4003, SYS_write = 4004, SYS_close = 4006, SYS_getpid = 4020, SYS_getuid = 4024, SYS_getgid = 4047, SYS_geteuid = 4049,
	SYS_getegid = 4050, SYS_munmap = 4091, SYS_mremap = 4167, SYS_pwrite64 = 4201, SYS_mmap = 4210 /* mmap2 */,
	SYS_ftruncate64 = 4212, SYS_madvise = 4218, SYS_getdents64 = 4219, SYS_clock_gettime = 4263, SYS_openat = 4288,
	SYS_unlinkat = 4294, SYS_readlinkat = 4298, SYS_fallocate = 4320, SYS_prlimit64 = 4338, SYS_statx = 4366,
	SYS_clock_gettime64 = 4403,
};
enum {
	O_RDONLY = 0, O_RDWR = 2, O_APPEND = 8, O_NONBLOCK = 0x80, O_CREAT = 0x100, O_EXCL = 0x400, O_DIRECTORY = 0200000,
	O_NOFOLLOW = 0400000, O_CLOEXEC = 02000000, O_PATH = 010000000,
};
enum { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 16, MAP_ANONYMOUS = 0x800 };
enum { EPERM = 1, EINTR = 4, EIO = 5, EFAULT = 14, EEXIST = 17, EINVAL = 22, ENAMETOOLONG = 78, ENOSYS = 89, EOPNOTSUPP = 122 };

/* The fifth and sixth arguments go on the stack, behind room for four.  Kernels before 2.6.36 restart a call one instruction
   before it, which is why its number is loaded there from a register that survives. */
static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r2 __asm__("$2"), r4 __asm__("$4") = a, r5 __asm__("$5") = b, r6 __asm__("$6") = c, r7 __asm__("$7") = d;
	register long r8 __asm__("$8") = e, r9 __asm__("$9") = f, r16 __asm__("$16") = number;

	__asm__ volatile (
		".set noreorder\n\t"
		"addiu $29, $29, -32\n\t"
		"sw $8, 16($29)\n\t"
		"sw $9, 20($29)\n\t"
		"move $2, $16\n\t"
		"syscall\n\t"
		"addiu $29, $29, 32\n\t"
		".set reorder"
		: "=r"(r2), "+r"(r7), "+r"(r8), "+r"(r9) : "r"(r4), "r"(r5), "r"(r6), "r"(r16)
		: "$1", "$3", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "hi", "lo", "memory");
	return r7 ? -r2 : r2;
}

/* The calls whose 64-bit arguments or results have another form on 32-bit machines: a pair of registers (or of stack words) that
   begins with an even one, in the order of the bytes in memory. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define SYSTEM_PAIR(n) (long)((n) >> 32), (long)(n)
#else
#define SYSTEM_PAIR(n) (long)(n), (long)((n) >> 32)
#endif

static inline long sys_pwrite(int fd, const void *bytes, size_t n, uint64_t offset)
{
	return system_call(SYS_pwrite64, fd, (long)bytes, (long)n, 0, SYSTEM_PAIR(offset));
}

static inline long sys_ftruncate(int fd, uint64_t size)
{
	return system_call(SYS_ftruncate64, fd, 0, SYSTEM_PAIR(size), 0, 0);
}

static inline long sys_fallocate(int fd, uint64_t size)
{
	return system_call(SYS_fallocate, fd, 0, 0, 0, SYSTEM_PAIR(size));
}

struct system_time { int64_t seconds, nanoseconds; };

/* Kernels before 5.1 know the 32-bit call only, later ones may be built without it. */
static inline long sys_clock_gettime(int clock, struct system_time *t)
{
	uint32_t old[2] = { 0, 0 };
	long result = system_call(SYS_clock_gettime64, clock, (long)t, 0, 0, 0, 0);

	if (result != -ENOSYS)
		return result;
	result = system_call(SYS_clock_gettime, clock, (long)old, 0, 0, 0, 0);
	t->seconds = old[0];
	t->nanoseconds = old[1];
	return result;
}
#endif
