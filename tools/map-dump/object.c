/* object.c - the map table of a profiled object, its springboards, and what so-gen noted of the original. */
#include "lib/elf/object.h"
#include "formats/counters.h"
#include "lib/base/msg.h"
#include "tools/map-dump/dump.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_SIZE = sizeof(struct map_row) };

struct part { const uint8_t *at; size_t size; };

struct twin {
	struct object o;
	const char *name;
	struct part map, springs, info, header;
	uint64_t old_bytes, new_bytes, uncounted;
};

/* A section's bytes in the file; none when there is no such section. */
static bool find(const struct twin *t, const char *section, struct part *part)
{
	const struct object_section *s = object_section(&t->o, section);

	*part = (struct part){ NULL, 0 };
	if (!s || s->h.sh_type == SHT_NOBITS)
		return true;
	if (s->h.sh_offset > t->o.size || s->h.sh_size > t->o.size - s->h.sh_offset) {
		msg_error(t->name, "%s: it lies outside the file", section);
		return false;
	}
	part->at = t->o.image + s->h.sh_offset;
	part->size = s->h.sh_size;
	return true;
}

static struct map_row row_at(const struct twin *t, size_t i)
{
	const uint8_t *p = t->map.at + i * ROW_SIZE;

	return (struct map_row){
		.old = (uint32_t)object_word(&t->o, p, 4),
		.new = (uint32_t)object_word(&t->o, p + 4, 4),
		.size_flags = (uint32_t)object_word(&t->o, p + 8, 4),
	};
}

static bool find_parts(struct twin *t)
{
	const struct object_section *text = object_section(&t->o, SECTION_TEXT);

	if (!find(t, SECTION_MAP, &t->map) || !find(t, SECTION_SPRINGS, &t->springs) || !find(t, SECTION_INFO, &t->info) ||
	    !find(t, SECTION_COUNTERS, &t->header))
		return false;
	if (!t->map.at || !text) {
		msg_error(t->name, "not a profiled object: it has no map table");
		return false;
	}
	if (t->map.size % ROW_SIZE) {
		msg_error(t->name, "%s: byte %zu: cut inside a row", SECTION_MAP, t->map.size);
		return false;
	}
	if (t->springs.size % sizeof(uint32_t)) {
		msg_error(t->name, "%s: byte %zu: cut inside an address", SECTION_SPRINGS, t->springs.size);
		return false;
	}
	if (t->header.size < sizeof(struct counters_header))
		t->header.at = NULL;
	t->new_bytes = text->h.sh_size;
	for (size_t i = 0; i < t->map.size / ROW_SIZE; i++) {
		struct map_row row = row_at(t, i);

		t->old_bytes += MAP_SIZE(&row);
		t->uncounted += (row.size_flags & MAP_UNCOUNTED) != 0;
	}
	return true;
}

/* The original's build-id, from the counters' header. */
static const uint8_t *original_id(const struct twin *t, size_t *n)
{
	const uint8_t *h = t->header.at;

	*n = 0;
	if (!h)
		return NULL;
	*n = object_word(&t->o, h + offsetof(struct counters_header, original_build_id_size), 4);
	if (*n > sizeof ((struct counters_header *)0)->original_build_id)
		*n = 0;
	return h + offsetof(struct counters_header, original_build_id);
}

static const struct { uint32_t bit; const char *name; } flags[] = {
	{ MAP_MARK, "mark" },
	{ MAP_SPLIT, "split" },
	{ MAP_UNCOUNTED, "uncounted" },
	{ MAP_GOES_ON, "goes on" },
};
enum { FLAGS = sizeof flags / sizeof *flags };

struct fact { const char *key; uint64_t value; };

static void header(struct dump *d, const struct twin *t)
{
	const struct fact facts[] = {
		{ "blocks", t->map.size / ROW_SIZE },
		{ "uncounted", t->uncounted },
		{ "springboards", t->springs.size / sizeof(uint32_t) },
		{ "old-text", t->old_bytes },
		{ "new-text", t->new_bytes },
	};
	size_t n;
	const uint8_t *id = original_id(t, &n);

	if (d->as_json) {
		json_begin_object(&d->json);
		json_key(&d->json, "profiled_object");
		json_string(&d->json, t->name);
		json_key(&d->json, "original_build_id");
		json_bytes(&d->json, id, n);
	} else {
		fputs("profiled object ", d->to);
		put_text(d->to, t->name);
		putc('\n', d->to);
		print_bytes(d, "original", id, n);
	}
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		if (d->as_json) {
			json_key(&d->json, facts[i].key);
			json_uint(&d->json, facts[i].value);
		} else {
			print_number(d, facts[i].key, facts[i].value);
		}
	}
	if (d->as_json)
		json_end_object(&d->json);
}

static void row_as_text(struct dump *d, const struct map_row *row)
{
	fprintf(d->to, "  %#10" PRIx32 " %6" PRIu32 " -> %#10" PRIx32 " +%" PRIu32, row->old, MAP_SIZE(row), row->new, MAP_INSERTED(row));
	for (int i = 0; i < FLAGS; i++)
		if (row->size_flags & flags[i].bit)
			fprintf(d->to, " %s", flags[i].name);
	putc('\n', d->to);
}

static void row_as_json(struct json *j, const struct map_row *row)
{
	json_begin_object(j);
	json_key(j, "old");
	json_hex(j, row->old);
	json_key(j, "size");
	json_uint(j, MAP_SIZE(row));
	json_key(j, "new");
	json_hex(j, row->new);
	json_key(j, "inserted");
	json_uint(j, MAP_INSERTED(row));
	json_key(j, "flags");
	json_begin_array(j);
	for (int i = 0; i < FLAGS; i++)
		if (row->size_flags & flags[i].bit)
			json_string(j, flags[i].name);
	json_end_array(j);
	json_end_object(j);
}

static void rows(struct dump *d, const struct twin *t)
{
	if (!d->as_json)
		fprintf(d->to, "  %10s %6s    %10s %s\n", "old", "size", "new", "inserted");
	for (size_t i = 0; i < t->map.size / ROW_SIZE; i++) {
		struct map_row row = row_at(t, i);

		if (d->as_json)
			row_as_json(&d->json, &row);
		else
			row_as_text(d, &row);
	}
}

static void springboards(struct dump *d, const struct twin *t)
{
	for (size_t i = 0; i < t->springs.size / sizeof(uint32_t); i++) {
		uint64_t entry = object_word(&t->o, t->springs.at + i * sizeof(uint32_t), 4);

		if (!d->as_json) {
			fprintf(d->to, "  %#10" PRIx64 " springboard\n", entry);
			continue;
		}
		json_begin_object(&d->json);
		json_key(&d->json, "springboard");
		json_hex(&d->json, entry);
		json_end_object(&d->json);
	}
}

static void info(struct dump *d, const struct twin *t)
{
	char *name = xasprintf("%s: %s", t->name, SECTION_INFO);
	FILE *f = t->info.size ? fmemopen((void *)t->info.at, t->info.size, "r") : NULL;

	if (f) {
		dump_stream(d, f, name);
		fclose(f);
	}
	free(name);
}

void dump_object(struct dump *d, const char *path, const char *name)
{
	struct twin t = { .name = name };
	const char *fault = object_open(&t.o, path);

	if (fault) {
		msg_error(name, "%s", fault);
		return;
	}
	if (find_parts(&t)) {
		header(d, &t);
		if (!d->summary) {
			rows(d, &t);
			springboards(d, &t);
		}
		info(d, &t);
	}
	object_close(&t.o);
}
