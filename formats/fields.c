/* fields.c - the maps of a stream: objects and row details, from tables of key and place. */
#include "formats/fields.h"
#include "formats/stream.h"
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 1 << 22 };

#define OBJECT(name, kind, member) { name, kind, offsetof(struct object_info, member) }
const struct field object_fields[] = {
	OBJECT("app", FIELD_BOOL, is_app),
	OBJECT("why", FIELD_TEXT, why),
	OBJECT("name", FIELD_TEXT, name),
	OBJECT("note", FIELD_TEXT, note),
	OBJECT("path", FIELD_TEXT, path),
	OBJECT("size", FIELD_UINT, size),
	OBJECT("skip", FIELD_TEXT, skip),
	OBJECT("class", FIELD_CLASS, elf_class),
	OBJECT("found", FIELD_TEXT, found),
	OBJECT("atomic", FIELD_BOOL, atomic),
	OBJECT("blocks", FIELD_UINT, blocks),
	OBJECT("digest", FIELD_DIGEST, digest),
	OBJECT("soname", FIELD_TEXT, soname),
	OBJECT("machine", FIELD_TEXT, machine),
	OBJECT("process", FIELD_TEXT, process),
	OBJECT("build-id", FIELD_BUILD_ID, build_id),
	OBJECT("link-map", FIELD_TEXT, link_map),
	OBJECT("profiled", FIELD_TEXT, profiled),
	OBJECT("processes", FIELD_UINT, processes),
	OBJECT("reachable", FIELD_BOOL, reachable),
	OBJECT("big-endian", FIELD_BOOL, big_endian),
	OBJECT("text-bytes", FIELD_UINT, text_bytes),
	{ NULL, 0, 0 }
};

#define DETAIL(name, kind, member) { name, kind, offsetof(struct row_details, member) }
const struct field detail_fields[] = {
	DETAIL("why", FIELD_TEXT, why),
	DETAIL("base", FIELD_UINT, base),
	DETAIL("kind", FIELD_TEXT, kind),
	DETAIL("name", FIELD_TEXT, name),
	DETAIL("size", FIELD_UINT, size),
	DETAIL("count", FIELD_UINT, count),
	DETAIL("scale", FIELD_INT, scale),
	DETAIL("width", FIELD_UNSIGNED, width),
	DETAIL("proven", FIELD_BOOL, proven),
	DETAIL("signed", FIELD_BOOL, is_signed),
	DETAIL("numbers", FIELD_NUMBERS, numbers),
	{ NULL, 0, 0 }
};

/* The build-id's bytes and their number are neighbours. */
struct build_id { unsigned char bytes[32]; unsigned size; };
_Static_assert(offsetof(struct object_info, build_id_size) - offsetof(struct object_info, build_id) ==
	       offsetof(struct build_id, size), "build_id_size follows build_id");

static bool digest_present(const unsigned char *p)
{
	static const unsigned char none[16];

	return memcmp(p, none, sizeof none) != 0;
}

bool field_present(const struct field *f, const void *base)
{
	const void *p = (const char *)base + f->at;

	switch (f->kind) {
	case FIELD_TEXT: return *(const char *const *)p != NULL;
	case FIELD_UINT: return *(const uint64_t *)p != 0;
	case FIELD_UNSIGNED:
	case FIELD_CLASS: return *(const unsigned *)p != 0;
	case FIELD_INT: return *(const int *)p != 0;
	case FIELD_BOOL: return *(const bool *)p;
	case FIELD_BUILD_ID: return ((const struct build_id *)p)->size != 0;
	case FIELD_DIGEST: return digest_present(p);
	case FIELD_NUMBERS: return ((const struct numbers *)p)->n != 0;
	}
	return false;
}

static void write_numbers(struct seq_writer *w, const struct numbers *numbers)
{
	seq_array(w, numbers->n);
	for (size_t i = 0; i < numbers->n; i++)
		seq_int(w, numbers->v[i]);
}

static void write_field(struct seq_writer *w, const struct field *f, const void *base)
{
	const void *p = (const char *)base + f->at;
	const struct build_id *id = p;

	seq_text(w, f->key);
	switch (f->kind) {
	case FIELD_TEXT: seq_text(w, *(const char *const *)p); break;
	case FIELD_UINT: seq_uint(w, *(const uint64_t *)p); break;
	case FIELD_UNSIGNED:
	case FIELD_CLASS: seq_uint(w, *(const unsigned *)p); break;
	case FIELD_INT: seq_int(w, *(const int *)p); break;
	case FIELD_BOOL: seq_bool(w, true); break;
	case FIELD_BUILD_ID: seq_bytes(w, id->bytes, id->size < sizeof id->bytes ? id->size : sizeof id->bytes); break;
	case FIELD_DIGEST: seq_bytes(w, p, 16); break;
	case FIELD_NUMBERS: write_numbers(w, p); break;
	}
}

void fields_write(struct seq_writer *w, const struct field *table, const void *base)
{
	uint64_t n = 0;

	for (const struct field *f = table; f->key; f++)
		n += field_present(f, base);
	seq_map(w, n);
	for (const struct field *f = table; f->key; f++)
		if (field_present(f, base))
			write_field(w, f, base);
}

