/* sum.c - counter files: checks each against its object and adds it up.  Read, not mapped: a file may be cut while we look. */
#include <byteswap.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/msg.h"
#include "tools/count-extract/profiled.h"

/* Bytes read before the end, or -1. */
static ssize_t read_at(int fd, void *to, size_t n, uint64_t offset)
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
	ssize_t n = read_at(fd, h, sizeof *h, 0);

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

/* All of the file before any of it is added: a file that shrinks meanwhile must not count half. */
static const char *add_counters(struct profiled *p, int fd, const char *path, const struct counters_header *h, bool foreign)
{
	size_t size = p->header.counters * 8;
	ssize_t n;

	if (!p->read)
		p->read = xmalloc(size);
	n = read_at(fd, p->read, size, p->header.header_size);
	if (n < 0)
		return strerror(errno);
	if ((size_t)n < size)
		return "cut while it was read";
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
