/* kernel.h - system calls of the audit object beyond those of runtime/system.h.  File information is asked for as the loader itself
   asks: a sandbox that lets a program open plugins knows that call. */
#ifndef SO_RUN_AUDIT_KERNEL_H
#define SO_RUN_AUDIT_KERNEL_H
#include <asm/stat.h>
#include <asm/unistd.h>
#include "runtime/system.h"

static inline bool kernel_stat(const char *path, struct stat *st)
{
#ifdef __NR_newfstatat
	return system_call(__NR_newfstatat, AT_FDCWD, (long)path, (long)st, 0, 0, 0) == 0;
#else
	return system_call(__NR_fstatat64, AT_FDCWD, (long)path, (long)st, 0, 0, 0) == 0;
#endif
}

static inline int64_t kernel_mtime(const struct stat *st)
{
	return (int64_t)st->st_mtime * 1000000000 + (int64_t)st->st_mtime_nsec;
}

static inline bool kernel_is_readable(const char *path)
{
	long fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);

	if (fd >= 0)
		sys_close((int)fd);
	return fd >= 0;
}

/* Maps a whole regular file for reading; NULL: it cannot be, or is empty. */
static inline const char *kernel_map(const char *path, size_t *size)
{
	long fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0), at = -EINVAL;
	struct system_stat st;

	if (fd < 0)
		return NULL;
	if (sys_stat((int)fd, "", AT_EMPTY_PATH, &st) >= 0 && (st.mode & MODE_TYPE) == MODE_REGULAR && st.size && st.size < 1 << 30) {
		*size = st.size;
		at = system_call(__NR_mmap, 0, (long)*size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	sys_close((int)fd);
	return sys_failed(at) ? NULL : (const char *)at;
}

/* The limit of the process, the largest number when there is none. */
static inline uint64_t kernel_limit(int which)
{
	uint64_t limit[2];

	return system_call(SYS_prlimit64, 0, which, 0, (long)limit, 0, 0) < 0 ? UINT64_MAX : limit[0];
}

/* The call that the C library makes: a sandbox may know no other. */
static inline long kernel_readlink(int dir, const char *path, char *to, size_t n)
{
#ifdef __NR_readlink
	if (dir == AT_FDCWD)
		return system_call(__NR_readlink, (long)path, (long)to, (long)n, 0, 0, 0);
#endif
	return system_call(__NR_readlinkat, dir, (long)path, (long)to, (long)n, 0, 0);
}

enum { PROT_EXEC = 4 };

static inline bool kernel_protect(uintptr_t at, size_t n, int protection)
{
	return system_call(__NR_mprotect, (long)at, (long)n, protection, 0, 0, 0) == 0;
}

static inline void kernel_execve(const char *path, char **argv, char **environment)
{
	system_call(__NR_execve, (long)path, (long)argv, (long)environment, 0, 0, 0);
}
#endif
