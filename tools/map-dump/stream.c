/* stream.c - a stream of any kind as text or JSON. */
#include "formats/stream.h"
#include "tools/map-dump/dump.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many rows of each known type an object had. */
enum { TYPES = 48 };
struct tally { uint64_t of[TYPES], others; };

static void numbers_as_json(struct json *j, const struct numbers *numbers)
{
	json_begin_array(j);
	for (size_t i = 0; i < numbers->n; i++)
		json_int(j, numbers->v[i]);
	json_end_array(j);
}

static void field_as_json(struct json *j, const struct field *f, const void *base)
{
	const void *p = (const char *)base + f->at;
	const struct object_info *o = base;

	json_key(j, f->key);
	switch (f->kind) {
	case FIELD_TEXT: json_string(j, *(const char *const *)p); break;
	case FIELD_UINT: json_uint(j, *(const uint64_t *)p); break;
	case FIELD_UNSIGNED:
	case FIELD_CLASS: json_uint(j, *(const unsigned *)p); break;
	case FIELD_INT: json_int(j, *(const int *)p); break;
	case FIELD_BOOL: json_bool(j, *(const bool *)p); break;
	case FIELD_BUILD_ID: json_bytes(j, o->build_id, o->build_id_size); break;
	case FIELD_DIGEST: json_bytes(j, p, 16); break;
	case FIELD_NUMBERS: numbers_as_json(j, p); break;
	}
}

static void fields_as_json(struct json *j, const char *key, const struct field *table, const void *base)
{
	json_key(j, key);
	json_begin_object(j);
	for (const struct field *f = table; f->key; f++)
		if (field_present(f, base))
			field_as_json(j, f, base);
	json_end_object(j);
}

static void field_as_text(struct dump *d, const struct field *f, const struct object_info *o)
{
	const void *p = (const char *)o + f->at;

	switch (f->kind) {
	case FIELD_TEXT: print_text(d, f->key, *(const char *const *)p); break;
	case FIELD_UINT: print_number(d, f->key, *(const uint64_t *)p); break;
	case FIELD_UNSIGNED:
	case FIELD_CLASS: print_number(d, f->key, *(const unsigned *)p); break;
	case FIELD_INT: break;
	case FIELD_BOOL: print_text(d, f->key, "yes"); break;
	case FIELD_BUILD_ID: print_bytes(d, f->key, o->build_id, o->build_id_size); break;
	case FIELD_DIGEST: print_bytes(d, f->key, p, 16); break;
	case FIELD_NUMBERS: break;
	}
}

static void object_as_text(struct dump *d, const struct object_info *o)
{
	fputs("\nobject ", d->to);
	put_text(d->to, o->path);
	putc('\n', d->to);
	for (const struct field *f = object_fields; f->key; f++)
		if (strcmp(f->key, "path") && field_present(f, o))
			field_as_text(d, f, o);
}

static void numbers_as_text(struct dump *d, const struct numbers *numbers)
{
	for (size_t i = 0; i < numbers->n; i++)
		fprintf(d->to, " %" PRId64, numbers->v[i]);
}

static void details_as_text(struct dump *d, const struct row_details *details)
{
	for (const struct field *f = detail_fields; f->key; f++) {
		const void *p = (const char *)details + f->at;

		if (!field_present(f, details))
			continue;
		fprintf(d->to, "  %s", f->key);
		if (f->kind == FIELD_TEXT) {
			fputs(" \"", d->to);
			put_text(d->to, *(const char *const *)p);
			putc('"', d->to);
		} else if (f->kind == FIELD_UINT) {
			fprintf(d->to, strcmp(f->key, "base") ? " %" PRIu64 : " 0x%" PRIx64, *(const uint64_t *)p);
		} else if (f->kind == FIELD_NUMBERS) {
			numbers_as_text(d, p);
		} else if (f->kind != FIELD_BOOL) {
			fprintf(d->to, " %d", *(const int *)p);
		}
	}
}

