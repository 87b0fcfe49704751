/* source.c - from blocks to source lines through the line table. */
#include <stdlib.h>
#include <string.h>
#include "tools/prof-report/source.h"

enum { ROW_MAX = 1 << 20 };	/* a longer row is a lie */

/* What one function has of one line. */
struct entry {
	uint32_t file, line, function;
	bool counted, has_statement;
	uint64_t statement, any, insns;
};

struct source {
	struct view *view;
	VEC(struct entry) entries;
	uint32_t *slots;		/* hash: entry + 1 */
	size_t slot_count;
	/* the block decoded last: where its instructions start */
	size_t decoded;
	VEC(uint32_t) starts;
};

static size_t slot_of(const struct source *s, uint32_t file, uint32_t line, uint32_t function)
{
	uint64_t h = (file * UINT64_C(0x9e3779b97f4a7c15)) ^ (line * UINT64_C(0xc2b2ae3d27d4eb4f)) ^ (function * UINT64_C(0x165667b19e3779f9));

	return (size_t)((h ^ h >> 29) & (s->slot_count - 1));
}

static void grow_slots(struct source *s)
{
	free(s->slots);
	s->slot_count = s->slot_count ? s->slot_count * 2 : 1024;
	s->slots = xcalloc(s->slot_count, sizeof *s->slots);
	for (size_t i = 0; i < s->entries.n; i++) {
		const struct entry *e = &s->entries.v[i];
		size_t at = slot_of(s, e->file, e->line, e->function);

		while (s->slots[at])
			at = (at + 1) & (s->slot_count - 1);
		s->slots[at] = (uint32_t)i + 1;
	}
}

static struct entry *entry_of(struct source *s, const struct lines_row *r, uint32_t function)
{
	size_t at;

	if (s->entries.n * 2 >= s->slot_count)
		grow_slots(s);
	for (at = slot_of(s, r->file, r->line, function); s->slots[at]; at = (at + 1) & (s->slot_count - 1)) {
		struct entry *e = &s->entries.v[s->slots[at] - 1];

		if (e->file == r->file && e->line == r->line && e->function == function)
			return e;
	}
	vec_push(&s->entries, ((struct entry){ .file = r->file, .line = r->line, .function = function }));
	s->slots[at] = (uint32_t)s->entries.n;
	return &s->entries.v[s->entries.n - 1];
}

static void decode_starts(struct source *s, size_t index)
{
	const struct profile_block *b = &s->view->p->blocks.v[index];
	const uint8_t *p;
	size_t length;

	if (s->decoded == index)
		return;
	s->decoded = index;
	s->starts.n = 0;
	p = object_at(&s->view->elf, b->address, b->size);
	for (size_t at = 0; p && at < b->size && (length = decode_length(s->view->decoder, p + at, b->size - at)); at += length)
		vec_push(&s->starts, (uint32_t)at);
}

/* Instructions of block INDEX that start in [start, end). */
static uint64_t instructions_in(struct source *s, size_t index, uint64_t start, uint64_t end)
{
	const struct profile_block *b = &s->view->p->blocks.v[index];
	uint64_t n = 0;

	if (!s->view->decoder)
		return 0;
	if (start <= b->address && end >= b->address + b->size)
		return b->insns;
	decode_starts(s, index);
	for (size_t i = 0; i < s->starts.n; i++)
		n += b->address + s->starts.v[i] >= start && b->address + s->starts.v[i] < end;
	return n;
}

static void add_block(struct source *s, const struct lines_row *r, size_t index)
{
	const struct profile_block *b = &s->view->p->blocks.v[index];
	uint32_t function = b->function == NO_FUNCTION ? NO_FUNCTION : s->view->functions.v.v[b->function].whole;
	struct entry *e = entry_of(s, r, function);

	e->counted = true;
	if (b->count > e->any)
		e->any = b->count;
	if (r->is_stmt) {
		e->has_statement = true;
		if (b->count > e->statement)
			e->statement = b->count;
	}
	if (b->count && r->end > r->start)
		e->insns = add_sat(e->insns, mul_sat(b->count, instructions_in(s, index, r->start, r->end)));
}

static bool is_gap(const struct view *v, uint64_t address)
{
	const struct profile_gap *gaps = v->p->gaps.v;
	size_t low = 0, high = v->p->gaps.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gaps[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - gaps[low - 1].start < gaps[low - 1].size;
}

static void add_row(void *context, const struct lines_row *r)
{
	struct source *s = context;
	const struct profile_object *p = s->view->p;
	size_t i = view_block_at(s->view, r->start);
	bool found = false;

	if (r->end - r->start > ROW_MAX)
		return;
	for (; i < p->blocks.n && (p->blocks.v[i].address <= r->start || p->blocks.v[i].address < r->end); i++, found = true)
		add_block(s, r, i);
	if (!found && is_gap(s->view, r->start))
		entry_of(s, r, functions_at(&s->view->functions, r->start));
}

static int by_line(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static struct source *source_load(struct view *v)
{
	struct source *s = v->source;

	if (s)
		return s;
	s = v->source = xcalloc(1, sizeof *s);
	s->view = v;
	s->decoded = SIZE_MAX;
	if (!v->lines)
		return s;
	lines_rows(v->lines, add_row, s);
	if (s->entries.n)
		qsort(s->entries.v, s->entries.n, sizeof *s->entries.v, by_line);
	free(s->slots);
	s->slots = NULL;
	return s;
}

void source_free(struct source *s)
{
	if (!s)
		return;
	vec_free(&s->entries);
	vec_free(&s->starts);
	free(s->slots);
	free(s);
}

struct source_lines source_fold(const struct report *r, struct view *v)
{
	struct source *s = source_load(v);
	struct source_lines lines = {{0}};
	struct source_line *line = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < s->entries.n; i++) {
		const struct entry *e = &s->entries.v[i];

		if (r && !report_wants_function(r, e->function == NO_FUNCTION ? NULL : &v->functions.v.v[e->function]))
			continue;
		if (!line || line->file != e->file || line->line != e->line) {
			vec_push(&lines.v, ((struct source_line){ .file = e->file, .line = e->line, .function = e->function, .uncounted = true }));
			line = &lines.v.v[lines.v.n - 1];
			most = 0;
		}
		line->uncounted = line->uncounted && !e->counted;
		line->count = add_sat(line->count, e->has_statement ? e->statement : e->any);
		line->insns = add_sat(line->insns, e->insns);
		if (e->insns > most) {
			most = e->insns;
			line->function = e->function;
		}
	}
	return lines;
}

void source_coverage(struct view *v, size_t *lines, size_t *lines_run)
{
	struct source_lines all = source_fold(NULL, v);

	*lines = *lines_run = 0;
	for (size_t i = 0; i < all.v.n; i++) {
		*lines += !all.v.v[i].uncounted;
		*lines_run += all.v.v[i].count > 0;
	}
	vec_free(&all.v);
}
