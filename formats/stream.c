/* stream.c - [kind, version], then per object a map, rows, an end item. */
#include "formats/stream.h"
#include "formats/fields.h"
#include <inttypes.h>
#include <string.h>

const char *const stream_kind_names[] = { "so-list", "relocations", "profile" };
enum { KINDS = sizeof stream_kind_names / sizeof *stream_kind_names, ARRAY_OF_TWO = 0x82 };

void stream_reader_init(struct stream_reader *r, FILE *f, const char *name, int kind)
{
	*r = (struct stream_reader){ .want = kind };
	if (kind >= 0)
		r->kind = (enum stream_kind)kind;
	seq_reader_init(&r->seq, f, name);
}

void stream_reader_free(struct stream_reader *r)
{
	seq_reader_free(&r->seq);
	arena_free(&r->arena);
	arena_free(&r->row_arena);
}

/* The rest of [kind, version], behind the kind's text. */
static bool read_header(struct stream_reader *r, const struct seq_token *kind, uint64_t items)
{
	struct seq_reader *q = &r->seq;
	struct seq_token t;
	int found = -1;

	for (int i = 0; i < KINDS; i++)
		if (kind->value == strlen(stream_kind_names[i]) && !memcmp(kind->bytes, stream_kind_names[i], kind->value))
			found = i;
	if (items != 2 || found < 0)
		return seq_fault(q, "not a stream of a known kind");
	if (r->in_object)
		return seq_fault(q, "cut: a header before the object's end item");
	if (r->want >= 0 && r->want != found)
		return seq_fault(q, "a \"%s\" stream where \"%s\" is wanted", stream_kind_names[found], stream_kind_names[r->want]);
	if (!seq_next(q, &t, true))
		return false;
	if (t.type != SEQ_UINT)
		return seq_fault(q, "a version number expected");
	if (t.value != STREAM_VERSION)
		return seq_fault(q, "version %" PRIu64 " of \"%s\"; this program reads version %d", t.value, stream_kind_names[found], STREAM_VERSION);
	/* What is joined to a stream of one kind is of that kind. */
	r->want = found;
	r->kind = (enum stream_kind)found;
	r->begun = true;
	return true;
}

static enum stream_event read_object(struct stream_reader *r, uint64_t pairs)
{
	struct object_info *o = &r->object;
	struct seq_reader *q = &r->seq;

	if (r->in_object) {
		seq_fault(q, "cut: an object before the end item of the last");
		return STREAM_FAULT;
	}
	arena_reset(&r->arena);
	*o = (struct object_info){ 0 };
	if (!fields_read(q, pairs, object_fields, o, &r->arena))
		return STREAM_FAULT;
	if (!o->path || !*o->path || !o->name || !*o->name) {
		seq_fault(q, "an object without path or name");
		return STREAM_FAULT;
	}
	r->in_object = true;
	r->rows = 0;
	return STREAM_OBJECT;
}

static enum stream_event read_end(struct stream_reader *r, uint64_t minus_one, uint64_t items)
{
	struct seq_token t;

	if (minus_one != 0 || items != 2) {
		seq_fault(&r->seq, "neither a row nor an end item");
		return STREAM_FAULT;
	}
	if (!seq_next(&r->seq, &t, true))
		return STREAM_FAULT;
	if (t.type != SEQ_UINT || t.value != r->rows) {
		seq_fault(&r->seq, "the end item does not count the %" PRIu64 " rows before it", r->rows);
		return STREAM_FAULT;
	}
	r->in_object = false;
	return STREAM_OBJECT_END;
}

static bool read_details(struct stream_reader *r)
{
	struct seq_token t;

	if (!seq_next(&r->seq, &t, true))
		return false;
	if (t.type != SEQ_MAP)
		return seq_fault(&r->seq, "a row's details expected");
	r->row.details.present = true;
	return fields_read(&r->seq, t.value, detail_fields, &r->row.details, &r->row_arena);
}

static bool read_number(struct seq_reader *q, uint64_t *to)
{
	struct seq_token t;

	if (!seq_next(q, &t, true))
		return false;
	if (t.type != SEQ_UINT)
		return seq_fault(q, "an unsigned number expected in a row");
	*to = t.value;
	return true;
}

static bool read_signed(struct seq_reader *q, int64_t *to)
{
	struct seq_token t;

	if (!seq_next(q, &t, true))
		return false;
	if ((t.type != SEQ_UINT && t.type != SEQ_NINT) || t.value > INT64_MAX)
		return seq_fault(q, "a number of 64 bits expected in a row");
	*to = t.type == SEQ_UINT ? (int64_t)t.value : -1 - (int64_t)t.value;
	return true;
}

static enum stream_event read_row(struct stream_reader *r, uint64_t type, uint64_t items)
{
	unsigned numbers = r->kind == STREAM_PROFILE ? 4 : 3;
	struct stream_row *row = &r->row;
	struct seq_reader *q = &r->seq;

