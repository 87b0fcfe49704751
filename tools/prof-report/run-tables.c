/* run-tables.c - a run by line, by function, by part of the VM, sample by sample; and as folded stacks. */
#include "tools/prof-report/run-report.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE = 768 };
enum column { ALL, NATIVE, CALLED, INTERPRETED, OTHER, COLUMNS };

static enum column column_of(enum where where)
{
	switch (where) {
	case WHERE_HEAD: case WHERE_LOOP: case WHERE_STUB: return NATIVE;
	case WHERE_CALLED: case WHERE_C: return CALLED;
	case WHERE_INTERPRETER: return INTERPRETED;
	default: return OTHER;
	}
}

struct sums { uint64_t of[COLUMNS]; };

static void numbers(struct table *t, const struct run *run, const struct sums *s)
{
	table_number(t, s->of[ALL]);
	table_percent(t, s->of[ALL], run->weight);
	table_number(t, s->of[NATIVE]);
	table_number(t, s->of[CALLED]);
	table_number(t, s->of[INTERPRETED]);
	table_number(t, s->of[OTHER]);
}

static bool wants_cell(const struct report *r, const struct run *run, const struct run_cell *c)
{
	char text[PLACE];

	if (!r->functions.n)
		return true;
	run_function_text(run, c->function, text, sizeof text);
	return report_wants_name(r, text);
}

struct line_key { uint32_t file, line; };

