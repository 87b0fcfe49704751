/* baseline.c - counts from a moment on: copies of counter files, as they were then, are subtracted later.

   The program's memory and files are not touched, and whoever wants all counts removes the copies. */
#include <byteswap.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/msg.h"
#include "lib/base/out.h"
#include "tools/count-extract/profiled.h"

/* DIR/OBJECT.PID.N has its copy at DIR/BASELINE_DIR/OBJECT.PID.N. */
static char *copy_name(const char *path, bool make)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *directory = xasprintf("%.*s" BASELINE_DIR, (int)(name - path), path), *copy = xasprintf("%s/%s", directory, name);

	if (make && mkdir(directory, 0700) && errno != EEXIST)
		msg_error(directory, "cannot make the directory:");
	free(directory);
	return copy;
}

struct copy { const uint8_t *bytes; size_t size; };

static bool map(struct copy *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;
	void *at = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*c = (struct copy){ at, at == MAP_FAILED ? 0 : (size_t)st.st_size };
	return at != MAP_FAILED;
}

static void unmap(struct copy *c)
{
	munmap((void *)(uintptr_t)c->bytes, c->size);
}

static const char *read_all(const struct profiled *p, int fd, uint8_t *bytes)
{
	uint64_t begin = p->header.header_size;
	ssize_t n = counters_read_at(fd, bytes, begin, 0);

	if (n < 0)
		return strerror(errno);
	if ((uint64_t)n < begin)
		return "cut while it was read";
	return counters_read((uint64_t *)(void *)(bytes + begin), fd, begin, p->header.counters);
}

bool baseline_make(const struct profiled *p, const char *path)
{
	char *to = copy_name(path, true);
	uint64_t size = p->header.header_size + p->header.counters * 8;
	uint8_t *bytes = xmalloc(size);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why = fd < 0 ? strerror(errno) : read_all(p, fd, bytes);
	bool good = !why;

	if (fd >= 0)
		close(fd);
	if (why)
		msg_error(path, "%s", why);
	else
		good = out_file(to, bytes, size, 0600);
	free(bytes);
	free(to);
	return good;
}

/* The same file, not another of that name. */
static bool is_of(const struct copy *c, const struct counters_header *h, uint64_t size)
{
	struct counters_header then;

	if (c->size < size)
		return false;
	memcpy(&then, c->bytes, sizeof then);
	return !counters_check_header(&then) && then.start_ns == h->start_ns && then.pid == h->pid && then.map_hash == h->map_hash &&
	       then.counters == h->counters && then.header_size == h->header_size;
}

void baseline_subtract(const struct profiled *p, const char *path, const struct counters_header *h, uint64_t *counters)
{
	char *from = copy_name(path, false);
	bool foreign = (p->o.eh.e_ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER == __BIG_ENDIAN);
	struct copy c;

	if (map(&c, from)) {
		if (is_of(&c, h, p->header.header_size + p->header.counters * 8))
			for (uint64_t i = 0; i < p->header.counters; i++) {
				uint64_t then;

				memcpy(&then, c.bytes + p->header.header_size + i * 8, 8);
				if (foreign)
					counters[i] = bswap_64(bswap_64(counters[i]) - bswap_64(then));
				else
					counters[i] -= then;
			}
		unmap(&c);
	}
	free(from);
}
