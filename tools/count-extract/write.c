/* write.c - one object of a profile stream. */
#include <stdlib.h>
#include <string.h>
#include "formats/relocations.h"
#include "lib/base/msg.h"
#include "tools/count-extract/cover.h"
#include "tools/count-extract/write.h"

struct note { char *text; };

static void add_note(struct note *n, const char *text)
{
	char *joined = n->text ? xasprintf("%s; %s", n->text, text) : xstrdup(text);

	free(n->text);
	n->text = joined;
}

/* Whether the counts still mean something in the file that is there now. */
static const char *compare_original(const struct object *o, const struct object_info *info)
{
	static const unsigned char none[16];
	unsigned char digest[16];
	const uint8_t *id;
	unsigned n;

	id = object_build_id(o, &n);
	if (info->build_id_size && (n != info->build_id_size || memcmp(id, info->build_id, n)))
		return "stale: the original has another build-id now";
	if (info->size && o->size != info->size)
		return "stale: the original has another size now";
	if (!memcmp(info->digest, none, sizeof none))
		return NULL;
	object_digest(o, digest);
	return memcmp(digest, info->digest, sizeof digest) ? "stale: the original has changed since" : NULL;
}

/* The counted blocks' bytes and those that stayed, when the original cannot be asked. */
static uint64_t known_bytes(const struct profiled *p)
{
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < p->header.blocks; i++) {
		struct map_row row = profiled_row(p, i);

		bytes += MAP_SIZE(&row);
	}
	return bytes;
}

/* Once an object, however often it is written. */
static void look_at_original(struct profiled *p, struct note *note)
{
	struct object o;
	const char *why, *stale = NULL;

	if (!p->looked) {
		why = object_open(&o, p->original.path);
		if (why) {
			p->look_note = xasprintf("stale: the original %s: %s", p->original.path, why);
			msg_warn(p->path, "%s", p->look_note);
		} else if ((stale = compare_original(&o, &p->original))) {
			p->look_note = xstrdup(stale);
			msg_warn(p->path, "%s: %s", stale, p->original.path);
		}
		p->original.text_bytes = why || stale ? known_bytes(p) : covered_bytes(&o);
		if (!why)
			object_close(&o);
		p->looked = true;
	}
	if (p->look_note)
		add_note(note, p->look_note);
}

static void note_flags(const struct profiled *p, struct note *note)
{
	if (p->flags & COUNTERS_FORK_UNSAFE)
		add_note(note, "forked: counts may be inexact");
	if (p->forks_unseen)
		add_note(note, "the C library was not profiled: if the program forked, counts may be inexact");
	if (p->flags & COUNTERS_CHILD_LOST)
		add_note(note, "the counts of some forked child are missing");
	if (p->overflow)
		add_note(note, "some sums are larger than 64 bits");
	if (!p->processes) {
		add_note(note, "never loaded");
		msg_note(p->path, "no counter file: never loaded");
	}
}

