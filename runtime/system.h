/* system.h - what the run-time code asks of the kernel.  Results are negative errno values on failure; errno itself, which is
   the program's, is never touched. */
#ifndef RUNTIME_SYSTEM_H
#define RUNTIME_SYSTEM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include "runtime/x86_64.h"
#elif defined(__mips__) && _MIPS_SIM == _ABIO32
#include "runtime/mips.h"
#else
#error "no system-call layer for this machine"
#endif

enum { AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 0x100, AT_EMPTY_PATH = 0x1000 };
enum { PROT_READ = 1, PROT_WRITE = 2, MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2, MADV_WIPEONFORK = 18 };
enum { CLOCK_REALTIME = 0, RLIMIT_FSIZE = 1 };
enum { STATX_TYPE = 1, STATX_SIZE = 0x200, MODE_TYPE = 0170000, MODE_REGULAR = 0100000 };

/* The head of the kernel's struct statx, which is the same on every machine, and room for the rest of it. */
struct system_stat {
	uint32_t mask, block_size;
	uint64_t attributes;
	uint32_t links, user, group;
	uint16_t mode, spare;
	uint64_t inode, size;
	uint8_t rest[208];
};

struct system_dirent {
	uint64_t inode, offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static inline long sys_openat(int dir, const char *path, int flags, int mode)
{
	return system_call(SYS_openat, dir, (long)path, flags | O_CLOEXEC, mode, 0, 0);
}

static inline long sys_close(int fd)
{
	return system_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_read(int fd, void *to, size_t n)
{
	long got;

	do
		got = system_call(SYS_read, fd, (long)to, (long)n, 0, 0, 0);
	while (got == -EINTR);
	return got;
}

static inline long sys_write(int fd, const void *bytes, size_t n)
{
	return system_call(SYS_write, fd, (long)bytes, (long)n, 0, 0, 0);
}

static inline long sys_unlinkat(int dir, const char *name)
{
	return system_call(SYS_unlinkat, dir, (long)name, 0, 0, 0, 0);
}

static inline long sys_readlink(const char *path, char *to, size_t n)
{
	return system_call(SYS_readlinkat, AT_FDCWD, (long)path, (long)to, (long)n, 0, 0);
}

static inline long sys_stat(int dir, const char *name, int flags, struct system_stat *st)
{
	return system_call(SYS_statx, dir, (long)name, flags, STATX_TYPE | STATX_SIZE, (long)st, 0);
}

static inline long sys_getdents(int dir, void *to, size_t n)
{
	return system_call(SYS_getdents64, dir, (long)to, (long)n, 0, 0, 0);
}

static inline bool sys_failed(long result)
{
	return (unsigned long)result > -4096UL;
}

/* mmap for reading and writing; the address, or as long a negative errno value. */
static inline long sys_mmap(void *at, size_t n, int flags, int fd)
{
	return system_call(SYS_mmap, (long)at, (long)n, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static inline long sys_munmap(void *at, size_t n)
{
	return system_call(SYS_munmap, (long)at, (long)n, 0, 0, 0, 0);
}

/* Moves the pages at FROM over those at TO in one step: nobody sees anything in between. */
static inline long sys_move_pages(void *from, size_t n, void *to)
{
	return system_call(SYS_mremap, (long)from, (long)n, (long)n, MREMAP_MAYMOVE | MREMAP_FIXED, (long)to, 0);
}

static inline long sys_madvise(void *at, size_t n, int advice)
{
	return system_call(SYS_madvise, (long)at, (long)n, advice, 0, 0, 0);
}

static inline uint32_t sys_getpid(void)
{
	return (uint32_t)system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* Whether the program runs with rights that whoever started it does not have. */
static inline bool sys_privileged(void)
{
	return system_call(SYS_getuid, 0, 0, 0, 0, 0, 0) != system_call(SYS_geteuid, 0, 0, 0, 0, 0, 0) ||
	       system_call(SYS_getgid, 0, 0, 0, 0, 0, 0) != system_call(SYS_getegid, 0, 0, 0, 0, 0, 0);
}

/* The longest file that this process may write without a SIGXFSZ. */
static inline uint64_t sys_file_limit(void)
{
	uint64_t limit[2];

	return system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)limit, 0, 0) < 0 ? 0 : limit[0];
}

/* Whether sixteen bytes can be read there: the kernel reads them before it refuses to set a limit that there is not, and where
   there is nothing we get an error instead of a signal. */
static inline bool sys_readable(const void *p)
{
	return system_call(SYS_prlimit64, 0, -1, (long)p, 0, 0, 0) != -EFAULT;
}
#endif