	if (items < numbers || items > numbers + 1 || type > INT64_MAX) {
		seq_fault(q, "a \"%s\" row has a type, %u numbers and perhaps details", stream_kind_names[r->kind], numbers - 1);
		return STREAM_FAULT;
	}
	if (row->details.present) {
		row->details = (struct row_details){ 0 };
		arena_reset(&r->row_arena);
	}
	row->type = (int64_t)type;
	if (!read_number(q, &row->address) || !read_signed(q, &row->information))
		return STREAM_FAULT;
	if (numbers == 4 && !read_number(q, &row->count))
		return STREAM_FAULT;
	if (items > numbers && !read_details(r))
		return STREAM_FAULT;
	r->rows++;
	return STREAM_ROW;
}

/* An array: a header, an end item or a row, as its first element tells. */
static enum stream_event read_array(struct stream_reader *r, uint64_t items)
{
	struct seq_token t;

	if (!items) {
		seq_fault(&r->seq, "an empty array");
		return STREAM_FAULT;
	}
	if (!seq_next(&r->seq, &t, true))
		return STREAM_FAULT;
	if (t.type == SEQ_TEXT)
		return read_header(r, &t, items) ? STREAM_DONE : STREAM_FAULT;
	if (!r->begun)
		seq_fault(&r->seq, "not a stream: it does not begin with [kind, version]");
	else if (!r->in_object)
		seq_fault(&r->seq, "a row outside an object");
	else if (t.type == SEQ_UINT)
		return read_row(r, t.value, items);
	else if (t.type == SEQ_NINT)
		return read_end(r, t.value, items);
	else
		seq_fault(&r->seq, "neither a row nor an end item nor a header");
	return STREAM_FAULT;
}

static enum stream_event at_end(struct stream_reader *r)
{
	if (r->begun && !r->in_object)
		return STREAM_DONE;
	if (r->begun)
		seq_fault(&r->seq, "cut: the stream ends before the end item of %s", r->object.path);
	else
		seq_fault(&r->seq, "empty: not even [kind, version]");
	return STREAM_FAULT;
}

/* A file of another kind is told from a faulty stream by its first byte. */
static bool is_stream(struct stream_reader *r)
{
	int c = r->begun || r->seq.failed ? ARRAY_OF_TWO : seq_peek(&r->seq);

	if (c < 0 || c == ARRAY_OF_TWO)
		return true;
	return seq_fault(&r->seq, "not a stream: it does not begin with [kind, version]");
}

enum stream_event stream_next(struct stream_reader *r)
{
	struct seq_token t;

	if (!is_stream(r))
		return STREAM_FAULT;
	for (;;) {
		if (!seq_next(&r->seq, &t, false))
			return STREAM_FAULT;
		if (t.type == SEQ_ARRAY) {
			enum stream_event e = read_array(r, t.value);

			if (e != STREAM_DONE)
				return e;
		} else if (t.type == SEQ_END) {
			return at_end(r);
		} else if (t.type == SEQ_MAP) {
			return read_object(r, t.value);
		} else {
			seq_fault(&r->seq, "neither an object nor a row nor an end item");
			return STREAM_FAULT;
		}
	}
}

void stream_begin(struct stream_writer *w, enum stream_kind kind, FILE *f, const char *name)
{
	seq_writer_init(&w->seq, f, name);
	w->kind = kind;
	w->rows = 0;
	seq_array(&w->seq, 2);
	seq_text(&w->seq, stream_kind_names[kind]);
	seq_uint(&w->seq, STREAM_VERSION);
}

void stream_object(struct stream_writer *w, const struct object_info *o)
{
	w->rows = 0;
	fields_write(&w->seq, object_fields, o);
}

void stream_row(struct stream_writer *w, const struct stream_row *row)
{
	bool is_profile = w->kind == STREAM_PROFILE;

	w->rows++;
	seq_array(&w->seq, 3u + is_profile + row->details.present);
	seq_uint(&w->seq, (uint64_t)row->type);
	seq_uint(&w->seq, row->address);
	seq_int(&w->seq, row->information);
	if (is_profile)
		seq_uint(&w->seq, row->count);
	if (row->details.present)
		fields_write(&w->seq, detail_fields, &row->details);
}

void stream_row3(struct stream_writer *w, unsigned type, uint64_t address, int64_t information)
{
	w->rows++;
	seq_array(&w->seq, 3);
	seq_uint(&w->seq, type);
	seq_uint(&w->seq, address);
	seq_int(&w->seq, information);
}

void stream_object_end(struct stream_writer *w)
{
	seq_array(&w->seq, 2);
	seq_int(&w->seq, -1);
	seq_uint(&w->seq, w->rows);
}

bool stream_finish(struct stream_writer *w)
{
	return seq_writer_flush(&w->seq);
}
