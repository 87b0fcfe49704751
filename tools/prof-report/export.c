/* export.c - counts of objects in the formats of other programs: callgrind's, lcov's, stacks for flame graphs. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tools/prof-report/export.h"
#include "tools/prof-report/source.h"

/* A name in a format of lines: what is no letter of a line, or parts names in it, is shown as '?'. */
static void put_name(FILE *f, const char *key, const char *name, char parting, const char *end)
{
	fputs(key, f);
	for (; *name; name++)
		putc(iscntrl((unsigned char)*name) || *name == parting ? '?' : *name, f);
	fputs(end, f);
}

/* Where the cost lines are: what was said last. */
struct callgrind { FILE *f; struct view *view; const struct function *function; char *file, *own; uint64_t total; };

static void put_file(struct callgrind *c, const char *file)
{
	if (c->file && !strcmp(c->file, file))
		return;
	put_name(c->f, !strcmp(file, c->own) ? "fe=" : "fi=", file, 0, "\n");
	free(c->file);
	c->file = xstrdup(file);
}

static void put_function(struct callgrind *c, const struct function *function)
{
	const char *file = "???";
	unsigned line;

	c->function = function;
	if (!c->view->lines || !function || !lines_at(c->view->lines, function->start, &file, &line))
		file = "???";
	free(c->own);
	free(c->file);
	c->own = xstrdup(file);
	c->file = xstrdup(file);
	put_name(c->f, "fl=", file, 0, "\n");
	put_name(c->f, "fn=", function ? function->name : "???", 0, "\n");
}

static void put_cost(struct callgrind *c, uint64_t address, uint64_t cost)
{
	const char *file;
	unsigned line = 0;

	if (c->view->lines && lines_at(c->view->lines, address, &file, &line))
		put_file(c, file);
	fprintf(c->f, "0x%" PRIx64 " %u %" PRIu64 "\n", address, line, cost);
	c->total = add_sat(c->total, cost);
}

/* One line an instruction. */
static void put_block(struct callgrind *c, const struct profile_block *b)
{
	const uint8_t *p = c->view->fault || !c->view->decoder ? NULL : object_at(&c->view->elf, b->address, b->size);
	size_t length;

	for (size_t at = 0; p && at < b->size && (length = decode_length(c->view->decoder, p + at, b->size - at)); at += length)
		put_cost(c, b->address + at, b->count);
}

void report_callgrind(struct report *r, FILE *f)
{
	struct callgrind c = { .f = f };

	fputs("# callgrind format\nversion: 1\ncreator: prof-report of soprof\npositions: instr line\nevents: Ir\n", f);
	for (size_t i = 0; i < r->count; i++) {
		struct view *v = c.view = &r->views[i];
		bool begun = false;

		if (!report_wants_object(r, v))
			continue;
		put_name(f, "\nob=", v->p->info.path ? v->p->info.path : v->label, 0, "\n");
		for (size_t k = 0; k < v->p->blocks.n; k++) {
			const struct profile_block *b = &v->p->blocks.v[k];
			const struct function *function = block_function(v, b);

			if (!b->count || !report_wants_function(r, function))
				continue;
			if (!begun || function != c.function)
				put_function(&c, function);
			begun = true;
			put_block(&c, b);
		}
	}
	fprintf(f, "\ntotals: %" PRIu64 "\n", c.total);
	free(c.file);
	free(c.own);
}

void report_folded_counts(struct report *r, FILE *f)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct view *v = &r->views[i];

		for (size_t k = 0; k < v->functions.v.n && report_wants_object(r, v); k++) {
			const struct function *function = &v->functions.v.v[k];

			if (!function->insns || !report_wants_function(r, function))
				continue;
			put_name(f, "", v->label, ';', ";");
			put_name(f, "", function->name, ';', " ");
			fprintf(f, "%" PRIu64 "\n", function->insns);
		}
	}
}

struct place { const char *file; unsigned line; const struct function *function; };
typedef VEC(struct place) places;

static int by_file(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* The functions that have counted code, by the file and line that they begin at. */
static void find_places(const struct report *r, const struct view *v, struct arena *a, places *to)
{
	for (size_t i = 0; i < v->functions.v.n; i++) {
		const struct function *f = &v->functions.v.v[i];
		struct place p = { .function = f };

		if (f->blocks && f->whole == i && report_wants_function(r, f) && lines_at(v->lines, f->start, &p.file, &p.line)) {
			p.file = arena_strdup(a, p.file);
			vec_push(to, p);
		}
	}
	if (to->n)
		qsort(to->v, to->n, sizeof *to->v, by_file);
}

static size_t first_of(const places *p, const char *file)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(p->v[middle].file, file) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void put_functions(const places *p, const char *file, FILE *f)
{
	size_t first = first_of(p, file), n = 0, run = 0;

	for (size_t i = first; i < p->n && !strcmp(p->v[i].file, file); i++, n++) {
		fprintf(f, "FN:%u,", p->v[i].line);
		put_name(f, "", p->v[i].function->raw, 0, "\n");
	}
	for (size_t i = first; i < first + n; i++) {
		fprintf(f, "FNDA:%" PRIu64 ",", p->v[i].function->entered);
		put_name(f, "", p->v[i].function->raw, 0, "\n");
		run += p->v[i].function->entered > 0;
	}
	if (n)
		fprintf(f, "FNF:%zu\nFNH:%zu\n", n, run);
}

/* The lines of one file, from i on; returns where the next one begins. */
static size_t put_source(struct view *v, const places *p, const struct source_lines *lines, size_t i, FILE *f)
{
	uint32_t file = lines->v.v[i].file;
	size_t n = 0, run = 0;

	put_name(f, "TN:\nSF:", lines_file(v->lines, file), 0, "\n");
	put_functions(p, lines_file(v->lines, file), f);
	for (; i < lines->v.n && lines->v.v[i].file == file; i++) {
		if (lines->v.v[i].uncounted)
			continue;
		fprintf(f, "DA:%" PRIu32 ",%" PRIu64 "\n", lines->v.v[i].line, lines->v.v[i].count);
		n++;
		run += lines->v.v[i].count > 0;
	}
	fprintf(f, "LF:%zu\nLH:%zu\nend_of_record\n", n, run);
	return i;
}

void report_lcov(struct report *r, FILE *f)
{
	for (size_t i = 0; i < r->count; i++) {
		struct view *v = &r->views[i];
		struct source_lines lines;
		struct arena arena = { 0 };
		places p = { 0 };

		if (!report_wants_object(r, v) || v->fault || !v->lines)
			continue;
		lines = source_fold(r, v);
		if (lines.v.n)
			find_places(r, v, &arena, &p);
		for (size_t k = 0; k < lines.v.n; )
			k = put_source(v, &p, &lines, k, f);
		vec_free(&lines.v);
		vec_free(&p);
		arena_free(&arena);
	}
}
