/* profile.c - reads profile streams, sums equal objects. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/msg.h"
#include "tools/prof-report/profile.h"

enum { BLOCK_MAX = 1 << 20 };

uint64_t add_sat(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

uint64_t mul_sat(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static const char *keep(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

static void keep_info(struct profile_object *o, const struct object_info *info)
{
	o->info = *info;
	o->info.path = keep(&o->arena, info->path);
	o->info.name = keep(&o->arena, info->name);
	o->info.soname = keep(&o->arena, info->soname);
	o->info.machine = keep(&o->arena, info->machine);
	o->info.profiled = keep(&o->arena, info->profiled);
	o->info.note = keep(&o->arena, info->note);
	o->info.process = keep(&o->arena, info->process);
	o->info.skip = keep(&o->arena, info->skip);
	o->info.why = o->info.found = o->info.link_map = NULL;
}

static bool add_block(struct stream_reader *r, struct profile_object *o)
{
	const struct stream_row *row = &r->row;

	if (row->information <= 0 || row->information >= BLOCK_MAX || row->address > UINT64_MAX - BLOCK_MAX)
		return seq_fault(&r->seq, "a block of %" PRId64 " bytes at 0x%" PRIx64, row->information, row->address);
	vec_push(&o->blocks, ((struct profile_block){ .address = row->address, .size = (uint32_t)row->information, .count = row->count }));
	return true;
}

static bool add_gap(struct stream_reader *r, struct profile_object *o)
{
	const struct stream_row *row = &r->row;

	if (row->information < 0 || row->address > UINT64_MAX - (uint64_t)row->information)
		return seq_fault(&r->seq, "a range of %" PRId64 " bytes at 0x%" PRIx64, row->information, row->address);
	vec_push(&o->gaps, ((struct profile_gap){
		.start = row->address, .size = (uint64_t)row->information, .why = keep(&o->arena, row->details.why),
		.name = keep(&o->arena, row->details.name), .kind = keep(&o->arena, row->details.kind),
	}));
	return true;
}

static bool profile_row(struct profile *p, struct stream_reader *r, struct profile_object *o)
{
	switch (r->row.type) {
	case PROFILE_BLOCK:
		return add_block(r, o);
	case PROFILE_OLD_ENTRY:
		vec_push(&o->entries, ((struct profile_entry){ r->row.address, r->row.count }));
		return true;
	case PROFILE_NOT_COUNTED:
		return add_gap(r, o);
	}
	if (r->row.type < PROFILE_RUN || r->row.type > PROFILE_RUN_END) {
		p->unknown_rows++;
		return true;
	}
	if (!o->run)
		o->run = run_new(&o->info, p->keep_samples);
	return run_row(o->run, r);
}

static int by_block(const void *a, const void *b)
{
	const struct profile_block *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

static int by_entry(const void *a, const void *b)
{
	const struct profile_entry *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_gap(const void *a, const void *b)
{
	const struct profile_gap *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

/* qsort of what is sorted already costs a pass and a copy; streams are ascending, so look first. */
static void sort_unless_sorted(void *v, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	for (size_t i = 1; i < n; i++)
		if (compare((char *)v + (i - 1) * size, (char *)v + i * size) > 0) {
			qsort(v, n, size, compare);
			return;
		}
}

