/* file.c - makes one counter file. */
#include "runtime/file.h"
#include "runtime/text.h"

enum { SERIALS = 1 << 16 };	/* names tried before giving up */

long file_directory(const char *path)
{
	return sys_openat(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0);
}

bool file_header_sound(const struct counters_header *h)
{
	uint32_t page = h->page;

	return memcmp(h->magic, COUNTERS_MAGIC, sizeof h->magic) == 0 && h->version == COUNTERS_VERSION &&
	       page >= COUNTERS_PAGE && (page & (page - 1)) == 0 && h->header_size >= page && h->header_size % page == 0 &&
	       h->counters && h->counters < UINT32_MAX && h->object[0];
}

static bool fail(struct file *f, enum counters_state state, long error)
{
	f->state = state;
	f->error = error;
	return false;
}

/* OBJECT.PID. ; the place behind it. */
static char *name_start(struct file *f)
{
	const char *object = f->header->object;
	size_t n = text_length(object, sizeof f->header->object);
	char *to = f->name;

	for (size_t i = 0; i < n; i++)
		if (object[i] == '/')
			to = f->name;
		else
			*to++ = object[i];
	*to++ = '.';
	to = text_decimal(to, f->header->pid);
	*to++ = '.';
	return to;
}

static bool open_new(struct file *f)
{
	char *number = name_start(f);
	long fd = -EEXIST;

	for (uint32_t n = 0; n < SERIALS && fd == -EEXIST; n++) {
		f->header->serial = n;
		*text_decimal(number, n) = '\0';
		fd = sys_openat(f->dir, f->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	}
	f->fd = (int)fd;
	return fd >= 0 || fail(f, COUNTERS_STATE_CREATE, fd);
}

static long write_all(int fd, const void *bytes, size_t n, uint64_t offset)
{
	const char *p = bytes;
	long written;

	while (n) {
		written = sys_pwrite(fd, p, n, offset);
		if (written == -EINTR)
			continue;
		if (written <= 0)
			return written ? written : -EIO;
		p += written;
		n -= (size_t)written;
		offset += (uint64_t)written;
	}
	return 0;
}

static bool is_zero(const char *page)
{
	const uint64_t *word = (const void *)page;

	for (size_t i = 0; i < COUNTERS_PAGE / sizeof *word; i++)
		if (word[i])
			return false;
	return true;
}

/* What was counted so far goes into a file that is all zeros. */
static long write_counts(const struct file *f, uint64_t begin, uint64_t end)
{
	long result = 0;

	for (uint64_t at = begin; f->counts && at < end && result == 0; at += COUNTERS_PAGE)
		if (!is_zero(f->counts + (at - begin)))
			result = write_all(f->fd, f->counts + (at - begin), COUNTERS_PAGE, at);
	return result;
}

/* Where the file system cannot reserve, writing does: a hole would be a SIGBUS once the disk is full. */
static long write_everything(const struct file *f, uint64_t begin, uint64_t end)
{
	long zeros = sys_mmap(NULL, end, MAP_PRIVATE | MAP_ANONYMOUS, -1), result;

	if (sys_failed(zeros))
		return zeros;
	result = write_all(f->fd, (void *)zeros, f->counts ? begin : end, 0);
	if (result == 0 && f->counts)
		result = write_all(f->fd, f->counts, end - begin, begin);
	sys_munmap((void *)zeros, end);
	return result;
}

static long reserve(int fd, uint64_t size)
{
	long result = -EINTR;

	for (int tries = 0; tries < 16 && result == -EINTR; tries++)
		result = sys_fallocate(fd, size);
	return result;
}

static bool take_room(struct file *f)
{
	long result = sys_ftruncate(f->fd, COUNTERS_MAPPED(f->header));

	if (result < 0)
		return fail(f, COUNTERS_STATE_WRITE, result);
	return usage_take(&f->usage) || fail(f, COUNTERS_STATE_CAP, 0);
}

static bool fill(struct file *f)
{
	uint64_t begin = f->header->header_size, end = COUNTERS_MAPPED(f->header);
	long result = reserve(f->fd, end);

	if (result == 0)
		result = write_counts(f, begin, end);
	else if (result == -EOPNOTSUPP || result == -ENOSYS || result == -EINTR || result == -EPERM)
		result = write_everything(f, begin, end);
	if (result == 0)
		result = write_all(f->fd, f->header, sizeof *f->header, 0);
	return result == 0 || fail(f, COUNTERS_STATE_WRITE, result);
}

static void drop(struct file *f)
{
	sys_unlinkat(f->dir, f->name);
	sys_close(f->fd);
}

bool file_make(struct file *f)
{
	uint64_t size = COUNTERS_MAPPED(f->header);
	bool made;

	if (size > sys_file_limit())
		return fail(f, COUNTERS_STATE_FSIZE, 0);
	if (!usage_begin(&f->usage, f->dir, size, f->header->limit))
		return fail(f, COUNTERS_STATE_CAP, 0);
	made = open_new(f);
	if (made && !(take_room(f) && fill(f))) {
		drop(f);
		made = false;
	}
	if (!made)
		usage_end(&f->usage, false);
	return made;
}

bool file_map(struct file *f, struct counters_header *header)
{
	long at = sys_mmap(header, COUNTERS_MAPPED(f->header), MAP_SHARED | MAP_FIXED, f->fd);
	bool mapped = !sys_failed(at);

	if (mapped)
		sys_close(f->fd);
	else
		drop(f);
	usage_end(&f->usage, mapped);
	return mapped || fail(f, COUNTERS_STATE_MAP, at);
}
