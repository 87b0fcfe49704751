/* report.c - what ran: objects, functions, blocks, instructions. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tools/prof-report/report.h"

enum { PLACE = 1024 };

static int by_rank(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	if (a->second != b->second)
		return a->second > b->second ? -1 : 1;
	if (a->view != b->view)
		return a->view < b->view ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

void ranking_sort(struct ranking *r)
{
	if (r->v.n)
		qsort(r->v.v, r->v.n, sizeof *r->v.v, by_rank);
}

size_t report_rows(const struct report *r, size_t n)
{
	return n < r->rows ? n : (size_t)r->rows;
}

static bool matches(const struct opt_list *globs, const char *name)
{
	for (int i = 0; name && i < globs->n; i++)
		if (!fnmatch(globs->v[i], name, 0))
			return true;
	return false;
}

bool report_wants_object(const struct report *r, const struct view *v)
{
	const struct object_info *info = &v->p->info;

	return !r->objects.n || matches(&r->objects, v->label) || matches(&r->objects, info->path) || matches(&r->objects, info->soname) ||
	       (info->path && matches(&r->objects, base_name(info->path)));
}

bool report_wants_name(const struct report *r, const char *name)
{
	return !r->functions.n || matches(&r->functions, name);
}

bool report_wants_function(const struct report *r, const struct function *f)
{
	return !r->functions.n || (f && (matches(&r->functions, f->name) || matches(&r->functions, f->raw)));
}

void report_summary(struct report *r)
{
	struct page *p = &r->page;

	if (p->is_json) {
		json_key(&p->json, "summary");
		json_begin_object(&p->json);
	}
	page_fact(p, "objects", "objects", r->count, "", 0);
	page_fact(p, "instructions", "instructions executed", r->insns, "", 0);
	page_fact(p, "executions", "blocks executed", r->executions, "times", 0);
	page_fact(p, "blocks_run", "blocks reached", r->blocks_run, "", r->blocks);
	page_fact(p, "bytes_run", "code reached", r->bytes_run, "bytes", r->bytes);
	page_fact(p, "bytes_not_counted", "code not counted", r->gap_bytes, "bytes", add_sat(r->bytes, r->gap_bytes));
	if (p->is_json) {
		page_fact(p, "blocks", NULL, r->blocks, "", 0);
		page_fact(p, "bytes", NULL, r->bytes, "", 0);
		json_end_object(&p->json);
	}
	if (r->profile.unknown_rows)
		page_text(p, "%s rows of a kind that this version does not know are left out\n", with_commas(r->profile.unknown_rows));
}

static void object_row(struct table *t, const struct report *r, const struct view *v)
{
	bool known = !v->fault && v->decoder;

	if (known)
		table_number(t, v->insns), table_percent(t, v->insns, r->insns);
	else
		table_none(t, "?"), table_none(t, "?");
	table_number(t, v->executions);
	table_number(t, v->blocks_run);
	table_number(t, v->p->blocks.n);
	table_percent(t, v->bytes_run, v->bytes);
	table_number(t, v->gap_bytes);
	table_number(t, v->p->info.processes);
	table_text(t, v->label);
	table_text(t, v->p->info.path);
	table_text(t, v->p->info.note);
	table_text(t, v->fault);
}

static void object_notes(struct report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct view *v = &r->views[i];

		if (!report_wants_object(r, v))
			continue;
		if (v->p->info.note)
			page_text(&r->page, "  %s: %s\n", v->label, v->p->info.note);
		if (v->fault)
			page_text(&r->page, "  %s: the original: %s: addresses only (--blocks)\n", v->label, v->fault);
	}
}

void report_objects(struct report *r)
{
	static const struct table_column columns[] = {
		{ "instructions", "instructions", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "executions", NULL, TABLE_NUMBER },
		{ "blocks_run", "blocks run", TABLE_NUMBER }, { "blocks", "of", TABLE_NUMBER }, { "percent_covered", "% run", TABLE_PERCENT },
		{ "bytes_not_counted", "not counted", TABLE_NUMBER }, { "processes", "processes", TABLE_NUMBER }, { "object", "object", TABLE_TEXT },
		{ "path", NULL, TABLE_TEXT }, { "note", NULL, TABLE_TEXT }, { "fault", NULL, TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct ranking ranking = {{0}};
	struct table t;

	for (size_t i = 0; i < r->count; i++)
		if (report_wants_object(r, &r->views[i]))
			vec_push(&ranking.v, ((struct rank){ r->views[i].insns, r->views[i].executions, (uint32_t)i, 0 }));
	ranking_sort(&ranking);
	table_begin(&t, &r->page, "objects", columns, "Objects (not counted: bytes of code)");
	for (size_t i = 0; i < ranking.v.n; i++)
		object_row(&t, r, &r->views[ranking.v.v[i].view]);
	table_end(&t, 0);
	object_notes(r);
	vec_free(&ranking.v);
}

/* Functions that ran, hottest first; those without a decoder by how often they were entered. */
static void rank_functions(struct report *r, struct ranking *ranking)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct view *v = &r->views[i];

		if (!report_wants_object(r, v))
			continue;
		for (size_t k = 0; k < v->functions.v.n; k++) {
			const struct function *f = &v->functions.v.v[k];

			if (f->blocks_run && report_wants_function(r, f))
				vec_push(&ranking->v, ((struct rank){ f->insns, f->entered, (uint32_t)i, (uint32_t)k }));
		}
	}
	ranking_sort(ranking);
}

