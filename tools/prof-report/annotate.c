/* annotate.c - the tables of source lines, and source text with counts beside it. */
#include <stdlib.h>
#include <string.h>
#include "lib/base/msg.h"
#include "tools/prof-report/source.h"

enum { PLACE = 1024, TAB = 8 };

static void line_row(struct table *t, const struct report *r, const struct view *v, const struct source_line *line)
{
	char place[PLACE];

	table_number(t, line->insns);
	table_percent(t, line->insns, r->insns);
	table_number(t, line->count);
	table_text(t, v->label);
	table_text(t, line->function == NO_FUNCTION ? NULL : v->functions.v.v[line->function].name);
	snprintf(place, sizeof place, "%s:%u", lines_file(v->lines, line->file), line->line);
	table_text(t, place);
	table_text(t, lines_file(v->lines, line->file));
	table_number(t, line->line);
}

static struct source_lines fold_or_say(const struct report *r, struct view *v)
{
	struct source_lines lines = source_fold(r, v);
	size_t all, run;

	if (!lines.v.n && !v->fault) {
		source_coverage(v, &all, &run);
		if (!all)
			msg_note(v->label, "no debug information: no source lines");
	}
	return lines;
}

void report_lines(struct report *r)
{
	static const struct table_column columns[] = {
		{ "instructions", "instructions", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "count", "count", TABLE_NUMBER },
		{ "object", "object", TABLE_TEXT }, { "function", "function", TABLE_TEXT }, { NULL, "line", TABLE_TEXT },
		{ "file", NULL, TABLE_TEXT }, { "line", NULL, TABLE_PLAIN }, { NULL, NULL, TABLE_TEXT }
	};
	struct source_lines *lines = xcalloc(r->count, sizeof *lines);
	struct ranking ranking = {{0}};
	struct table t;
	size_t n;

	for (size_t i = 0; i < r->count; i++) {
		if (!report_wants_object(r, &r->views[i]))
			continue;
		lines[i] = fold_or_say(r, &r->views[i]);
		for (size_t k = 0; k < lines[i].v.n; k++)
			if (lines[i].v.v[k].count)
				vec_push(&ranking.v, ((struct rank){ lines[i].v.v[k].insns, lines[i].v.v[k].count, (uint32_t)i, (uint32_t)k }));
	}
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "lines", columns, "Source lines, by executed instructions");
	for (size_t i = 0; i < n; i++)
		line_row(&t, r, &r->views[ranking.v.v[i].view], &lines[ranking.v.v[i].view].v.v[ranking.v.v[i].index]);
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
	for (size_t i = 0; i < r->count; i++)
		vec_free(&lines[i].v);
	free(lines);
}

static void never_row(struct table *t, const struct view *v, const struct source_line *first, const struct source_line *last, size_t n)
{
	char place[PLACE];

	if (first->line == last->line)
		snprintf(place, sizeof place, "%s:%u", lines_file(v->lines, first->file), first->line);
	else
		snprintf(place, sizeof place, "%s:%u-%u", lines_file(v->lines, first->file), first->line, last->line);
	table_number(t, n);
	table_text(t, v->label);
	table_text(t, first->function == NO_FUNCTION ? NULL : v->functions.v.v[first->function].name);
	table_text(t, place);
	table_text(t, lines_file(v->lines, first->file));
	table_number(t, first->line);
	table_number(t, last->line);
}

static bool never_ran(const struct source_line *line)
{
	return !line->count && !line->uncounted;
}

/* Neighbours that never ran are one row, up to the next line of code that did or the next function. */
static void never_rows(struct table *t, const struct report *r, struct view *v, uint64_t *shown, uint64_t *left)
{
	struct source_lines lines = fold_or_say(r, v);

	for (size_t i = 0, next; i < lines.v.n; i = next) {
		const struct source_line *first = &lines.v.v[i];

		for (next = i + 1; never_ran(first) && next < lines.v.n && never_ran(&lines.v.v[next]) && lines.v.v[next].file == first->file &&
		     lines.v.v[next].function == first->function; next++)
			;
		if (!never_ran(first))
			continue;
		if (*shown < r->rows) {
			never_row(t, v, first, &lines.v.v[next - 1], next - i);
			++*shown;
		} else {
			++*left;
		}
	}
	vec_free(&lines.v);
}

