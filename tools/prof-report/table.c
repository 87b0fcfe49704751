/* table.c - tables as text and as JSON. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/msg.h"
#include "tools/prof-report/table.h"

void page_begin(struct page *p, FILE *f, bool is_json)
{
	*p = (struct page){ .f = f, .is_json = is_json, .json = { .f = f, .pretty = true } };
	if (is_json)
		json_begin_object(&p->json);
}

void page_end(struct page *p)
{
	if (p->is_json)
		json_end_object(&p->json);
}

const char *with_commas(uint64_t v)
{
	static char buffers[8][32];
	static unsigned next;
	char *s = buffers[next++ % 8] + 31;
	unsigned digits = 0;

	*s = 0;
	do {
		if (digits && digits % 3 == 0)
			*--s = ',';
		*--s = (char)('0' + v % 10);
		digits++;
	} while (v /= 10);
	return s;
}

/* Names come from files: none of them may move a terminal's cursor. */
static void tame(char *s, const char *allowed)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && !strchr(allowed, *s)) || *s == 127)
			*s = '?';
}

static void put_text(struct page *p, const char *format, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, format, ap) < 0)
		msg_die(NULL, "out of memory");
	tame(text, "\n");
	fputs(text, p->f);
	free(text);
	p->begun = true;
}

void page_text(struct page *p, const char *format, ...)
{
	va_list ap;

	if (p->is_json)
		return;
	va_start(ap, format);
	put_text(p, format, ap);
	va_end(ap);
}

void page_fact(struct page *p, const char *key, const char *title, uint64_t value, const char *unit, uint64_t part_of)
{
	if (p->is_json) {
		json_key(&p->json, key);
		json_uint(&p->json, value);
		return;
	}
	fprintf(p->f, "%-22s %17s", title, with_commas(value));
	if (part_of)
		fprintf(p->f, " of %s", with_commas(part_of));
	fprintf(p->f, "%s%s", *unit ? " " : "", unit);
	if (part_of)
		fprintf(p->f, "  (%.2f %%)", 100.0 * (double)value / (double)part_of);
	putc('\n', p->f);
	p->begun = true;
}

void table_begin(struct table *t, struct page *p, const char *key, const struct table_column *columns, const char *title, ...)
{
	va_list ap;

	*t = (struct table){ .page = p, .columns = columns };
	while (columns[t->count].key || columns[t->count].title)
		t->count++;
	if (t->count > TABLE_COLUMNS)
		abort();
	if (p->is_json) {
		json_key(&p->json, key);
		json_begin_array(&p->json);
		return;
	}
	if (p->begun)
		putc('\n', p->f);
	va_start(ap, title);
	put_text(p, title, ap);
	va_end(ap);
	fputs("\n\n", p->f);
}

static void json_cell(struct json *j, const struct table_column *column, const struct table_cell *cell)
{
	if (!column->key)
		return;
	json_key(j, column->key);
	if (cell->is == CELL_NONE)
		json_null(j);
	else if (cell->is == CELL_TEXT)
		json_string(j, cell->text);
	else if (cell->is == CELL_DOUBLE)
		json_double(j, cell->real);
	else if (column->kind == TABLE_ADDRESS)
		json_hex(j, cell->number);
	else
		json_uint(j, cell->number);
}

