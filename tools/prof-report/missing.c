/* missing.c - what never ran, and what was not counted and why. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "tools/prof-report/report.h"
#include "tools/prof-report/source.h"

enum { PLACE = 1024 };

static void coverage_row(struct table *t, struct view *v)
{
	size_t lines, lines_run;

	table_number(t, v->functions_run);
	table_number(t, v->functions_seen);
	table_percent(t, v->functions_run, v->functions_seen);
	source_coverage(v, &lines, &lines_run);
	if (lines)
		table_number(t, lines_run), table_number(t, lines);
	else
		table_none(t, "-"), table_none(t, "-");
	table_percent(t, lines_run, lines);
	table_number(t, v->blocks_run);
	table_number(t, v->p->blocks.n);
	table_percent(t, v->blocks_run, v->p->blocks.n);
	table_percent(t, v->bytes_run, v->bytes);
	table_text(t, v->label);
}

void report_coverage(struct report *r)
{
	static const struct table_column columns[] = {
		{ "functions_run", "functions", TABLE_NUMBER }, { "functions", "of", TABLE_NUMBER }, { "functions_percent", "%", TABLE_PERCENT },
		{ "lines_run", "lines", TABLE_NUMBER }, { "lines", "of", TABLE_NUMBER }, { "lines_percent", "%", TABLE_PERCENT },
		{ "blocks_run", "blocks", TABLE_NUMBER }, { "blocks", "of", TABLE_NUMBER }, { "blocks_percent", "%", TABLE_PERCENT },
		{ "bytes_percent", "bytes %", TABLE_PERCENT }, { "object", "object", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct table t;

	table_begin(&t, &r->page, "coverage", columns, "Covered: executed at least once, of what was counted");
	for (size_t i = 0; i < r->count; i++)
		if (report_wants_object(r, &r->views[i]))
			coverage_row(&t, &r->views[i]);
	table_end(&t, 0);
}

void report_never_functions(struct report *r)
{
	static const struct table_column columns[] = {
		{ "bytes", "bytes", TABLE_NUMBER }, { "blocks", "blocks", TABLE_NUMBER }, { "address", "address", TABLE_ADDRESS },
		{ "object", "object", TABLE_TEXT }, { "function", "function", TABLE_TEXT }, { "symbol", NULL, TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct ranking ranking = {{0}};
	struct table t;
	size_t n;

	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; report_wants_object(r, &r->views[i]) && k < r->views[i].functions.v.n; k++) {
			const struct function *f = &r->views[i].functions.v.v[k];

			if (f->blocks && !f->blocks_run && !f->is_rest && report_wants_function(r, f))
				vec_push(&ranking.v, ((struct rank){ f->bytes, 0, (uint32_t)i, (uint32_t)k }));
		}
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "never_functions", columns, "Functions never executed, by size (%s)", with_commas(ranking.v.n));
	for (size_t i = 0; i < n; i++) {
		const struct view *v = &r->views[ranking.v.v[i].view];
		const struct function *f = &v->functions.v.v[ranking.v.v[i].index];

		table_number(&t, f->bytes);
		table_number(&t, f->blocks);
		table_number(&t, f->start);
		table_text(&t, v->label);
		table_text(&t, f->name);
		table_text(&t, f->raw);
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
}

void report_never_blocks(struct report *r)
{
	static const struct table_column columns[] = {
		{ "size", "bytes", TABLE_NUMBER }, { "address", "address", TABLE_ADDRESS }, { "object", "object", TABLE_TEXT },
		{ "place", "place", TABLE_TEXT }, { "line", "line", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	uint64_t shown = 0, left = 0;
	struct table t;

	table_begin(&t, &r->page, "never_blocks", columns, "Blocks never executed, by address");
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; report_wants_object(r, &r->views[i]) && k < r->views[i].p->blocks.n; k++) {
			const struct profile_block *b = &r->views[i].p->blocks.v[k];

			if (b->count || !report_wants_function(r, block_function(&r->views[i], b)))
				continue;
			if (shown < r->rows)
				report_block_place(&t, &r->views[i], b), shown++;
			else
				left++;
		}
	table_end(&t, left);
}

/* Ranges of one object that stayed for one kind of reason. */
struct reason { const char *why; uint64_t ranges, bytes; };
struct reasons { VEC(struct reason) v; struct arena arena; };

/* The reason without its places ("at 0x1234"), which tell one range from another and not one kind from another. */
static const char *kind_of(struct arena *a, const char *why)
{
	char *kind = arena_strdup(a, why), *to = kind;

	for (const char *from = kind; *from;) {
		size_t digits = strncmp(from, " at 0x", 6) ? 0 : strspn(from + 6, "0123456789abcdef");

		if (digits && !isalnum((unsigned char)from[6 + digits]))
			from += 6 + digits;
		else
			*to++ = *from++;
	}
	*to = 0;
	return kind;
}

static int by_why(const void *pa, const void *pb)
{
	return strcmp(((const struct reason *)pa)->why, ((const struct reason *)pb)->why);
}

static int by_bytes(const void *pa, const void *pb)
{
	const struct reason *a = pa, *b = pb;

	return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : by_why(a, b);
}

