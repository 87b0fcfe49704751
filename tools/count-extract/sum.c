/* sum.c - counter files: checks each against its object and adds it up. */
#include <byteswap.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/msg.h"
#include "tools/count-extract/profiled.h"

/* Bytes read before the end, or -1. */
ssize_t counters_read_at(int fd, void *to, size_t n, uint64_t offset)
{
	size_t got = 0;

	while (got < n) {
		ssize_t part = pread(fd, (char *)to + got, n - got, (off_t)(offset + got));

		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return -1;
		if (!part)
			break;
		got += (size_t)part;
	}
	return (ssize_t)got;
}

const char *counters_read_header(int fd, struct counters_header *h)
{
	ssize_t n = counters_read_at(fd, h, sizeof *h, 0);

	if (n < 0)
		return strerror(errno);
	if ((size_t)n < sizeof *h)
		return "cut: a counter file's header is longer";
	return counters_check_header(h);
}

static bool same_id(const uint8_t *a, uint32_t a_size, const uint8_t *b, uint32_t b_size)
{
	return a_size == b_size && !memcmp(a, b, a_size);
}

/* The counts are of this profiled object and no other. */
static const char *mismatch(const struct counters_header *object, const struct counters_header *file)
{
	if (!same_id(object->original_build_id, object->original_build_id_size, file->original_build_id, file->original_build_id_size))
		return "stale: it counts another version of the original (build-id)";
	if (!same_id(object->build_id, object->build_id_size, file->build_id, file->build_id_size))
		return "stale: it was made by another profiled object (build-id)";
	if (object->map_hash != file->map_hash)
		return "stale: it counts the blocks of another map table";
	if (object->counters != file->counters || object->blocks != file->blocks || object->header_size != file->header_size)
		return "stale: it has other numbers of counters";
	return NULL;
}

static sigjmp_buf cut;

static void on_cut(int number)
{
	(void)number;
	siglongjmp(cut, 1);
}

/* The program may be counting.  Its counters are aligned words, and so each is whole when it is loaded as one, which read(2) does not
   promise.  The file may be cut meanwhile: then memory behind its end is a signal.  False: it was. */
static bool load(uint64_t *to, const volatile uint64_t *from, size_t n)
{
	struct sigaction catch = { .sa_handler = on_cut }, before;
	volatile bool whole = false;

	sigaction(SIGBUS, &catch, &before);
	if (!sigsetjmp(cut, 1)) {
		for (size_t i = 0; i < n; i++)
			to[i] = from[i];
		whole = true;
	}
	sigaction(SIGBUS, &before, NULL);
	return whole;
}

const char *counters_read(uint64_t *to, int fd, uint64_t offset, size_t n)
{
	uint64_t size = offset + n * 8;
	void *at = size <= SIZE_MAX ? mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	ssize_t got;
	bool whole;

	if (at != MAP_FAILED) {
		whole = load(to, (const uint64_t *)((const char *)at + offset), n);
		munmap(at, (size_t)size);
		return whole ? NULL : "cut while it was read";
	}
	got = counters_read_at(fd, to, n * 8, offset);	/* a file system that maps no files */
	if (got < 0)
		return strerror(errno);
	return (size_t)got < n * 8 ? "cut while it was read" : NULL;
}

/* All of the file before any of it is added: a file that shrinks meanwhile must not count half. */
static const char *add_counters(struct profiled *p, int fd, const char *path, const struct counters_header *h, bool foreign)
{
	const char *why;

	if (!p->read)
		p->read = xmalloc(p->header.counters * 8);
	why = counters_read(p->read, fd, p->header.header_size, p->header.counters);
	if (why)
		return why;
	baseline_subtract(p, path, h, p->read);
	for (uint64_t i = 0; i < p->header.counters; i++) {
		uint64_t count = foreign ? bswap_64(p->read[i]) : p->read[i];

		if (__builtin_add_overflow(p->sums[i], count, &p->sums[i])) {
			p->sums[i] = UINT64_MAX;
			p->overflow = true;
		}
	}
	return NULL;
}

static const char *add_file(struct profiled *p, int fd, const char *path)
{
	struct counters_header h;
	struct stat st;
	const char *why;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "not a regular file";
	why = counters_read_header(fd, &h);
	if (!why)
		why = mismatch(&p->header, &h);
	if (why)
		return why;
	if ((uint64_t)st.st_size < h.header_size + h.counters * 8)
		return "cut: not all of its counters are there";
	why = add_counters(p, fd, path, &h, (p->o.eh.e_ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER == __BIG_ENDIAN));
	if (why)
		return why;
	p->processes++;
	p->flags |= h.flags;
	return NULL;
}

bool profiled_add(struct profiled *p, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why;

	if (fd < 0) {
		msg_error(path, "cannot open:");
		return false;
	}
	why = add_file(p, fd, path);
	if (why)
		msg_error(path, "%s", why);
	close(fd);
	return !why;
}

void profiled_clear(struct profiled *p)
{
	memset(p->sums, 0, p->header.counters * sizeof *p->sums);
	p->processes = 0;
	p->overflow = false;
	p->flags = 0;
}
