/* links.c - readlink, realpath and their kin, bound in place of the C library's.

   A program finds the files beside it by /proc/self/exe, and that is the profiled executable's path.  The real function is called
   first, so that errno is the program's; where it tells the path of a profiled executable, the original's is put in its place.  Only
   links that the kernel makes up are looked at, by the name that they have there (/proc/PID/exe, /proc/PID/fd/N): another link to
   a profiled executable leads where it leads.  No lock, no allocation, nothing written but the caller's buffer: signal handlers may
   call these. */
#define RUN_NO_LIBC
#include "runtime/text.h"
#include "tools/so-run/audit/kernel.h"
#include "tools/so-run/audit/links.h"

enum { PATH_LONGEST = 4096 };

static const struct run_index *index_;
static const char *own_twin, *own_original;
static const char *directory;			/* of all profiled executables */
static size_t directory_length, longest;	/* longest: of their paths; 0: there are none */

static long (*real_readlink)(const char *, char *, size_t);
static long (*real_readlinkat)(int, const char *, char *, size_t);
static long (*real_readlink_chk)(const char *, char *, size_t, size_t);
static long (*real_readlinkat_chk)(int, const char *, char *, size_t, size_t);
static char *(*real_realpath)(const char *, char *);
static char *(*real_realpath_chk)(const char *, char *, size_t);
static char *(*real_canonicalize)(const char *);

void links_start(const struct run_index *x, const char *twin, const char *original)
{
	const struct run_entry *e = run_entries(x);

	index_ = x;
	own_twin = twin;
	own_original = original;
	directory = run_string(x, x->directory);
	directory_length = text_length(directory, PATH_LONGEST);
	for (uint32_t i = 0; i < x->entries; i++) {
		size_t n = run_is_program(&e[i]) ? text_length(run_string(index_, e[i].twin), PATH_LONGEST) : 0;

		longest = n > longest ? n : longest;
	}
}

static bool is(const char *path, const char *bytes, size_t n)
{
	return text_length(path, n + 1) == n && !memcmp(path, bytes, n);
}

/* What stands for a profiled executable's path, or NULL. */
static const char *original_of(const char *bytes, size_t n)
{
	const struct run_entry *e = run_entries(index_);

	if (n <= directory_length || memcmp(bytes, directory, directory_length))
		return NULL;
	if (own_twin && is(own_twin, bytes, n))
		return own_original;
	for (uint32_t i = 0; i < index_->entries; i++)
		if (run_is_program(&e[i]) && is(run_string(index_, e[i].twin), bytes, n))
			return run_string(index_, e[i].original);
	return NULL;
}

/* Whether the last part is "exe" or the number of a descriptor. */
static bool may_be_kernels(const char *path)
{
	const char *last = path;

	for (; *path; path++)
		if (*path == '/')
			last = path + 1;
	if (is(last, "exe", 3))
		return true;
	if (last == path)
		return false;
	while (*last >= '0' && *last <= '9')
		last++;
	return last == path;
}

static const char *original_by(int dir, const char *path)
{
	char whole[longest + 1];
	long n = kernel_readlink(dir, path, whole, longest + 1);

	return n > 0 ? original_of(whole, (size_t)n) : NULL;
}

/* What the real one put into a buffer, where it found room for the first N bytes.  Behind the original's path the rest becomes zeros:
   programs that count on these cleared the buffer before. */
static long shown(int dir, const char *path, char *buffer, size_t size, long n)
{
	const char *original;
	size_t length;

	if (n <= 0 || memcmp(buffer, directory, (size_t)n < directory_length ? (size_t)n : directory_length) || !may_be_kernels(path))
		return n;
	original = (size_t)n < size ? original_of(buffer, (size_t)n) : original_by(dir, path);
	if (!original)
		return n;
	length = text_length(original, PATH_LONGEST);
	if (length > size)
		length = size;
	memcpy(buffer, original, length);
	if ((size_t)n > length)
		memset(buffer + length, 0, (size_t)n - length);
	return (long)length;
}

static long our_readlink(const char *path, char *buffer, size_t size)
{
	return shown(AT_FDCWD, path, buffer, size, real_readlink(path, buffer, size));
}

static long our_readlinkat(int dir, const char *path, char *buffer, size_t size)
{
	return shown(dir, path, buffer, size, real_readlinkat(dir, path, buffer, size));
}

static long our_readlink_chk(const char *path, char *buffer, size_t size, size_t room)
{
	return shown(AT_FDCWD, path, buffer, size, real_readlink_chk(path, buffer, size, room));
}

static long our_readlinkat_chk(int dir, const char *path, char *buffer, size_t size, size_t room)
{
	return shown(dir, path, buffer, size, real_readlinkat_chk(dir, path, buffer, size, room));
}

/* The real realpath is asked for the original, so that length and memory are its concern; where that is gone, for what was given. */
static const char *to_resolve(const char *name)
{
	return name && may_be_kernels(name) ? original_by(AT_FDCWD, name) : NULL;
}

static char *our_realpath(const char *name, char *resolved)
{
	const char *original = to_resolve(name);
	char *path = original ? real_realpath(original, resolved) : NULL;

	return path ? path : real_realpath(name, resolved);
}

static char *our_realpath_chk(const char *name, char *resolved, size_t room)
{
	const char *original = to_resolve(name);
	char *path = original ? real_realpath_chk(original, resolved, room) : NULL;

	return path ? path : real_realpath_chk(name, resolved, room);
}

static char *our_canonicalize(const char *name)
{
	const char *original = to_resolve(name);
	char *path = original ? real_canonicalize(original) : NULL;

	return path ? path : real_canonicalize(name);
}

#define BIND(NAME, OURS, REAL) bind_function(b, NAME, (uintptr_t)(OURS), &(REAL))

void links_bind(const struct bind *b)
{
	if (!longest)
		return;
	BIND("readlink", our_readlink, real_readlink);
	BIND("readlinkat", our_readlinkat, real_readlinkat);
	BIND("__readlink_chk", our_readlink_chk, real_readlink_chk);
	BIND("__readlinkat_chk", our_readlinkat_chk, real_readlinkat_chk);
	BIND("realpath", our_realpath, real_realpath);
	BIND("__realpath_chk", our_realpath_chk, real_realpath_chk);
	BIND("canonicalize_file_name", our_canonicalize, real_canonicalize);
}
