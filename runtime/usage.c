/* usage.c - keeps the counter files of a directory below the cap. */
#include "runtime/usage.h"
#include "runtime/text.h"

static uint64_t units_of(uint64_t bytes)
{
	return bytes / COUNTERS_PAGE + (bytes % COUNTERS_PAGE != 0);
}

/* Makes the file as long as it must be.  Appending only: whoever else is doing the same loses nothing that was added. */
static bool usage_extend(int fd)
{
	static const struct counters_usage none;
	struct system_stat st;

	for (int tries = 0; tries < 4; tries++) {
		if (sys_stat(fd, "", AT_EMPTY_PATH, &st) < 0 || (st.mode & MODE_TYPE) != MODE_REGULAR)
			return false;
		if (st.size >= sizeof none)
			return true;
		sys_write(fd, &none, sizeof none);
	}
	return false;
}

static struct counters_usage *usage_map(int dir)
{
	long fd = sys_openat(dir, COUNTERS_USAGE, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0600);
	long at = -EINVAL;

	if (fd < 0)
		return NULL;
	if (usage_extend((int)fd))
		at = sys_mmap(NULL, sizeof(struct counters_usage), MAP_SHARED, (int)fd);
	sys_close((int)fd);
	return sys_failed(at) ? NULL : (void *)at;
}

static uint64_t units_in(int fd, const char *entries, long n)
{
	const struct system_dirent *entry;
	struct system_stat st;
	uint64_t units = 0;

	for (long at = 0; at < n; at += entry->length) {
		entry = (const void *)(entries + at);
		if (text_is_counter_file(entry->name, text_length(entry->name, 256)) &&
		    sys_stat(fd, entry->name, AT_SYMLINK_NOFOLLOW, &st) >= 0 && (st.mode & MODE_TYPE) == MODE_REGULAR)
			units += units_of(st.size);
	}
	return units;
}

/* What the counter files in the directory come to; the largest number where it cannot be read. */
static uint64_t directory_units(int dir)
{
	_Alignas(8) char entries[512];
	long fd = sys_openat(dir, ".", O_RDONLY | O_DIRECTORY, 0);
	uint64_t units = 0;
	long n;

	if (fd < 0)
		return UINT32_MAX;
	while ((n = sys_getdents((int)fd, entries, sizeof entries)) > 0)
		units += units_in((int)fd, entries, n);
	sys_close((int)fd);
	return n < 0 || units > UINT32_MAX ? UINT32_MAX : units;
}

static bool fits(const struct usage *u, uint64_t others)
{
	return others + u->units <= u->limit;
}

static bool try_take(struct usage *u)
{
	u->taken = fits(u, __atomic_fetch_add(&u->shared->units, u->units, __ATOMIC_RELAXED));
	if (!u->taken)
		__atomic_fetch_sub(&u->shared->units, u->units, __ATOMIC_RELAXED);
	return u->taken;
}

static uint32_t this_second(void)
{
	struct system_time now = { 0, 0 };

	sys_clock_gettime(CLOCK_REALTIME, &now);
	return (uint32_t)now.seconds;
}

/* Files may have been removed since they were added.  False when somebody looked a moment ago. */
static bool recount(struct usage *u)
{
	uint32_t before = __atomic_load_n(&u->shared->units, __ATOMIC_SEQ_CST), now = this_second();
	uint64_t units;

	if (__atomic_exchange_n(&u->shared->recounted, now, __ATOMIC_SEQ_CST) == now)
		return false;
	units = directory_units(u->dir);
	units -= units < u->units ? units : u->units;
	return __atomic_compare_exchange_n(&u->shared->units, &before, (uint32_t)units, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static bool refuse(struct usage *u)
{
	if (u->shared)
		__atomic_fetch_add(&u->shared->refused, 1, __ATOMIC_RELAXED);
	return false;
}

bool usage_begin(struct usage *u, int dir, uint64_t size, uint64_t limit)
{
	uint64_t units = units_of(size);

	u->limit = limit / COUNTERS_PAGE;
	if (!u->limit || units >= UINT32_MAX)
		return false;
	u->units = (uint32_t)units;
	u->dir = dir;
	u->taken = false;
	u->shared = usage_map(dir);
	if (!u->shared || fits(u, __atomic_load_n(&u->shared->units, __ATOMIC_RELAXED)) ||
	    __atomic_load_n(&u->shared->recounted, __ATOMIC_RELAXED) != this_second())
		return true;
	refuse(u);
	usage_end(u, false);
	return false;
}

bool usage_take(struct usage *u)
{
	if (!u->shared)
		return directory_units(u->dir) <= u->limit;
	return try_take(u) || (recount(u) && try_take(u)) || refuse(u);
}

void usage_end(struct usage *u, bool made)
{
	if (!u->shared)
		return;
	if (u->taken && !made)
		__atomic_fetch_sub(&u->shared->units, u->units, __ATOMIC_RELAXED);
	sys_munmap(u->shared, sizeof *u->shared);
}