static void row_as_text(struct dump *d, const struct stream_reader *r)
{
	const struct stream_row *row = &r->row;
	struct row_type type = row_type((int)r->kind, row->type);
	char number[24];

	if (r->rows == 1)
		fprintf(d->to, "  %-16s %18s %18s%s\n", "type", "address", "information", r->kind == STREAM_PROFILE ? "                count" : "");
	if (!type.name)
		snprintf(number, sizeof number, "type %" PRId64, row->type);
	fprintf(d->to, "  %-16s %#18" PRIx64, type.name ? type.name : number, row->address);
	fprintf(d->to, type.information == INFORMATION_ADDRESS ? " %#18" PRIx64 : " %18" PRId64, row->information);
	if (r->kind == STREAM_PROFILE)
		fprintf(d->to, " %20" PRIu64, row->count);
	if (row->details.present)
		details_as_text(d, &row->details);
	putc('\n', d->to);
}

static void row_as_json(struct dump *d, const struct stream_reader *r)
{
	const struct stream_row *row = &r->row;
	struct row_type type = row_type((int)r->kind, row->type);
	struct json *j = &d->json;

	json_begin_object(j);
	json_key(j, "row");
	json_string(j, type.name);
	json_key(j, "type");
	json_int(j, row->type);
	json_key(j, "address");
	json_hex(j, row->address);
	json_key(j, "information");
	if (type.information == INFORMATION_ADDRESS)
		json_hex(j, (uint64_t)row->information);
	else
		json_int(j, row->information);
	if (r->kind == STREAM_PROFILE) {
		json_key(j, "count");
		json_uint(j, row->count);
	}
	if (row->details.present)
		fields_as_json(j, "details", detail_fields, &row->details);
	json_end_object(j);
}

static void tally_as_text(struct dump *d, const struct stream_reader *r, const struct tally *tally)
{
	const char *between = ": ";

	fprintf(d->to, "  %" PRIu64 " row%s", r->rows, r->rows == 1 ? "" : "s");
	for (int i = 0; i < TYPES; i++) {
		if (!tally->of[i])
			continue;
		fprintf(d->to, "%s%" PRIu64 " %s", between, tally->of[i], row_type((int)r->kind, i).name);
		between = ", ";
	}
	if (tally->others)
		fprintf(d->to, "%s%" PRIu64 " of other types", between, tally->others);
	putc('\n', d->to);
}

static void end_as_json(struct dump *d, const struct stream_reader *r)
{
	json_begin_object(&d->json);
	json_key(&d->json, "end");
	json_uint(&d->json, r->rows);
	json_end_object(&d->json);
}

static void header(struct dump *d, const struct stream_reader *r)
{
	struct json *j = &d->json;

	if (!d->as_json) {
		fprintf(d->to, "%s, version %d\n", stream_kind_names[r->kind], STREAM_VERSION);
		return;
	}
	json_begin_object(j);
	json_key(j, "kind");
	json_string(j, stream_kind_names[r->kind]);
	json_key(j, "version");
	json_uint(j, STREAM_VERSION);
	json_end_object(j);
}

static void object(struct dump *d, const struct stream_reader *r)
{
	if (!d->as_json) {
		object_as_text(d, &r->object);
		return;
	}
	json_begin_object(&d->json);
	fields_as_json(&d->json, "object", object_fields, &r->object);
	json_end_object(&d->json);
}

static void count(struct tally *tally, const struct stream_reader *r)
{
	if (r->row.type < TYPES && row_type((int)r->kind, r->row.type).name)
		tally->of[r->row.type]++;
	else
		tally->others++;
}

static void event(struct dump *d, const struct stream_reader *r, enum stream_event e, struct tally *tally)
{
	if (e == STREAM_OBJECT) {
		*tally = (struct tally){ 0 };
		object(d, r);
	} else if (e == STREAM_OBJECT_END && d->as_json) {
		end_as_json(d, r);
	} else if (e == STREAM_OBJECT_END) {
		tally_as_text(d, r, tally);
	} else {
		count(tally, r);
		if (d->summary)
			return;
		if (d->as_json)
			row_as_json(d, r);
		else
			row_as_text(d, r);
	}
}

void dump_stream(struct dump *d, FILE *from, const char *name)
{
	struct tally tally = { 0 };
	struct stream_reader r;
	enum stream_event e;
	bool headed = false;

	stream_reader_init(&r, from, name, -1);
	while ((e = stream_next(&r)) > STREAM_DONE) {
		if (!headed)
			header(d, &r);
		headed = true;
		event(d, &r, e, &tally);
	}
	if (e == STREAM_DONE && !headed)
		header(d, &r);
	stream_reader_free(&r);
}