/* Characters, not bytes, so that names in UTF-8 stay in their columns. */
static unsigned shown_width(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static const char *cell_string(char *buffer, size_t size, enum table_kind kind, const struct table_cell *cell)
{
	if (cell->is == CELL_NONE)
		return cell->text ? cell->text : "";
	if (cell->is == CELL_TEXT)
		return cell->text;
	if (cell->is == CELL_DOUBLE)
		snprintf(buffer, size, "%.2f", cell->real);
	else if (kind == TABLE_ADDRESS)
		snprintf(buffer, size, "%" PRIx64, cell->number);
	else if (kind == TABLE_PLAIN)
		snprintf(buffer, size, "%" PRIu64, cell->number);
	else
		return with_commas(cell->number);
	return buffer;
}

/* A cut last column or trailing blanks would spoil diffs, so padding is held back until something follows. */
static void put_cell(struct table *t, unsigned column, const char *s, unsigned *owed)
{
	unsigned width = shown_width(s), pad = t->width[column] > width ? t->width[column] - width : 0;
	bool left = t->columns[column].kind == TABLE_TEXT;

	*owed += 2;
	if (*s || !left)
		fprintf(t->page->f, "%*s%s", (int)(*owed + (left ? 0 : pad)), "", s), *owed = left ? pad : 0;
	else
		*owed += pad;
}

static void text_row(struct table *t, const struct table_cell *cells)
{
	char buffer[32];
	unsigned owed = 0;

	for (unsigned i = 0; i < t->count; i++)
		if (t->columns[i].title)
			put_cell(t, i, cell_string(buffer, sizeof buffer, t->columns[i].kind, &cells[i]), &owed);
	putc('\n', t->page->f);
}

static void find_widths(struct table *t)
{
	char buffer[32];

	for (unsigned i = 0; i < t->count; i++) {
		if (!t->columns[i].title)
			continue;
		t->width[i] = shown_width(t->columns[i].title);
		for (size_t k = i; k < t->cells.n; k += t->count) {
			unsigned width = shown_width(cell_string(buffer, sizeof buffer, t->columns[i].kind, &t->cells.v[k]));

			t->width[i] = width > t->width[i] ? width : t->width[i];
		}
	}
}

/* The rows are written; their text goes with every thousandth. */
static void forget_rows(struct table *t)
{
	t->cells.n = 0;
	if (t->rows % 1024 == 0)
		arena_free(&t->arena);
}

static void flush_rows(struct table *t)
{
	struct table_cell titles[TABLE_COLUMNS] = {{0}};

	if (!t->streaming) {
		find_widths(t);
		for (unsigned i = 0; i < t->count; i++)
			titles[i] = (struct table_cell){ .is = CELL_TEXT, .text = t->columns[i].title };
		text_row(t, titles);
		t->streaming = true;
	}
	for (size_t i = 0; i + t->count <= t->cells.n; i += t->count)
		text_row(t, &t->cells.v[i]);
	forget_rows(t);
}

static void json_row(struct table *t)
{
	struct json *j = &t->page->json;

	json_begin_object(j);
	for (unsigned i = 0; i < t->count; i++)
		json_cell(j, &t->columns[i], &t->cells.v[i]);
	json_end_object(j);
	forget_rows(t);
}

static void add_cell(struct table *t, struct table_cell cell)
{
	vec_push(&t->cells, cell);
	if (++t->at < t->count)
		return;
	t->at = 0;
	t->rows++;
	if (t->page->is_json)
		json_row(t);
	else if (t->streaming || t->rows >= TABLE_BUFFERED)
		flush_rows(t);
}

void table_number(struct table *t, uint64_t v)
{
	add_cell(t, (struct table_cell){ .is = CELL_NUMBER, .number = v });
}

void table_percent(struct table *t, uint64_t part, uint64_t whole)
{
	if (whole)
		add_cell(t, (struct table_cell){ .is = CELL_DOUBLE, .real = (double)(uint64_t)(1e6 * (double)part / (double)whole + 0.5) / 1e4 });
	else
		table_none(t, "-");
}

void table_text(struct table *t, const char *s)
{
	char *copy;

	if (!s) {
		table_none(t, "-");
		return;
	}
	copy = arena_strdup(&t->arena, s);
	if (!t->page->is_json)
		tame(copy, "");
	add_cell(t, (struct table_cell){ .is = CELL_TEXT, .text = copy });
}

void table_none(struct table *t, const char *shown)
{
	add_cell(t, (struct table_cell){ .is = CELL_NONE, .text = shown });
}

void table_end(struct table *t, uint64_t left)
{
	if (t->page->is_json) {
		json_end_array(&t->page->json);
	} else {
		if (t->rows)
			flush_rows(t);
		else
			fputs("  none\n", t->page->f);
		if (left)
			fprintf(t->page->f, "  ... and %s more (-n 0 shows all)\n", with_commas(left));
	}
	vec_free(&t->cells);
	arena_free(&t->arena);
}
