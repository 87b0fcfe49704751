/* rows.c - libFuzzer target: any rows for a sound object (the environment's FUZZ_OBJECT), through all of so-gen.
   Input: a byte of options, then 16 bytes a row.  With FUZZ_SEED=FILE the object's own rows are written there first. */
#include "test/fuzz/gen.h"
#include "tools/reloc-extract/extract.h"

enum { ROW = 16 };

static uint32_t word(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }

static void add(struct rows *rows, const uint8_t *p)
{
	static const char *const kinds[] = { "fde", "code", "plt", "other" };
	struct stream_row row = { .type = p[0] & 15, .address = word(p + 4), .information = (int32_t)word(p + 8) };
	struct row_details *d = &row.details;

	d->present = true;
	d->width = p[1] & 15;
	d->is_signed = p[1] & 16;
	d->kind = kinds[p[1] >> 5 & 3];
	d->scale = p[1] & 128 ? p[2] : 1;
	d->count = p[2] | p[3] << 8;
	if (p[0] & 128)
		d->count <<= 16;	/* counts beyond all reason */
	d->base = word(p + 12);
	d->why = p[0] & 64 ? "a reason" : NULL;
	rows_add(rows, &row);
}

static void put(FILE *f, const struct stream_row *row)
{
	const struct row_details *d = &row->details;
	unsigned kind = 0;
	uint8_t p[ROW] = { row->type };

	while (d->kind && kind < 3 && strcmp(d->kind, code_range_kinds[kind]))
		kind++;
	p[1] = (d->width & 15) | (d->is_signed ? 16 : 0) | kind << 5;
	p[2] = d->count;
	p[3] = d->count >> 8;
	for (int i = 0; i < 4; i++) {
		p[4 + i] = row->address >> 8 * i;
		p[8 + i] = row->information >> 8 * i;
		p[12 + i] = d->base >> 8 * i;
	}
	fwrite(p, 1, sizeof p, f);
}

static void seed(const char *object, const char *to)
{
	struct extract x = { 0 };
	struct object_info info = { .path = object, .name = "null" };
	char *bytes;
	size_t n;
	FILE *f = open_memstream(&bytes, &n), *out = fopen(to, "wb");
	struct stream_writer *w = xcalloc(1, sizeof *w);
	struct stream_reader *r = xcalloc(1, sizeof *r);

	if (!out || object_open(&x.o, object) || extract_object(&x))
		abort();
	stream_begin(w, STREAM_RELOCATIONS, f, "memory");
	stream_object(w, &info);
	extract_rows(&x, w);
	stream_object_end(w);
	stream_finish(w);
	fclose(f);
	extract_free(&x);
	object_close(&x.o);
	fputc(0, out);
	f = fmemopen(bytes, n, "rb");
	stream_reader_init(r, f, "memory", STREAM_RELOCATIONS);
	for (enum stream_event e; (e = stream_next(r)) > STREAM_DONE; )
		if (e == STREAM_ROW)
			put(out, &r->row);
	stream_reader_free(r);
	fclose(f);
	fclose(out);
	free(bytes);
	free(w);
	free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char *object;
	struct rows rows = { 0 };

	if (!object) {
		object = getenv("FUZZ_OBJECT");
		if (getenv("FUZZ_SEED"))
			seed(object, getenv("FUZZ_SEED"));
	}
	for (size_t i = 1; i + ROW <= n; i += ROW)
		add(&rows, bytes + i);
	make_twin(object, &rows, n ? bytes[0] : 0);
	rows_free(&rows);
	return 0;
}
