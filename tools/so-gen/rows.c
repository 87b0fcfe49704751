/* rows.c - the relocation table of one object, read into sorted arrays. */
#include <stdlib.h>
#include <string.h>
#include "formats/relocations.h"
#include "tools/so-gen/gen.h"

static void add_pair(void *to, uint64_t at, int64_t text)
{
	row_pairs *v = to;
	if (at > UINT32_MAX || text < 0 || text > UINT32_MAX)
		return;
	struct row_pair p = { at, text };
	vec_push(v, p);
}

static void add_range(struct rows *rows, const struct stream_row *row, bool moves)
{
	const struct row_details *d = &row->details;
	if (row->address > UINT32_MAX || row->information <= 0 || row->address + (uint64_t)row->information > UINT32_MAX)
		return;
	struct code_range r = { .start = row->address, .end = row->address + row->information };
	for (int k = RANGE_FDE; k <= RANGE_GAP; k++)
		if (d->kind && !strcmp(d->kind, code_range_kinds[k]))
			r.kind = k;
	r.references = d->count < UINT32_MAX ? (uint32_t)d->count : UINT32_MAX;
	if (!moves || r.kind == RANGE_GAP)
		r.why = arena_strdup(&rows->arena, d->why ? d->why : "the relocation table does not say why");
	vec_push(&rows->ranges, r);
}

static void add_table(struct rows *rows, const struct stream_row *row)
{
	const struct row_details *d = &row->details;
	if (row->address > UINT32_MAX || row->information < 0 || row->information > UINT32_MAX || d->base > UINT32_MAX || d->count > UINT32_MAX
	    || d->width > 8 || d->scale < 0 || d->scale > 255)
		return;
	struct row_table t = { row->address, row->information, d->base, d->count, d->width, d->scale ? d->scale : 1, d->is_signed };
	vec_push(&rows->tables, t);
}

void rows_add(struct rows *rows, const struct stream_row *row)
{
	switch (row->type) {
	case REL_PROLOGUE: add_pair(&rows->entries, row->address, 0); break;
	case REL_VIRTUAL_ADDRESS: add_pair(&rows->words, row->address, row->information); break;
	case REL_GOT_REFERENCE: add_pair(&rows->refs, row->address, row->information); break;
	case REL_RANGE: add_range(rows, row, true); break;
	case REL_NOT_MOVED: add_range(rows, row, false); break;
	case REL_JUMP_TABLE: add_table(rows, row); break;
	case REL_JUMP_ENTRY: add_pair(&rows->jump_entries, row->address, row->information); break;
	case REL_LANDING_PAD: add_pair(&rows->pads, row->address, row->information); break;
	case REL_BLOCK_START: if (row->address <= UINT32_MAX) vec_push(&rows->starts, (uint32_t)row->address); break;
	case REL_LABEL: add_pair(&rows->labels, row->address, row->information); break;
	default: break;
	}
}

static int by_at(const void *a, const void *b)
{
	const struct row_pair *x = a, *y = b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->text != y->text ? (x->text < y->text ? -1 : 1) : 0;
}

static int by_jump(const void *a, const void *b)
{
	const struct row_table *x = a, *y = b;
	return x->jump != y->jump ? (x->jump < y->jump ? -1 : 1) : 0;
}

static void sort_pairs(struct row_pair *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i - 1].at > v[i].at) {
			qsort(v, n, sizeof *v, by_at);
			return;
		}
}

void rows_sort(struct rows *rows)
{
	sort_pairs(rows->words.v, rows->words.n);
	sort_pairs(rows->labels.v, rows->labels.n);
	sort_pairs(rows->refs.v, rows->refs.n);
	sort_pairs(rows->entries.v, rows->entries.n);
	sort_pairs(rows->jump_entries.v, rows->jump_entries.n);
	sort_pairs(rows->pads.v, rows->pads.n);
	if (rows->tables.n)
		qsort(rows->tables.v, rows->tables.n, sizeof *rows->tables.v, by_jump);
}

const struct row_pair *rows_find(const struct row_pair *v, size_t n, uint32_t at)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (v[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && v[lo].at == at ? &v[lo] : NULL;
}

void rows_free(struct rows *rows)
{
	vec_free(&rows->ranges);
	vec_free(&rows->words);
	vec_free(&rows->labels);
	vec_free(&rows->refs);
	vec_free(&rows->entries);
	vec_free(&rows->jump_entries);
	vec_free(&rows->pads);
	vec_free(&rows->tables);
	vec_free(&rows->starts);
	arena_free(&rows->arena);
}