static bool read_text(struct seq_reader *r, const struct seq_token *t, const char **to, struct arena *a)
{
	char *s;

	if (t->type != SEQ_TEXT && t->type != SEQ_BYTES)
		return seq_fault(r, "text expected");
	if (memchr(t->bytes, 0, t->value))
		return seq_fault(r, "a NUL inside text");
	s = arena_alloc(a, t->value + 1);
	memcpy(s, t->bytes, t->value);
	*to = s;
	return true;
}

static bool read_bytes(struct seq_reader *r, const struct seq_token *t, unsigned char *to, size_t least, size_t most)
{
	if (t->type != SEQ_BYTES || t->value < least || t->value > most)
		return seq_fault(r, "a byte string of %zu to %zu bytes expected", least, most);
	memcpy(to, t->bytes, t->value);
	return true;
}

static bool read_unsigned(struct seq_reader *r, const struct seq_token *t, unsigned *to)
{
	if (t->type != SEQ_UINT || t->value > UINT32_MAX)
		return seq_fault(r, "an unsigned number of 32 bits expected");
	*to = (unsigned)t->value;
	return true;
}

static bool read_int(struct seq_reader *r, const struct seq_token *t, int *to)
{
	if ((t->type != SEQ_UINT && t->type != SEQ_NINT) || t->value > INT32_MAX)
		return seq_fault(r, "a number of 32 bits expected");
	*to = t->type == SEQ_UINT ? (int)t->value : -1 - (int)t->value;
	return true;
}

static bool read_class(struct seq_reader *r, const struct seq_token *t, unsigned *to)
{
	if (t->type != SEQ_UINT || (t->value != 32 && t->value != 64))
		return seq_fault(r, "32 or 64 expected");
	*to = (unsigned)t->value;
	return true;
}

static bool read_numbers(struct seq_reader *r, const struct seq_token *t, struct numbers *to, struct arena *a)
{
	uint64_t items = t->value;
	VEC(int64_t) v = {0};
	struct seq_token item;
	bool ok = true;

	if (t->type != SEQ_ARRAY || items > NUMBERS_MAX)
		return seq_fault(r, "a list of at most %d numbers expected", NUMBERS_MAX);
	/* Grows with what is there, not with what is promised. */
	while (ok && v.n < items) {
		ok = seq_next(r, &item, true);
		if (ok && ((item.type != SEQ_UINT && item.type != SEQ_NINT) || item.value > INT64_MAX))
			ok = seq_fault(r, "a number of 64 bits expected in a list");
		else if (ok)
			vec_push(&v, item.type == SEQ_UINT ? (int64_t)item.value : -1 - (int64_t)item.value);
	}
	if (ok && items) {
		int64_t *copy = arena_alloc(a, items * sizeof *copy);

		memcpy(copy, v.v, items * sizeof *copy);
		*to = (struct numbers){ copy, items };
	}
	vec_free(&v);
	return ok;
}

static bool read_field(struct seq_reader *r, const struct field *f, const struct seq_token *t, void *base, struct arena *a)
{
	void *p = (char *)base + f->at;
	struct build_id *id = p;

	switch (f->kind) {
	case FIELD_TEXT: return read_text(r, t, p, a);
	case FIELD_UNSIGNED: return read_unsigned(r, t, p);
	case FIELD_CLASS: return read_class(r, t, p);
	case FIELD_INT: return read_int(r, t, p);
	case FIELD_DIGEST: return read_bytes(r, t, p, 16, 16);
	case FIELD_NUMBERS: return read_numbers(r, t, p, a);
	case FIELD_BUILD_ID:
		if (!read_bytes(r, t, id->bytes, 1, sizeof id->bytes))
			return false;
		id->size = (unsigned)t->value;
		return true;
	case FIELD_UINT:
		if (t->type != SEQ_UINT)
			return seq_fault(r, "an unsigned number expected");
		*(uint64_t *)p = t->value;
		return true;
	case FIELD_BOOL:
		if (t->type != SEQ_BOOL)
			return seq_fault(r, "true or false expected");
		*(bool *)p = t->value;
		return true;
	}
	return false;
}

static const struct field *find(const struct field *f, const char *key, size_t n)
{
	for (; f->key; f++)
		if (strlen(f->key) == n && !memcmp(f->key, key, n))
			return f;
	return NULL;
}

/* Keys come in ascending order, so none comes twice. */
struct last_key { size_t n; char bytes[256]; };

static bool check_key(struct seq_reader *r, const struct seq_token *t, struct last_key *last, bool is_first)
{
	if (t->type != SEQ_TEXT)
		return seq_fault(r, "a map key that is not text");
	if (t->value > sizeof last->bytes)
		return seq_fault(r, "over-long: a map key of more than %zu bytes", sizeof last->bytes);
	if (!is_first && (t->value < last->n || (t->value == last->n && memcmp(t->bytes, last->bytes, last->n) <= 0)))
		return seq_fault(r, "not deterministic: a map key out of order, or twice");
	last->n = t->value;
	memcpy(last->bytes, t->bytes, last->n);
	return true;
}

bool fields_read(struct seq_reader *r, uint64_t pairs, const struct field *table, void *base, struct arena *a)
{
	struct last_key last;

	for (uint64_t i = 0; i < pairs; i++) {
		const struct field *f;
		struct seq_token t;

		if (!seq_next(r, &t, true) || !check_key(r, &t, &last, i == 0))
			return false;
		f = find(table, t.bytes, t.value);
		if (!seq_next(r, &t, true))
			return false;
		if (f ? !read_field(r, f, &t, base, a) : !seq_skip(r, &t))
			return false;
	}
	return true;
}