static void find_reasons(struct reasons *found, const struct view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->p->gaps.n; i++)
		vec_push(&found->v, ((struct reason){
			kind_of(&found->arena, v->p->gaps.v[i].why ? v->p->gaps.v[i].why : "no reason given"), 1, v->p->gaps.v[i].size }));
	if (found->v.n)
		qsort(found->v.v, found->v.n, sizeof *found->v.v, by_why);
	for (size_t i = 0; i < found->v.n; i++)
		if (n && !by_why(&found->v.v[n - 1], &found->v.v[i])) {
			found->v.v[n - 1].bytes = add_sat(found->v.v[n - 1].bytes, found->v.v[i].bytes);
			found->v.v[n - 1].ranges++;
		} else {
			found->v.v[n++] = found->v.v[i];
		}
	found->v.n = n;
	if (n)
		qsort(found->v.v, n, sizeof *found->v.v, by_bytes);
}

static void reasons_of(struct table *t, const struct view *v)
{
	struct reasons found = { .v = {0} };

	find_reasons(&found, v);
	for (size_t i = 0; i < found.v.n; i++) {
		table_number(t, found.v.v[i].bytes);
		table_percent(t, found.v.v[i].bytes, add_sat(v->bytes, v->gap_bytes));
		table_number(t, found.v.v[i].ranges);
		table_text(t, v->label);
		table_text(t, found.v.v[i].why);
	}
	vec_free(&found.v);
	arena_free(&found.arena);
}

static void report_ranges(struct report *r)
{
	static const struct table_column columns[] = {
		{ "size", "bytes", TABLE_NUMBER }, { "address", "address", TABLE_ADDRESS }, { "object", "object", TABLE_TEXT },
		{ "name", "name", TABLE_TEXT }, { "why", "why", TABLE_TEXT }, { "kind", NULL, TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	char place[PLACE];
	struct ranking ranking = {{0}};
	struct table t;
	size_t n;

	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; report_wants_object(r, &r->views[i]) && k < r->views[i].p->gaps.n; k++)
			vec_push(&ranking.v, ((struct rank){ r->views[i].p->gaps.v[k].size, 0, (uint32_t)i, (uint32_t)k }));
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "not_counted_ranges", columns, "Ranges not counted, by size");
	for (size_t i = 0; i < n; i++) {
		const struct view *v = &r->views[ranking.v.v[i].view];
		const struct profile_gap *gap = &v->p->gaps.v[ranking.v.v[i].index];

		view_place(v, gap->start, place, sizeof place);
		table_number(&t, gap->size);
		table_number(&t, gap->start);
		table_text(&t, v->label);
		table_text(&t, *place ? place : gap->name);
		table_text(&t, gap->why);
		table_text(&t, gap->kind);
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
}

void report_not_counted(struct report *r, bool ranges)
{
	static const struct table_column columns[] = {
		{ "bytes", "bytes", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "ranges", "ranges", TABLE_NUMBER },
		{ "object", "object", TABLE_TEXT }, { "why", "why", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct table t;

	table_begin(&t, &r->page, "not_counted", columns, "Not counted (%%: of the object's code; --not-counted names each range)");
	for (size_t i = 0; i < r->count; i++)
		if (report_wants_object(r, &r->views[i]))
			reasons_of(&t, &r->views[i]);
	table_end(&t, 0);
	if (ranges)
		report_ranges(r);
}

void report_old_entries(struct report *r)
{
	static const struct table_column columns[] = {
		{ "count", "times", TABLE_NUMBER }, { "address", "address", TABLE_ADDRESS }, { "object", "object", TABLE_TEXT },
		{ "function", "function", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	char place[PLACE];
	struct ranking ranking = {{0}};
	struct table t;
	size_t n;

	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; report_wants_object(r, &r->views[i]) && k < r->views[i].p->entries.n; k++)
			vec_push(&ranking.v, ((struct rank){ r->views[i].p->entries.v[k].count, 0, (uint32_t)i, (uint32_t)k }));
	if (!ranking.v.n && !r->page.is_json)
		return;
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "old_entries", columns, "Entered by the old address (counted all the same)");
	for (size_t i = 0; i < n; i++) {
		const struct view *v = &r->views[ranking.v.v[i].view];
		const struct profile_entry *entry = &v->p->entries.v[ranking.v.v[i].index];

		view_place(v, entry->address, place, sizeof place);
		table_number(&t, entry->count);
		table_number(&t, entry->address);
		table_text(&t, v->label);
		table_text(&t, *place ? place : NULL);
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
}

static bool made_threads(const struct view *v)
{
	for (size_t i = 0; i < v->functions.v.n; i++) {
		const struct function *f = &v->functions.v.v[i];

		if (f->entered && !strncmp(f->raw, "pthread_create", 14))
			return true;
	}
	return false;
}

/* What the counts themselves show of threads: known where the C library was counted. */
static void thread_note(struct report *r)
{
	bool threads = false, plain = false;

	for (size_t i = 0; i < r->count; i++) {
		threads |= made_threads(&r->views[i]);
		plain |= !r->views[i].p->info.atomic;
	}
	if (threads && plain)
		page_text(&r->page, "\nThreads were started, and not all increments were atomic: blocks that several threads ran at the same moment\n"
			"may have more executions than were counted (so-gen --atomic counts them all)\n");
}

void report_skipped(struct report *r)
{
	static const struct table_column columns[] = {
		{ "object", "object", TABLE_TEXT }, { "why", "why", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct table t;

	thread_note(r);
	if (!r->profile.skipped.n)
		return;
	table_begin(&t, &r->page, "not_profiled", columns, "Loaded, and not profiled");
	for (size_t i = 0; i < r->profile.skipped.n; i++) {
		table_text(&t, r->profile.skipped.v[i].path);
		table_text(&t, r->profile.skipped.v[i].why);
	}
	table_end(&t, 0);
}