void report_never_lines(struct report *r)
{
	static const struct table_column columns[] = {
		{ "count", "lines", TABLE_NUMBER }, { "object", "object", TABLE_TEXT }, { "function", "function", TABLE_TEXT },
		{ NULL, "place", TABLE_TEXT }, { "file", NULL, TABLE_TEXT }, { "first", NULL, TABLE_PLAIN }, { "last", NULL, TABLE_PLAIN },
		{ NULL, NULL, TABLE_TEXT }
	};
	uint64_t shown = 0, left = 0;
	struct table t;

	table_begin(&t, &r->page, "never_lines", columns, "Source lines never executed");
	for (size_t i = 0; i < r->count; i++)
		if (report_wants_object(r, &r->views[i]))
			never_rows(&t, r, &r->views[i], &shown, &left);
	table_end(&t, left);
}

/* How many of the last components two paths share; "." and ".." in front of a relative one do not count. */
static unsigned shared_components(const char *a, const char *b)
{
	size_t i = strlen(a), k = strlen(b);
	unsigned n = 0;

	while (i && k && a[i - 1] == b[k - 1]) {
		i--, k--;
		n += a[i] == '/';
	}
	/* The first component of one of them may have been matched whole without a slash before it. */
	return n + ((!i && (!k || b[k - 1] == '/')) || (!k && i && a[i - 1] == '/'));
}

static const char *without_dots(const char *path)
{
	while (!strncmp(path, "./", 2) || !strncmp(path, "../", 3))
		path = strchr(path, '/') + 1;
	return path;
}

/* A file of the debug information that -i FILE may mean. */
struct candidate { const char *file; unsigned shared; };
struct candidates { VEC(struct candidate) v; };

static bool has_candidate(const struct candidates *c, const char *file)
{
	for (size_t i = 0; i < c->v.n; i++)
		if (!strcmp(c->v.v[i].file, file))
			return true;
	return false;
}

/* Only those that share most with the name stay. */
static void find_candidates(struct candidates *c, struct report *r, const char *wanted)
{
	unsigned most = 1;
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (!report_wants_object(r, &r->views[i]) || !r->views[i].lines)
			continue;
		for (unsigned k = 0; k < lines_files(r->views[i].lines); k++) {
			const char *file = lines_file(r->views[i].lines, k);
			unsigned shared = shared_components(file, without_dots(wanted));

			if (shared < most || has_candidate(c, file))
				continue;
			most = shared;
			vec_push(&c->v, ((struct candidate){ file, shared }));
		}
	}
	for (size_t i = 0; i < c->v.n; i++)
		if (c->v.v[i].shared == most)
			c->v.v[n++] = c->v.v[i];
	c->v.n = n;
}

static int by_number(const void *pa, const void *pb)
{
	const struct source_line *a = pa, *b = pb;

	return a->line < b->line ? -1 : a->line > b->line;
}

/* The lines of the file in all objects, equal ones added. */
static struct source_lines lines_of(struct report *r, const struct source_lines *folded, const char *file)
{
	struct source_lines found = {{0}};
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < folded[i].v.n; k++)
			if (!strcmp(lines_file(r->views[i].lines, folded[i].v.v[k].file), file))
				vec_push(&found.v, folded[i].v.v[k]);
	if (found.v.n)
		qsort(found.v.v, found.v.n, sizeof *found.v.v, by_number);
	for (size_t i = 0; i < found.v.n; i++) {
		struct source_line *line = n ? &found.v.v[n - 1] : NULL;

		if (!line || line->line != found.v.v[i].line) {
			found.v.v[n++] = found.v.v[i];
			continue;
		}
		line->count = add_sat(line->count, found.v.v[i].count);
		line->insns = add_sat(line->insns, found.v.v[i].insns);
		line->uncounted = line->uncounted && found.v.v[i].uncounted;
	}
	found.v.n = n;
	return found;
}