static uint64_t add_sat(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* A block that was moved twice has two rows of one old address; they count one block.  Of rows that go on with the one before them
   one is counted.  Returns the index behind them. */
static uint64_t one_block(const struct profiled *p, uint64_t i, struct map_row *row, uint64_t *count)
{
	*row = profiled_row(p, i);
	*count = p->sums[i];
	while (++i < p->header.blocks) {
		struct map_row other = profiled_row(p, i);

		if (other.old != row->old || MAP_SIZE(&other) != MAP_SIZE(row) || (other.size_flags ^ row->size_flags) & MAP_UNCOUNTED)
			break;
		*count = add_sat(*count, p->sums[i]);
	}
	for (; i < p->header.blocks; i++) {
		struct map_row other = profiled_row(p, i);

		if (!(other.size_flags & MAP_GOES_ON) || other.old != row->old + MAP_SIZE(row) || MAP_SIZE(row) + MAP_SIZE(&other) >= 1 << 20)
			break;
		row->size_flags += MAP_SIZE(&other);
		if (row->size_flags & ~other.size_flags & MAP_UNCOUNTED) {
			row->size_flags &= ~(uint32_t)MAP_UNCOUNTED;
			*count = p->sums[i];
		}
	}
	return i;
}

static uint64_t counted_blocks(const struct profiled *p)
{
	struct map_row row;
	uint64_t count, n = 0;

	for (uint64_t i = 0; i < p->header.blocks;) {
		i = one_block(p, i, &row, &count);
		n += !(row.size_flags & MAP_UNCOUNTED);
	}
	return n;
}

static void write_blocks(struct stream_writer *w, const struct profiled *p)
{
	struct map_row row;
	uint64_t count;

	for (uint64_t i = 0; i < p->header.blocks;) {
		i = one_block(p, i, &row, &count);
		if (!(row.size_flags & MAP_UNCOUNTED))
			stream_row(w, &(struct stream_row){ .type = PROFILE_BLOCK, .address = row.old, .information = MAP_SIZE(&row), .count = count });
	}
}

static void write_old_entries(struct stream_writer *w, const struct profiled *p)
{
	for (uint64_t i = p->header.blocks; i < p->header.counters; i++)
		if (p->sums[i])
			stream_row(w, &(struct stream_row){ .type = PROFILE_OLD_ENTRY, .address = profiled_spring(p, i - p->header.blocks), .count = p->sums[i] });
}

static void write_uncounted(struct stream_writer *w, const struct profiled *p)
{
	for (uint64_t i = 0; i < p->header.blocks;) {
		struct map_row row, other;
		uint64_t count, next, end;

		i = one_block(p, i, &row, &count);
		end = (uint64_t)row.old + MAP_SIZE(&row);
		if (!(row.size_flags & MAP_UNCOUNTED))
			continue;
		for (; i < p->header.blocks; i = next) {
			next = one_block(p, i, &other, &count);
			if (!(other.size_flags & MAP_UNCOUNTED) || other.old > end)
				break;
			if ((uint64_t)other.old + MAP_SIZE(&other) > end)
				end = (uint64_t)other.old + MAP_SIZE(&other);
		}
		stream_row(w, &(struct stream_row){
			.type = PROFILE_NOT_COUNTED, .address = row.old, .information = (int64_t)(end - row.old),
			.details = { .present = true, .why = "moved without a counter" },
		});
	}
}

static void write_not_moved(struct stream_writer *w, const struct profiled *p)
{
	FILE *f = fmemopen((void *)(uintptr_t)p->info, p->info_size, "rb");
	struct stream_reader r;

	if (!f) {
		msg_error(p->path, "%s:", SECTION_INFO);
		return;
	}
	stream_reader_init(&r, f, p->path, STREAM_RELOCATIONS);
	for (enum stream_event event; (event = stream_next(&r)) > STREAM_DONE;)
		if (event == STREAM_ROW && r.row.type == REL_NOT_MOVED && r.row.information > 0)
			stream_row(w, &(struct stream_row){
				.type = PROFILE_NOT_COUNTED, .address = r.row.address, .information = r.row.information,
				.details = { .present = true, .why = r.row.details.why ? r.row.details.why : "no reason given",
					     .name = r.row.details.name, .kind = r.row.details.kind },
			});
	stream_reader_free(&r);
	fclose(f);
}

void write_profile(struct stream_writer *w, struct profiled *p)
{
	struct object_info *info = &p->original;
	struct note note = { NULL };

	look_at_original(p, &note);
	note_flags(p, &note);
	info->profiled = p->path;
	info->processes = p->processes;
	info->atomic = p->header.flags & COUNTERS_ATOMIC;
	info->blocks = counted_blocks(p);
	info->note = note.text;
	stream_object(w, info);
	write_blocks(w, p);
	write_old_entries(w, p);
	write_uncounted(w, p);
	write_not_moved(w, p);
	stream_object_end(w);
	free(note.text);
}
