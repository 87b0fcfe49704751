/* profiled.c - libFuzzer target: any bytes as a profiled object, and as a counter file of itself; what passes is written as a profile.
   Linked with --wrap=XXH3_64bits, so that a changed map table is looked at and not only refused. */
#include "test/fuzz/image.h"
#include "tools/count-extract/write.h"

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
	const char *path = image_file(bytes, n);
	struct profiled p;

	if (!profiled_open(&p, path)) {
		if (p.sums)
			write_it(&p, path);
		profiled_close(&p);
	}
	return 0;
}
