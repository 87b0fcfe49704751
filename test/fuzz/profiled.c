/* profiled.c - libFuzzer target: any bytes as a profiled object, and as a counter file of itself; what passes is written as a profile.
   Linked with --wrap=XXH3_64bits, so that a changed map table is looked at and not only refused. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tools/count-extract/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
uint64_t __wrap_XXH3_64bits(const void *bytes, size_t n);

uint64_t __wrap_XXH3_64bits(const void *bytes, size_t n)
{
	(void)bytes, (void)n;
	return 0x1234;
}

static void write_it(struct profiled *p, const char *path)
{
	static struct stream_writer w;
	FILE *f = fopen("/dev/null", "w");

	if (!f)
		abort();
	profiled_add(p, path);
	stream_begin(&w, STREAM_PROFILE, f, "null");
	write_profile(&w, p);
	if (!stream_finish(&w))
		abort();
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int fd = -1;
	static char path[64];
	struct profiled p;

	if (fd < 0) {
		fd = memfd_create("input", 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, bytes, n, 0) != (ssize_t)n)
		abort();
	if (!profiled_open(&p, path)) {
		if (p.sums)
			write_it(&p, path);
		profiled_close(&p);
	}
	return 0;
}
