/* stream.c - libFuzzer target: any bytes through the stream reader; what it took, written and read again, must be the same. */
#include "formats/stream.h"
#include <stdlib.h>
#include <string.h>

static struct stream_writer writer;

/* Reads the whole stream; with out, writes each event again.  Returns the reader's last word. */
static enum stream_event pass(const void *bytes, size_t n, FILE *out, unsigned long *events)
{
	FILE *f = fmemopen((void *)bytes, n, "r");
	struct stream_reader r;
	enum stream_event e;
	bool begun = false;

	stream_reader_init(&r, f, "input", -1);
	for (*events = 0; (e = stream_next(&r)) > STREAM_DONE; ++*events) {
		if (!out)
			continue;
		if (!begun)
			stream_begin(&writer, r.kind, out, "copy");
		begun = true;
		if (e == STREAM_OBJECT)
			stream_object(&writer, &r.object);
		else if (e == STREAM_ROW)
			stream_row(&writer, &r.row);
		else
			stream_object_end(&writer);
	}
	if (out && !begun)
		stream_begin(&writer, r.kind, out, "copy");
	if (out)
		stream_finish(&writer);
	stream_reader_free(&r);
	fclose(f);
	return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *copy = NULL, *again = NULL;
	size_t copy_size, again_size;
	unsigned long events, events_again;
	enum stream_event e;
	FILE *out;

	if (!n)
		return 0;
	out = open_memstream(&copy, &copy_size);
	e = pass(bytes, n, out, &events);
	fclose(out);
	if (e == STREAM_DONE) {
		out = open_memstream(&again, &again_size);
		if (pass(copy, copy_size, out, &events_again) != STREAM_DONE || events != events_again)
			abort();
		fclose(out);
		if (again_size != copy_size || memcmp(copy, again, copy_size))
			abort();
	}
	free(copy);
	free(again);
	return 0;
}
