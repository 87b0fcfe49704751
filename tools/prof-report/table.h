/* table.h - every table of a report: one module for text and JSON, whatever was measured.

   A page is the whole report: sections of tables in text, one JSON object in JSON.  Columns are as wide as their cells; the last one is
   never cut or padded.  Rows stream: only the first TABLE_BUFFERED are held back to find the widths. */
#ifndef PROF_REPORT_TABLE_H
#define PROF_REPORT_TABLE_H
#include "lib/base/json.h"
#include "lib/base/mem.h"

enum { TABLE_COLUMNS = 24, TABLE_BUFFERED = 4096 };

struct page {
	FILE *f;
	bool is_json;
	bool begun;			/* text: something stands above */
	struct json json;
};
void page_begin(struct page *p, FILE *f, bool is_json);
void page_end(struct page *p);

enum table_kind {
	TABLE_NUMBER,			/* right-aligned, 1,234,567 */
	TABLE_PERCENT,			/* right-aligned, 12.34 */
	TABLE_ADDRESS,			/* right-aligned hex, no 0x in text */
	TABLE_TEXT,			/* left-aligned */
	TABLE_PLAIN,			/* a number without commas */
};
struct table_column {
	const char *key;		/* in JSON; NULL: in text only */
	const char *title;		/* in text; NULL: in JSON only */
	enum table_kind kind;
};

struct table_cell {
	enum { CELL_NONE, CELL_NUMBER, CELL_DOUBLE, CELL_TEXT } is;
	uint64_t number;
	double real;
	const char *text;		/* for CELL_NONE: what text shows in its place */
};
struct table {
	struct page *page;
	const struct table_column *columns;
	unsigned count, at;
	unsigned width[TABLE_COLUMNS];
	VEC(struct table_cell) cells;	/* buffered rows; then one row */
	struct arena arena;
	bool streaming;
	uint64_t rows;
};

/* Begins the table KEY (in JSON a member, an array of objects) under TITLE.  columns end with one of neither key nor title. */
void table_begin(struct table *t, struct page *p, const char *key, const struct table_column *columns, const char *title, ...)
	__attribute__((format(printf, 5, 6)));
/* The cells of a row, one call a column in their order; the last one ends the row.  Text is copied; control characters are made harmless. */
void table_number(struct table *t, uint64_t v);
void table_percent(struct table *t, uint64_t part, uint64_t whole);	/* none when whole is 0 */
void table_text(struct table *t, const char *s);			/* NULL: none */
void table_none(struct table *t, const char *shown);			/* null in JSON */
/* Ends the table.  left: how many rows were left out, of which the text says so. */
void table_end(struct table *t, uint64_t left);

/* A paragraph of the text report; nothing in JSON. */
void page_text(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A named number, shown as a line of "title   value (n %)" in text and a member in JSON's current object. */
void page_fact(struct page *p, const char *key, const char *title, uint64_t value, const char *unit, uint64_t part_of);

/* "1,234,567"; one of eight static buffers. */
const char *with_commas(uint64_t v);
#endif
