/* extract.c - libFuzzer target: any bytes as an ELF object, through reloc-extract's analysis and then, with the rows that it
   found, through so-gen. */
#include <fcntl.h>
#include "test/fuzz/gen.h"
#include "tools/reloc-extract/extract.h"

/* The rows as they go from one filter to the next. */
static void pass(struct extract *x, struct rows *rows, const char *path)
{
	struct object_info info = { .path = path, .name = "null" };
	char *bytes = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&bytes, &n);
	struct stream_writer *w = xcalloc(1, sizeof *w);
	struct stream_reader *r = xcalloc(1, sizeof *r);

	stream_begin(w, STREAM_RELOCATIONS, f, "memory");
	stream_object(w, &info);
	extract_rows(x, w);
	stream_object_end(w);
	stream_finish(w);
	fclose(f);
	f = fmemopen(bytes, n, "rb");
	stream_reader_init(r, f, "memory", STREAM_RELOCATIONS);
	enum stream_event e;
	while ((e = stream_next(r)) > STREAM_DONE)
		if (e == STREAM_ROW)
			rows_add(rows, &r->row);
	if (e != STREAM_DONE)
		abort();
	stream_reader_free(r);
	fclose(f);
	free(bytes);
	free(w);
	free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct extract x = { 0 };
	struct rows rows = { 0 };

	const char *path = image_file(bytes, n);
	if (object_open(&x.o, path))
		return 0;
	bool good = !extract_object(&x);
	if (good)
		pass(&x, &rows, path);
	extract_free(&x);
	object_close(&x.o);
	if (good)
		make_twin(path, &rows, n & 7);
	rows_free(&rows);
	return 0;
}