/* Sorts, and makes one row of rows for the same place. */
static void tidy(struct profile_object *o)
{
	size_t n = 0;

	sort_unless_sorted(o->blocks.v, o->blocks.n, sizeof *o->blocks.v, by_block);
	for (size_t i = 0; i < o->blocks.n; i++)
		if (n && !by_block(&o->blocks.v[n - 1], &o->blocks.v[i]))
			o->blocks.v[n - 1].count = add_sat(o->blocks.v[n - 1].count, o->blocks.v[i].count);
		else
			o->blocks.v[n++] = o->blocks.v[i];
	o->blocks.n = n;

	sort_unless_sorted(o->entries.v, o->entries.n, sizeof *o->entries.v, by_entry);
	n = 0;
	for (size_t i = 0; i < o->entries.n; i++)
		if (n && !by_entry(&o->entries.v[n - 1], &o->entries.v[i]))
			o->entries.v[n - 1].count = add_sat(o->entries.v[n - 1].count, o->entries.v[i].count);
		else
			o->entries.v[n++] = o->entries.v[i];
	o->entries.n = n;

	sort_unless_sorted(o->gaps.v, o->gaps.n, sizeof *o->gaps.v, by_gap);
	n = 0;
	for (size_t i = 0; i < o->gaps.n; i++)
		if (!n || by_gap(&o->gaps.v[n - 1], &o->gaps.v[i]))
			o->gaps.v[n++] = o->gaps.v[i];
	o->gaps.n = n;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool same_object(const struct object_info *a, const struct object_info *b)
{
	static const unsigned char none[16];

	if (!same_text(a->process, b->process))
		return false;
	if (a->build_id_size || b->build_id_size)
		return a->build_id_size == b->build_id_size && !memcmp(a->build_id, b->build_id, a->build_id_size);
	if (memcmp(a->digest, none, sizeof none) || memcmp(b->digest, none, sizeof none))
		return !memcmp(a->digest, b->digest, sizeof a->digest);
	return a->size == b->size && same_text(a->path, b->path);
}

/* One note said twice is one note. */
static void join_notes(struct profile_object *to, const char *note)
{
	size_t n = strlen(note) + (to->info.note ? strlen(to->info.note) : 0) + 3;
	char *joined;

	if (to->info.note && strstr(to->info.note, note))
		return;
	joined = arena_alloc(&to->arena, n);
	snprintf(joined, n, "%s%s%s", to->info.note ? to->info.note : "", to->info.note ? "; " : "", note);
	to->info.note = joined;
}

/* The usual case: the same profiled object ran again. */
static bool add_equal_blocks(struct profile_object *to, const struct profile_object *from)
{
	if (to->blocks.n != from->blocks.n)
		return false;
	for (size_t i = 0; i < from->blocks.n; i++)
		if (by_block(&to->blocks.v[i], &from->blocks.v[i]))
			return false;
	for (size_t i = 0; i < from->blocks.n; i++)
		to->blocks.v[i].count = add_sat(to->blocks.v[i].count, from->blocks.v[i].count);
	return true;
}

static void merge(struct profile_object *to, const struct profile_object *from)
{
	to->info.processes = add_sat(to->info.processes, from->info.processes);
	if (from->info.note)
		join_notes(to, from->info.note);
	if (!add_equal_blocks(to, from))
		for (size_t i = 0; i < from->blocks.n; i++)
			vec_push(&to->blocks, from->blocks.v[i]);
	for (size_t i = 0; i < from->entries.n; i++)
		vec_push(&to->entries, from->entries.v[i]);
	for (size_t i = 0; i < from->gaps.n; i++) {
		struct profile_gap gap = from->gaps.v[i];

		gap.why = keep(&to->arena, gap.why);
		gap.name = keep(&to->arena, gap.name);
		gap.kind = keep(&to->arena, gap.kind);
		vec_push(&to->gaps, gap);
	}
	tidy(to);
	to->info.blocks = to->blocks.n;
}

static void object_free(struct profile_object *o)
{
	vec_free(&o->blocks);
	vec_free(&o->entries);
	vec_free(&o->gaps);
	if (o->run)
		run_free(o->run);
	arena_free(&o->arena);
	free(o);
}

/* What a run wrote before it was cut is whole. */
static void add_run(struct profile *p, struct profile_object *o, bool cut)
{
	run_finish(o->run, cut);
	vec_push(&p->runs, o->run);
	o->run = NULL;
	object_free(o);
}

static void add_skipped(struct profile *p, const struct object_info *info)
{
	for (size_t i = 0; i < p->skipped.n; i++)
		if (!strcmp(p->skipped.v[i].path, info->path) && !strcmp(p->skipped.v[i].why, info->skip))
			return;
	vec_push(&p->skipped, ((struct profile_skipped){ xstrdup(info->path), xstrdup(info->skip) }));
}

static void add_object(struct profile *p, struct profile_object *o)
{
	if (o->run) {
		add_run(p, o, false);
		return;
	}
	if (o->info.skip && o->info.path) {
		add_skipped(p, &o->info);
		object_free(o);
		return;
	}
	tidy(o);
	for (size_t i = 0; i < p->objects.n; i++)
		if (same_object(&p->objects.v[i]->info, &o->info)) {
			merge(p->objects.v[i], o);
			object_free(o);
			return;
		}
	vec_push(&p->objects, o);
}

bool profile_read(struct profile *p, FILE *f, const char *name)
{
	struct stream_reader r;
	struct profile_object *o = NULL;
	enum stream_event event;
	bool ok = true;

	stream_reader_init(&r, f, name, STREAM_PROFILE);
	while (ok && (event = stream_next(&r)) > STREAM_DONE) {
		if (event == STREAM_OBJECT) {
			o = xcalloc(1, sizeof *o);
			keep_info(o, &r.object);
		} else if (event == STREAM_ROW) {
			ok = profile_row(p, &r, o);
		} else if (o) {
			add_object(p, o);
			o = NULL;
		}
	}
	if (o && o->run)
		add_run(p, o, true);
	else if (o)
		object_free(o);
	ok = ok && event == STREAM_DONE;
	stream_reader_free(&r);
	return ok;
}

void profile_free(struct profile *p)
{
	for (size_t i = 0; i < p->objects.n; i++)
		object_free(p->objects.v[i]);
	vec_free(&p->objects);
	for (size_t i = 0; i < p->skipped.n; i++) {
		free(p->skipped.v[i].path);
		free(p->skipped.v[i].why);
	}
	vec_free(&p->skipped);
	for (size_t i = 0; i < p->runs.n; i++)
		run_free(p->runs.v[i]);
	vec_free(&p->runs);
}
