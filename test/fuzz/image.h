/* image.h - an input as a file, for fuzz targets whose code opens and maps one.  Built with -Dmmap=fuzz_map -Dmunmap=fuzz_unmap: images
   are then memory whose end the sanitizer knows. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#ifdef mmap
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	uint8_t *p = malloc(n);

	(void)at, (void)prot, (void)flags;
	if (pread(fd, p, n, offset) != (ssize_t)n)
		abort();
	return p;
}

int munmap(void *p, size_t n)
{
	(void)n;
	free(p);
	return 0;
}
#endif

/* A file with those bytes, the same in each call. */
static inline const char *image_file(const uint8_t *bytes, size_t n)
{
	static int fd = -1;
	static char path[64];

	if (fd < 0) {
		fd = memfd_create("input", 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, bytes, n, 0) != (ssize_t)n)
		abort();
	return path;
}
