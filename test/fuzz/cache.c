/* cache.c - libFuzzer target: any bytes as ld.so.cache.  Built with -Dmmap=fuzz_map -Dmunmap=fuzz_unmap (object.c says why). */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tools/so-input/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const uint8_t *input;
static size_t input_size;

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	uint8_t *p = malloc(n);

	(void)at, (void)prot, (void)flags, (void)offset, (void)fd;
	memcpy(p, input, n);
	return p;
}

int munmap(void *p, size_t n)
{
	(void)n;
	free(p);
	return 0;
}

/* In the place of root.c: the cache is a file of the input's size, its bytes come from mmap above. */
int root_open(const struct root *r, const char *name, char **path)
{
	int fd = memfd_create("input", 0);

	(void)r, (void)name;
	*path = NULL;
	if (ftruncate(fd, input_size))
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *subdirs[] = { "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2", "" };
	struct machine m = { .level = 3, .cache_flags = 0x303, .subdirs = { .v = subdirs, .n = 3 } };
	const char *path;
	struct cache c;

	input = bytes;
	input_size = n;
	for (int big = 0; big < 2; big++) {
		cache_open(&c, NULL, big);
		path = cache_find(&c, &m, "libtree.so.1");
		if (path && strlen(path) >= n)
			abort();
		cache_close(&c);
	}
	return 0;
}
