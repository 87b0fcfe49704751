/* counters.c - a counter file as text or JSON.  Read from front to back, so that a pipe will do, in bounded memory. */
#include "formats/counters.h"
#include "lib/base/msg.h"
#include "tools/map-dump/dump.h"
#include <byteswap.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

struct reader {
	FILE *f;
	const char *name;
	bool swapped;
	struct counters_header h;
};

/* Bytes of the run's texts that are not NUL-terminated are cut. */
#define TERMINATE(text) ((text)[sizeof (text) - 1] = 0)

static void swap_header(struct counters_header *h)
{
	uint32_t *words[] = { &h->version, &h->header_size, &h->page, &h->flags, &h->original_build_id_size, &h->build_id_size,
			      &h->pid, &h->parent, &h->serial };
	uint64_t *longs[] = { &h->counters, &h->blocks, &h->map_hash, &h->header_address, &h->load_bias, &h->start_ns, &h->limit };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		*words[i] = bswap_32(*words[i]);
	for (size_t i = 0; i < sizeof longs / sizeof *longs; i++)
		*longs[i] = bswap_64(*longs[i]);
}

static bool fault(const struct reader *r, size_t at, const char *what)
{
	msg_error(r->name, "byte %zu: %s", at, what);
	return false;
}

static bool read_header(struct reader *r)
{
	struct counters_header *h = &r->h;

	if (fread(h, sizeof *h, 1, r->f) != 1)
		return fault(r, 0, "cut: a counter file's header is longer");
	r->swapped = h->version == bswap_32(COUNTERS_VERSION);
	if (r->swapped)
		swap_header(h);
	if (memcmp(h->magic, COUNTERS_MAGIC, sizeof h->magic))
		return fault(r, 0, "not a counter file");
	if (h->version != COUNTERS_VERSION)
		return fault(r, offsetof(struct counters_header, version), "not a version of counter files that this program reads");
	if (h->header_size < sizeof *h || !h->page || h->header_size % h->page)
		return fault(r, offsetof(struct counters_header, header_size), "a header of an impossible size");
	if (h->blocks > h->counters)
		return fault(r, offsetof(struct counters_header, blocks), "more blocks than counters");
	if (h->build_id_size > sizeof h->build_id || h->original_build_id_size > sizeof h->original_build_id)
		return fault(r, offsetof(struct counters_header, original_build_id_size), "an over-long build-id");
	TERMINATE(h->object);
	TERMINATE(h->executable);
	return true;
}

static const struct { uint32_t bit; const char *name; } flags[] = {
	{ COUNTERS_ATOMIC, "atomic" },
	{ COUNTERS_FORK_SEEN, "fork-seen" },
	{ COUNTERS_FORK_UNSAFE, "fork-unsafe" },
	{ COUNTERS_IDENTITY, "identity" },
	{ COUNTERS_CHILD_LOST, "child-lost" },
};
enum { FLAGS = sizeof flags / sizeof *flags };

static void header_as_text(struct dump *d, const struct reader *r)
{
	const struct counters_header *h = &r->h;

	fputs("counters of ", d->to);
	put_text(d->to, h->object);
	putc('\n', d->to);
	print_text(d, "executable", h->executable);
	print_number(d, "pid", h->pid);
	print_number(d, "parent", h->parent);
	print_number(d, "serial", h->serial);
	print_label(d, "started");
	fprintf(d->to, "%" PRIu64 ".%09" PRIu64 "\n", h->start_ns / 1000000000, h->start_ns % 1000000000);
	print_label(d, "load-bias");
	fprintf(d->to, "0x%" PRIx64 "\n", h->load_bias);
	print_bytes(d, "original", h->original_build_id, h->original_build_id_size);
	print_bytes(d, "build-id", h->build_id, h->build_id_size);
	print_label(d, "map-hash");
	fprintf(d->to, "%016" PRIx64 "\n", h->map_hash);
	print_label(d, "flags");
	for (int i = 0; i < FLAGS; i++)
		if (h->flags & flags[i].bit)
			fprintf(d->to, "%s ", flags[i].name);
	putc('\n', d->to);
	print_number(d, "counters", h->counters);
	print_number(d, "blocks", h->blocks);
}

static void header_as_json(struct json *j, const struct reader *r)
{
	const struct counters_header *h = &r->h;
	const struct { const char *key; uint64_t value; } numbers[] = {
		{ "version", h->version }, { "pid", h->pid }, { "parent", h->parent }, { "serial", h->serial },
		{ "start_ns", h->start_ns }, { "counters", h->counters }, { "blocks", h->blocks },
	};

	json_begin_object(j);
	json_key(j, "counters_of");
	json_string(j, h->object);
	json_key(j, "executable");
	json_string(j, h->executable);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		json_key(j, numbers[i].key);
		json_uint(j, numbers[i].value);
	}
	json_key(j, "load_bias");
	json_hex(j, h->load_bias);
	json_key(j, "map_hash");
	json_hex(j, h->map_hash);
	json_key(j, "original_build_id");
	json_bytes(j, h->original_build_id, h->original_build_id_size);
	json_key(j, "build_id");
	json_bytes(j, h->build_id, h->build_id_size);
	json_key(j, "flags");
	json_begin_array(j);
	for (int i = 0; i < FLAGS; i++)
		if (h->flags & flags[i].bit)
			json_string(j, flags[i].name);
	json_end_array(j);
	json_end_object(j);
}

static void counter(struct dump *d, const struct reader *r, uint64_t index, uint64_t value)
{
	bool is_block = index < r->h.blocks;
	const char *what = is_block ? "block" : "springboard";
	uint64_t shown = is_block ? index : index - r->h.blocks;

	if (!d->as_json) {
		fprintf(d->to, "  %-12s %10" PRIu64 " %20" PRIu64 "\n", what, shown, value);
		return;
	}
	json_begin_object(&d->json);
	json_key(&d->json, what);
	json_uint(&d->json, shown);
	json_key(&d->json, "count");
	json_uint(&d->json, value);
	json_end_object(&d->json);
}

static bool skip(const struct reader *r, size_t n)
{
	char waste[4096];

	while (n) {
		size_t part = n < sizeof waste ? n : sizeof waste;

		if (fread(waste, 1, part, r->f) != part)
			return false;
		n -= part;
	}
	return true;
}

static bool all_counters(struct dump *d, const struct reader *r, uint64_t *zeros)
{
	for (uint64_t i = 0; i < r->h.counters; i++) {
		uint64_t value;

		if (fread(&value, sizeof value, 1, r->f) != 1) {
			msg_error(r->name, "cut: it holds %" PRIu64 " of %" PRIu64 " counters", i, r->h.counters);
			return false;
		}
		if (r->swapped)
			value = bswap_64(value);
		*zeros += !value;
		if (!d->summary && (value || d->all))
			counter(d, r, i, value);
	}
	return true;
}

void dump_counters(struct dump *d, FILE *from, const char *name)
{
	struct reader r = { .f = from, .name = name };
	uint64_t zeros = 0;

	if (!read_header(&r))
		return;
	if (d->as_json)
		header_as_json(&d->json, &r);
	else
		header_as_text(d, &r);
	if (!skip(&r, r.h.header_size - sizeof r.h))
		fault(&r, sizeof r.h, "cut: the file ends inside the header");
	else if (all_counters(d, &r, &zeros) && !d->as_json)
		print_number(d, "zero", zeros);
}