void report_run_lines(struct report *r, const struct run *run)
{
	static const struct table_column columns[] = {
		{ "samples", "samples", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "native", "native", TABLE_NUMBER },
		{ "called", "C", TABLE_NUMBER }, { "interpreted", "interpreter", TABLE_NUMBER }, { "other", "other", TABLE_NUMBER },
		{ "line", "line", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct intern keys = { .slots = NULL };
	struct ranking ranking = {{0}};
	VEC(struct sums) sums = {0};
	char text[PLACE], file[PLACE];
	struct table t;
	size_t n;

	for (size_t i = 0; i < run->cells.v.n; i++) {
		const struct run_cell *c = run_cell(run, i);
		struct line_key key = { c->line_file, c->line };
		uint32_t at;

		if (!wants_cell(r, run, c))
			continue;
		at = intern(&keys, &key, sizeof key);
		if (at == sums.n)
			vec_push(&sums, ((struct sums){ .of = { 0 } }));
		sums.v[at].of[ALL] += run->weights.v[i];
		sums.v[at].of[column_of(c->where)] += run->weights.v[i];
	}
	for (size_t i = 0; i < sums.n; i++)
		vec_push(&ranking.v, ((struct rank){ sums.v[i].of[ALL], 0, 0, (uint32_t)i }));
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "lines", columns, "Lua lines (native: in traces; other: compiler, garbage collector)");
	for (size_t i = 0; i < n; i++) {
		const struct line_key *key = keys.v.v[ranking.v.v[i].index].bytes;

		numbers(&t, run, &sums.v[ranking.v.v[i].index]);
		run_file_text(run, key->file, file, sizeof file);
		snprintf(text, sizeof text, key->file == NONE ? "?" : "%s:%" PRIu32, file, key->line);
		table_text(&t, text);
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
	vec_free(&sums);
	intern_free(&keys);
}

struct function_sums { uint64_t total; uint32_t seen; struct sums self; };

/* self and with callees, once a function however often it is on the stack. */
static void sum_functions(const struct run *run, struct function_sums *to)
{
	for (size_t i = 0; i < run->cells.v.n; i++) {
		const struct run_cell *c = run_cell(run, i);
		size_t n;
		const struct run_place *calls = run_chain(run, c->chain, &n);

		if (c->function != NONE) {
			to[c->function].self.of[ALL] += run->weights.v[i];
			to[c->function].self.of[column_of(c->where)] += run->weights.v[i];
		}
		for (size_t k = 0; k < n; k++) {
			uint32_t f = run_function_at(run, calls[k]);

			if (f == NONE || to[f].seen == i + 1)
				continue;
			to[f].seen = (uint32_t)i + 1;
			to[f].total += run->weights.v[i];
		}
	}
}

void report_run_functions(struct report *r, const struct run *run)
{
	static const struct table_column columns[] = {
		{ "samples", "self", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "native", "native", TABLE_NUMBER },
		{ "called", "C", TABLE_NUMBER }, { "interpreted", "interpreter", TABLE_NUMBER }, { "other", "other", TABLE_NUMBER },
		{ "total", "with callees", TABLE_NUMBER }, { "percent_total", "%", TABLE_PERCENT }, { "function", "function", TABLE_TEXT },
		{ NULL, NULL, TABLE_TEXT }
	};
	struct function_sums *sums = xcalloc(run->functions.v.n + 1, sizeof *sums);
	struct ranking ranking = {{0}};
	char text[PLACE];
	struct table t;
	size_t n;

	sum_functions(run, sums);
	for (size_t i = 0; i < run->functions.v.n; i++) {
		run_function_text(run, (uint32_t)i, text, sizeof text);
		if (sums[i].total && report_wants_name(r, text))
			vec_push(&ranking.v, ((struct rank){ sums[i].self.of[ALL], sums[i].total, 0, (uint32_t)i }));
	}
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "functions", columns, "Lua functions, by the line they begin at");
	for (size_t i = 0; i < n; i++) {
		const struct function_sums *s = &sums[ranking.v.v[i].index];

		numbers(&t, run, &s->self);
		table_number(&t, s->total);
		table_percent(&t, s->total, run->weight);
		run_function_text(run, ranking.v.v[i].index, text, sizeof text);
		table_text(&t, text);
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
	free(sums);
}

struct part_key { uint32_t where, symbol, c_function; };

void report_run_parts(struct report *r, const struct run *run)
{
	static const struct table_column columns[] = {
		{ "samples", "samples", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "state", "state", TABLE_TEXT },
		{ "symbol", "function", TABLE_TEXT }, { "called", "called by Lua", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct intern keys = { .slots = NULL };
	struct ranking ranking = {{0}};
	struct table t;
	size_t n;

	for (size_t i = 0; i < run->cells.v.n; i++) {
		const struct run_cell *c = run_cell(run, i);
		struct part_key key = { c->where, c->symbol, c->c_function };
		uint32_t at;

		if (c->where == WHERE_HEAD || c->where == WHERE_LOOP)
			continue;
		at = intern(&keys, &key, sizeof key);
		if (at == ranking.v.n)
			vec_push(&ranking.v, ((struct rank){ 0, 0, 0, at }));
		ranking.v.v[at].key += run->weights.v[i];
	}
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "parts", columns, "Outside traces: parts of the VM, and C functions");
	for (size_t i = 0; i < n; i++) {
		const struct part_key *key = keys.v.v[ranking.v.v[i].index].bytes;

		table_number(&t, ranking.v.v[i].key);
		table_percent(&t, ranking.v.v[i].key, run->weight);
		table_text(&t, where_names[key->where]);
		table_text(&t, key->symbol == NONE ? "?" : run_symbol_text(run, key->symbol));
		table_text(&t, key->c_function == NONE ? "" : run_symbol_text(run, key->c_function));
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
	intern_free(&keys);
}

void report_run_samples(struct report *r, const struct run *run)
{
	static const struct table_column columns[] = {
		{ "time", "time", TABLE_NUMBER }, { "pc", "pc", TABLE_ADDRESS }, { "weight", "weight", TABLE_NUMBER }, { "state", "state", TABLE_TEXT },
		{ "serial", "trace", TABLE_PLAIN }, { "line", "line", TABLE_TEXT }, { "symbol", "function", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct table t;

	table_begin(&t, &r->page, "all", columns, "Samples");
	for (size_t i = 0; i < run->all.n; i++) {
		const struct run_sample *s = &run->all.v[i];
		const struct run_cell *c = run_cell(run, s->cell);
		char file[PLACE], text[PLACE];

		table_number(&t, s->time);
		table_number(&t, s->pc);
		table_number(&t, s->weight);
		table_text(&t, where_names[c->where]);
		table_number(&t, c->trace);
		run_file_text(run, c->line_file, file, sizeof file);
		snprintf(text, sizeof text, c->line_file == NONE ? "?" : "%s:%" PRIu32, file, c->line);
		table_text(&t, text);
		table_text(&t, run_symbol_text(run, c->symbol));
	}
	table_end(&t, 0);
}

/* A semicolon parts frames, a line stacks. */
static size_t put_frame(char *to, size_t size, size_t at, const char *text)
{
	if (at && at + 1 < size)
		to[at++] = ';';
	for (; *text && at + 1 < size; text++)
		to[at++] = *text == ';' ? ':' : (unsigned char)*text < ' ' ? '?' : *text;
	to[at] = 0;
	return at;
}

/* The last frame tells what it is when that is not Lua code. */
static size_t put_leaf(char *to, size_t size, size_t at, const struct run *run, const struct run_cell *c)
{
	char text[PLACE];

	switch ((enum where)c->where) {
	case WHERE_HEAD: case WHERE_LOOP: case WHERE_INTERPRETER:
		return at ? at : put_frame(to, size, at, "[Lua]");
	case WHERE_CALLED: case WHERE_C:
		if (c->c_function != NONE && c->c_function != c->symbol)
			at = put_frame(to, size, at, run_symbol_text(run, c->c_function));
		return put_frame(to, size, at, c->symbol == NONE ? "[C]" : run_symbol_text(run, c->symbol));
	default:
		snprintf(text, sizeof text, "[%s]", where_names[c->where]);
		return put_frame(to, size, at, text);
	}
}

static void fold_run(const struct report *r, const struct run *run, struct intern *stacks, struct ranking *counts)
{
	static char text[1 << 17];

	for (size_t i = 0; i < run->cells.v.n; i++) {
		const struct run_cell *c = run_cell(run, i);
		size_t n, at = 0;
		const struct run_place *calls = run_chain(run, c->chain, &n);
		uint32_t stack;

		if (!wants_cell(r, run, c))
			continue;
		while (n-- > 0) {
			char name[PLACE];

			run_function_text(run, run_function_at(run, calls[n]), name, sizeof name);
			at = put_frame(text, sizeof text, at, name);
		}
		put_leaf(text, sizeof text, at, run, c);
		stack = intern_text(stacks, text);
		if (stack == counts->v.n)
			vec_push(&counts->v, ((struct rank){ 0, 0, 0, stack }));
		counts->v.v[stack].key += run->weights.v[i];
	}
}

void report_folded(struct report *r, FILE *f)
{
	struct intern stacks = { .slots = NULL };
	struct ranking counts = {{0}};

	for (size_t i = 0; i < r->profile.runs.n; i++)
		fold_run(r, r->profile.runs.v[i], &stacks, &counts);
	ranking_sort(&counts);
	for (size_t i = 0; i < counts.v.n; i++)
		fprintf(f, "%s %" PRIu64 "\n", interned_text(&stacks, counts.v.v[i].index), counts.v.v[i].key);
	vec_free(&counts.v);
	intern_free(&stacks);
}