static void function_row(struct table *t, const struct report *r, const struct view *v, const struct function *f)
{
	table_number(t, f->insns);
	table_percent(t, f->insns, r->insns);
	if (f->is_rest)
		table_none(t, "-");
	else
		table_number(t, f->entered);
	table_percent(t, f->bytes_run, f->bytes);
	table_text(t, v->label);
	table_text(t, f->name);
	table_number(t, f->start);
	table_text(t, f->raw);
	table_number(t, f->blocks_run);
	table_number(t, f->blocks);
}

void report_functions(struct report *r)
{
	static const struct table_column columns[] = {
		{ "instructions", "instructions", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "entered", "entered", TABLE_NUMBER },
		{ "percent_covered", "% run", TABLE_PERCENT }, { "object", "object", TABLE_TEXT }, { "function", "function", TABLE_TEXT },
		{ "address", NULL, TABLE_ADDRESS }, { "symbol", NULL, TABLE_TEXT },
		{ "blocks_run", NULL, TABLE_NUMBER }, { "blocks", NULL, TABLE_NUMBER }, { NULL, NULL, TABLE_TEXT }
	};
	struct ranking ranking = {{0}};
	struct table t;
	size_t n;

	rank_functions(r, &ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "functions", columns, "Functions, by executed instructions");
	for (size_t i = 0; i < n; i++) {
		const struct view *v = &r->views[ranking.v.v[i].view];

		function_row(&t, r, v, &v->functions.v.v[ranking.v.v[i].index]);
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
}

static void rank_blocks(struct report *r, struct ranking *ranking)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct view *v = &r->views[i];

		if (!report_wants_object(r, v))
			continue;
		for (size_t k = 0; k < v->p->blocks.n; k++) {
			const struct profile_block *b = &v->p->blocks.v[k];

			if (b->count && report_wants_function(r, block_function(v, b)))
				vec_push(&ranking->v, ((struct rank){ block_insns(b), b->count, (uint32_t)i, (uint32_t)k }));
		}
	}
	ranking_sort(ranking);
}

void report_block_place(struct table *t, const struct view *v, const struct profile_block *b)
{
	char place[PLACE], line[PLACE];
	const char *file;
	unsigned number;

	table_number(t, b->size);
	table_number(t, b->address);
	table_text(t, v->label);
	view_place(v, b->address, place, sizeof place);
	table_text(t, *place ? place : NULL);
	if (v->lines && lines_at(v->lines, b->address, &file, &number)) {
		snprintf(line, sizeof line, "%s:%u", file, number);
		table_text(t, line);
	} else {
		table_none(t, "");
	}
}

static void block_row(struct table *t, const struct report *r, const struct view *v, const struct profile_block *b)
{
	if (b->insns)
		table_number(t, block_insns(b)), table_percent(t, block_insns(b), r->insns);
	else
		table_none(t, "?"), table_none(t, "?");
	table_number(t, b->count);
	if (b->insns)
		table_number(t, b->insns);
	else
		table_none(t, "?");
	report_block_place(t, v, b);
}

