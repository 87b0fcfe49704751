/* run.c - libFuzzer target: any bytes as a profile of a run, read and reported in every way. */
#include "tools/prof-report/run-report.h"
#include <stdlib.h>

static void report(struct report *r, bool as_json, FILE *to)
{
	page_begin(&r->page, to, as_json);
	report_runs(r, &(struct run_tables){ .lines = false });
	report_runs(r, &(struct run_tables){ .lines = true, .traces = true, .samples = true });
	page_end(&r->page);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct report r = { .rows = UINT64_MAX, .profile = { .keep_samples = true } };
	FILE *f, *to;

	if (!n)
		return 0;
	f = fmemopen((void *)bytes, n, "r");
	to = fopen("/dev/null", "w");
	profile_read(&r.profile, f, "input");
	fclose(f);
	report(&r, false, to);
	report(&r, true, to);
	report_folded(&r, to);
	fclose(to);
	profile_free(&r.profile);
	return 0;
}