static void expand_tabs(const char *from, char *to, size_t size)
{
	size_t n = 0, column = 0;

	for (; *from && *from != '\n' && n + TAB + 1 < size; from++) {
		if (*from == '\r')
			continue;
		if (*from != '\t') {
			column += ((unsigned char)*from & 0xc0) != 0x80;
			to[n++] = *from;
			continue;
		}
		do {
			to[n++] = ' ';
		} while (++column % TAB);
	}
	to[n] = 0;
}

/* One line of text with gcov's marks: a count, "#####" never executed, "-" no code; "?" code that was not counted. */
static void annotated_row(struct table *t, const struct report *r, const struct source_line *line, unsigned number, const char *text)
{
	char plain[4096];

	if (line && line->insns)
		table_number(t, line->insns), table_percent(t, line->insns, r->insns);
	else
		table_none(t, ""), table_none(t, "");
	if (line && (line->count || (!line->uncounted && t->page->is_json)))
		table_number(t, line->count);
	else
		table_none(t, !line ? "-" : line->uncounted ? "?" : "#####");
	table_number(t, number);
	expand_tabs(text, plain, sizeof plain);
	table_text(t, plain);
}

static FILE *open_text(const char *wanted, const char *file)
{
	FILE *f = fopen(wanted, "r");

	if (!f)
		f = fopen(file, "r");
	if (!f)
		msg_warn(wanted, "no source text: counts only");
	return f;
}

static void annotated_lines(struct table *t, struct report *r, const struct source_lines *lines, FILE *f)
{
	char *text = NULL;
	size_t cap = 0, next = 0;
	unsigned number = 0;

	while (f && getline(&text, &cap, f) >= 0) {
		const struct source_line *line = NULL;

		number++;
		if (next < lines->v.n && lines->v.v[next].line == number)
			line = &lines->v.v[next++];
		annotated_row(t, r, line, number, text);
	}
	for (; next < lines->v.n; next++)
		annotated_row(t, r, &lines->v.v[next], lines->v.v[next].line, "");
	free(text);
}

static void annotate(struct report *r, const struct source_lines *folded, const char *wanted, const char *file)
{
	static const struct table_column columns[] = {
		{ "instructions", "instructions", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "count", "count", TABLE_NUMBER },
		{ "line", "line", TABLE_PLAIN }, { "text", "source", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct source_lines lines = lines_of(r, folded, file);
	struct json *j = &r->page.json;
	FILE *f = open_text(wanted, file);
	struct table t;

	if (r->page.is_json) {
		json_begin_object(j);
		json_key(j, "file");
		json_string(j, file);
	}
	table_begin(&t, &r->page, "lines", columns, "%s", file);
	annotated_lines(&t, r, &lines, f);
	table_end(&t, 0);
	if (r->page.is_json)
		json_end_object(j);
	if (f)
		fclose(f);
	vec_free(&lines.v);
}

void report_annotated(struct report *r)
{
	struct source_lines *folded = xcalloc(r->count, sizeof *folded);

	for (size_t i = 0; i < r->count; i++)
		if (report_wants_object(r, &r->views[i]))
			folded[i] = source_fold(r, &r->views[i]);
	if (r->page.is_json) {
		json_key(&r->page.json, "annotated");
		json_begin_array(&r->page.json);
	}
	for (int i = 0; i < r->sources.n; i++) {
		struct candidates c = {{0}};

		find_candidates(&c, r, r->sources.v[i]);
		if (!c.v.n)
			msg_error(r->sources.v[i], "no object has debug information about this file");
		for (size_t k = 0; k < c.v.n; k++)
			annotate(r, folded, r->sources.v[i], c.v.v[k].file);
		vec_free(&c.v);
	}
	if (r->page.is_json)
		json_end_array(&r->page.json);
	for (size_t i = 0; i < r->count; i++)
		vec_free(&folded[i].v);
	free(folded);
}