void report_blocks(struct report *r)
{
	static const struct table_column columns[] = {
		{ "instructions", "instructions", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "count", "count", TABLE_NUMBER },
		{ "length", "length", TABLE_NUMBER }, { "size", "bytes", TABLE_NUMBER }, { "address", "address", TABLE_ADDRESS },
		{ "object", "object", TABLE_TEXT }, { "place", "place", TABLE_TEXT }, { "line", "line", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct ranking ranking = {{0}};
	struct table t;
	size_t n;

	rank_blocks(r, &ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "blocks", columns, "Blocks, by executed instructions (length: instructions in the block)");
	for (size_t i = 0; i < n; i++) {
		const struct view *v = &r->views[ranking.v.v[i].view];

		block_row(&t, r, v, &v->p->blocks.v[ranking.v.v[i].index]);
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
}

/* A branch's target is shown behind it, as objdump does. */
static void instruction_row(struct table *t, const struct view *v, uint64_t count, uint64_t at, bool first, const char *text, uint64_t target)
{
	char place[PLACE], shown[2 * PLACE];

	view_place(v, target, place, sizeof place);
	snprintf(shown, sizeof shown, target && *place ? "%s <%s>" : "%s", text, place);
	table_number(t, count);
	table_number(t, at);
	table_text(t, first ? "*" : " ");
	table_text(t, shown);
}

static void block_instructions(struct table *t, const struct view *v, const struct profile_block *b)
{
	const uint8_t *p = object_at(&v->elf, b->address, b->size);
	uint64_t target;
	char text[256];
	size_t length;

	for (size_t at = 0; p && at < b->size; at += length) {
		length = decode_text(v->decoder, p + at, b->size - at, b->address + at, text, sizeof text, &target);
		instruction_row(t, v, b->count, b->address + at, !at, length ? text : "(bad)", target);
		if (!length)
			break;
	}
}

/* The blocks that lie in the function's own range; others nested in it are passed over. */
static void part_instructions(struct table *t, const struct view *v, uint32_t index)
{
	const struct function *f = &v->functions.v.v[index];

	for (size_t i = view_block_at(v, f->start); i < v->p->blocks.n && v->p->blocks.v[i].address < f->end; i++)
		if (v->p->blocks.v[i].function == index)
			block_instructions(t, v, &v->p->blocks.v[i]);
}

static void function_instructions(struct report *r, const struct view *v, uint32_t index)
{
	static const struct table_column columns[] = {
		{ "count", "count", TABLE_NUMBER }, { "address", "address", TABLE_ADDRESS }, { NULL, " ", TABLE_TEXT },
		{ "instruction", "instruction", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	const struct function *whole = &v->functions.v.v[index];
	struct json *j = &r->page.json;
	struct table t;

	if (r->page.is_json) {
		json_begin_object(j);
		json_key(j, "function");
		json_string(j, whole->name);
		json_key(j, "object");
		json_string(j, v->label);
	}
	table_begin(&t, &r->page, "instructions", columns, "%s in %s: %s instructions executed, entered %s times (*: a block begins)",
		whole->name, v->label, with_commas(whole->insns), with_commas(whole->entered));
	part_instructions(&t, v, index);
	for (uint32_t i = 0; whole->has_cold && i < v->functions.v.n; i++)
		if (i != index && v->functions.v.v[i].whole == index)
			part_instructions(&t, v, i);
	table_end(&t, 0);
	if (r->page.is_json)
		json_end_object(j);
}

void report_instructions(struct report *r)
{
	struct ranking ranking = {{0}};
	size_t n;

	rank_functions(r, &ranking);
	n = report_rows(r, ranking.v.n);
	if (r->page.is_json) {
		json_key(&r->page.json, "disassembly");
		json_begin_array(&r->page.json);
	}
	for (size_t i = 0; i < n; i++) {
		const struct view *v = &r->views[ranking.v.v[i].view];

		if (v->decoder)
			function_instructions(r, v, ranking.v.v[i].index);
	}
	if (r->page.is_json)
		json_end_array(&r->page.json);
	else if (ranking.v.n > n)
		page_text(&r->page, "\n... and %s more functions (-n 0 shows all)\n", with_commas(ranking.v.n - n));
	vec_free(&ranking.v);
}
