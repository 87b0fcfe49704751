/* open.c - the views of a report: opened, summed, closed. */
#include <stdlib.h>
#include "lib/base/progress.h"
#include "tools/prof-report/report.h"
#include "tools/prof-report/source.h"

void report_sum(struct report *r)
{
	r->insns = r->executions = r->blocks = r->blocks_run = r->bytes = r->bytes_run = r->gap_bytes = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct view *v = &r->views[i];

		r->insns = add_sat(r->insns, v->insns);
		r->executions = add_sat(r->executions, v->executions);
		r->blocks += v->p->blocks.n;
		r->blocks_run += v->blocks_run;
		r->bytes += v->bytes;
		r->bytes_run += v->bytes_run;
		r->gap_bytes = add_sat(r->gap_bytes, v->gap_bytes);
	}
}

void report_open(struct report *r)
{
	r->count = r->profile.objects.n;
	r->views = xcalloc(r->count, sizeof *r->views);
	progress_begin("objects", r->count);
	for (size_t i = 0; i < r->count; i++) {
		view_open(&r->views[i], r->profile.objects.v[i]);
		progress_at(i + 1);
	}
	progress_end();
	report_sum(r);
}

void report_close(struct report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		source_free(r->views[i].source);
		view_close(&r->views[i]);
	}
	free(r->views);
	profile_free(&r->profile);
}
