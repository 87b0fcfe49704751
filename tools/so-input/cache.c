/* cache.c - both formats of ld.so.cache (glibc's elf/cache.c writes them, elf/dl-cache.c reads them). */
#include "tools/so-input/cache.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OLD_MAGIC "ld.so-1.7.0"
#define NEW_MAGIC "glibc-ld.so.cache1.1"
enum { OLD_HEADER = 16, OLD_ENTRY = 12, NEW_HEADER = 48, NEW_ENTRY = 24 };
enum { EXTENSION_MAGIC = (int)0xeaa42174, TAG_HWCAPS = 1, FLAG_ELF = 1 };

/* The upper half of an entry's hwcap word: bit 30 says that the lower half indexes the table of glibc-hwcaps names. */
#define NAMED (UINT32_C(1) << 30)
#define LEVEL_MASK 0x3ffu

static uint32_t word(const struct cache *c, size_t at)
{
	uint32_t v;

	if (at > c->size || c->size - at < 4)
		return 0;
	memcpy(&v, c->image + at, 4);
	return c->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap32(v);
}

static bool has_magic(const struct cache *c, size_t at, const char *magic)
{
	size_t n = strlen(magic);

	return at <= c->size && c->size - at >= n && !memcmp(c->image + at, magic, n);
}

static const char *string(const struct cache *c, uint32_t offset)
{
	size_t at = c->strings + offset;

	return at < c->size && memchr(c->image + at, 0, c->size - at) ? (const char *)c->image + at : NULL;
}

/* False: the table does not fit in the file. */
static bool read_new(struct cache *c, size_t base)
{
	uint8_t order;

	if (c->size - base < NEW_HEADER)
		return false;
	order = c->image[base + 28] & 3;
	if (order)
		c->big_endian = order == 3;
	c->is_new = true;
	c->base = c->strings = base;
	c->entries = base + NEW_HEADER;
	c->count = word(c, base + 20);
	return c->count <= (c->size - c->entries) / NEW_ENTRY;
}

static bool read_old(struct cache *c)
{
	if (c->size < OLD_HEADER)
		return false;
	c->entries = OLD_HEADER;
	c->count = word(c, 12);
	if (c->count > (c->size - OLD_HEADER) / OLD_ENTRY)
		return false;
	c->strings = OLD_HEADER + (size_t)c->count * OLD_ENTRY;
	return true;
}

static bool read_header(struct cache *c)
{
	size_t after;

	if (has_magic(c, 0, NEW_MAGIC))
		return read_new(c, 0);
	if (!has_magic(c, 0, OLD_MAGIC) || !read_old(c))
		return false;
	/* A file in both formats: the new one follows at the next multiple of 8. */
	after = (c->strings + 7) & -(size_t)8;
	return !has_magic(c, after, NEW_MAGIC) || read_new(c, after);
}

void cache_open(struct cache *c, const struct root *root, bool big_endian)
{
	char *path;
	struct stat st;
	int fd = root_open(root, "/etc/ld.so.cache", &path);

	memset(c, 0, sizeof *c);
	free(path);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		void *map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (map != MAP_FAILED) {
			c->image = map;
			c->size = st.st_size;
		}
	}
	close(fd);
	c->big_endian = big_endian;
	if (c->image && !read_header(c))
		cache_close(c);
}

void cache_close(struct cache *c)
{
	if (c->image)
		munmap((void *)(uintptr_t)c->image, c->size);
	memset(c, 0, sizeof *c);
}

/* Name number INDEX in the cache's table of glibc-hwcaps subdirectories, or NULL. */
static const char *hwcap_name(const struct cache *c, uint32_t index)
{
	size_t ext = c->base + word(c, c->base + 32);
	uint32_t n = word(c, ext + 4);

	if (ext == c->base || word(c, ext) != (uint32_t)EXTENSION_MAGIC)
		return NULL;
	for (uint32_t i = 0; i < n && ext + 8 + 16 * (size_t)i < c->size; i++) {
		size_t section = ext + 8 + 16 * (size_t)i;

		if (word(c, section) == TAG_HWCAPS && index < word(c, section + 12) / 4)
			return string(c, word(c, c->base + word(c, section + 8) + 4 * (size_t)index));
	}
	return NULL;
}

/* How good an entry is: lower is better, -1: not for this processor.  Plain ones come after all that name a level. */
static int rank(const struct cache *c, const struct machine *m, size_t entry)
{
	uint32_t low = word(c, entry + 16), high = word(c, entry + 20);
	const char *name;

	if (c->big_endian) {
		uint32_t swap = low;

		low = high;
		high = swap;
	}
	if (!low && !high)
		return (int)m->subdirs.n;
	/* Bits without a name are subdirectories of before 2.33; none is better than the plain directory here. */
	if ((high & ~LEVEL_MASK) != NAMED || (high & LEVEL_MASK) >= m->level)
		return -1;
	name = hwcap_name(c, low);
	for (size_t i = 0; name && i < m->subdirs.n; i++)
		if (!strncmp(m->subdirs.v[i], "glibc-hwcaps/", 13) && !strcmp(m->subdirs.v[i] + 13, name))
			return (int)i;
	return -1;
}

const char *cache_find(const struct cache *c, const struct machine *m, const char *name)
{
	const char *best = NULL;
	int best_rank = -1;
	bool best_exact = false;

	for (uint32_t i = 0; i < c->count; i++) {
		size_t at = c->entries + (size_t)i * (c->is_new ? NEW_ENTRY : OLD_ENTRY);
		uint32_t flags = word(c, at);
		const char *key, *value;
		int r;

		if (flags != FLAG_ELF && flags != m->cache_flags)
			continue;
		key = string(c, word(c, at + 4));
		if (!key || strcmp(key, name) || !(value = string(c, word(c, at + 8))))
			continue;
		r = c->is_new ? rank(c, m, at) : 0;
		if (r < 0 || (best && (r > best_rank || (r == best_rank && best_exact))))
			continue;
		best = value;
		best_rank = r;
		best_exact = flags == m->cache_flags;
	}
	return best;
}
