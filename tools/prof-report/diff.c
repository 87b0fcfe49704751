/* diff.c - what changed between two profiles: functions by the change of executed instructions, and what is newly reached.

   A function is known by its object's name and its own, so that two versions of a library can be compared; static functions of one
   name are taken in the order of their addresses. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tools/prof-report/report.h"

struct place { const struct view *v; const struct function *f; };
struct change { const struct view *v; const struct function *before, *after; uint64_t size; };
struct places { VEC(struct place) v; };
struct changes { VEC(struct change) v; };

static int by_name(const struct place *a, const struct place *b)
{
	int order = strcmp(a->v->label, b->v->label);

	return order ? order : strcmp(a->f->raw, b->f->raw);
}

static int by_name_and_start(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;
	int order = by_name(a, b);

	return order ? order : a->f->start < b->f->start ? -1 : a->f->start > b->f->start;
}

static struct places places_of(const struct report *r)
{
	struct places places = {{0}};

	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->views[i].functions.v.n; k++) {
			const struct function *f = &r->views[i].functions.v.v[k];

			if (f->blocks_run && report_wants_object(r, &r->views[i]) && report_wants_function(r, f))
				vec_push(&places.v, ((struct place){ &r->views[i], f }));
		}
	if (places.v.n)
		qsort(places.v.v, places.v.n, sizeof *places.v.v, by_name_and_start);
	return places;
}

static uint64_t difference(const struct function *before, const struct function *after)
{
	uint64_t a = before ? before->insns : 0, b = after ? after->insns : 0;

	return a > b ? a - b : b - a;
}

static void add_change(struct changes *c, const struct place *before, const struct place *after)
{
	struct change x = { (after ? after : before)->v, before ? before->f : NULL, after ? after->f : NULL, 0 };

	x.size = difference(x.before, x.after);
	vec_push(&c->v, x);
}

static int by_size(const void *pa, const void *pb)
{
	const struct change *a = pa, *b = pb;

	return a->size != b->size ? (a->size > b->size ? -1 : 1) : a < b ? -1 : a > b;
}

static struct changes join(const struct places *a, const struct places *b)
{
	struct changes c = {{0}};
	size_t i = 0, k = 0;

	while (i < a->v.n || k < b->v.n) {
		int order = i == a->v.n ? 1 : k == b->v.n ? -1 : by_name(&a->v.v[i], &b->v.v[k]);

		add_change(&c, order <= 0 ? &a->v.v[i] : NULL, order >= 0 ? &b->v.v[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	if (c.v.n)
		qsort(c.v.v, c.v.n, sizeof *c.v.v, by_size);
	return c;
}

static void change_row(struct table *t, const struct change *c)
{
	uint64_t before = c->before ? c->before->insns : 0, after = c->after ? c->after->insns : 0;
	char *shown = xasprintf("%s%s", after < before ? "-" : "+", with_commas(c->size));

	table_text(t, shown);
	table_percent(t, after, before);
	table_number(t, before);
	table_number(t, after);
	table_text(t, c->v->label);
	table_text(t, (c->after ? c->after : c->before)->name);
	free(shown);
}

/* which: 0 functions that both reached, 1 those that only the second did, -1 only the first. */
static void changes_table(struct report *r, const struct changes *c, int which, const char *key, const char *title)
{
	static const struct table_column columns[] = {
		{ "change", "change", TABLE_TEXT }, { "percent_of_before", "% of before", TABLE_PERCENT }, { "before", "before", TABLE_NUMBER },
		{ "after", "after", TABLE_NUMBER }, { "object", "object", TABLE_TEXT }, { "function", "function", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct table t;
	size_t shown = 0, all = 0;

	table_begin(&t, &r->page, key, columns, "%s", title);
	for (size_t i = 0; i < c->v.n; i++) {
		const struct change *x = &c->v.v[i];

		if (!!x->after - !!x->before != which || (!which && !x->size))
			continue;
		if (shown < report_rows(r, ++all)) {
			change_row(&t, x);
			shown++;
		}
	}
	table_end(&t, all - shown);
}

void report_diff(struct report *a, struct report *b)
{
	struct places before = places_of(a), after = places_of(b);
	struct changes changes = join(&before, &after);
	struct page *p = &b->page;

	page_fact(p, "instructions_before", "instructions before", a->insns, "", 0);
	page_fact(p, "instructions_after", "instructions after", b->insns, "", 0);
	page_fact(p, "blocks_run_before", "blocks reached before", a->blocks_run, "", a->blocks);
	page_fact(p, "blocks_run_after", "blocks reached after", b->blocks_run, "", b->blocks);
	changes_table(b, &changes, 0, "changed", "Functions, by change of executed instructions");
	changes_table(b, &changes, 1, "newly_reached", "Newly reached");
	changes_table(b, &changes, -1, "not_reached_any_more", "Not reached any more");
	vec_free(&before.v);
	vec_free(&after.v);
	vec_free(&changes.v);
}
