/* prof-report.c - tells from profile streams where, how often, and what never. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "lib/base/msg.h"
#include "lib/base/out.h"
#include "lib/base/progress.h"
#include "tools/prof-report/report.h"
#include "tools/prof-report/run-report.h"
#include "tools/prof-report/source.h"

enum { ROWS_DEFAULT = 20 };

static struct report report;
static bool lines, blocks, instructions, never, not_counted, as_json;
static struct run_tables run_tables;
static const char *rows, *output, *format;

static const struct opt options[] = {
	{ 'n', NULL, OPT_VALUE, &rows, "N", "at most N rows a table (20; 0: all, and so with --json)" },
	{ 0, "object", OPT_LIST, &report.objects, "GLOB", "only objects whose file name, path or soname matches" },
	{ 0, "function", OPT_LIST, &report.functions, "GLOB", "only functions whose name or symbol matches" },
	{ 'l', "lines", OPT_FLAG, &lines, NULL, "source lines instead of functions" },
	{ 'b', "blocks", OPT_FLAG, &blocks, NULL, "basic blocks" },
	{ 'd', "instructions", OPT_FLAG, &instructions, NULL, "disassembly of the hottest functions with counts" },
	{ 'i', NULL, OPT_LIST, &report.sources, "FILE", "that source file with counts beside its lines" },
	{ 0, "never", OPT_FLAG, &never, NULL, "what was never executed: functions, or lines or blocks as above" },
	{ 0, "not-counted", OPT_FLAG, &not_counted, NULL, "every range of code that was not counted, and why" },
	{ 0, "traces", OPT_FLAG, &run_tables.traces, NULL, "traces only, of runs of trace-compiled code" },
	{ 0, "samples", OPT_FLAG, &run_tables.samples, NULL, "each sample of such a run, and where it was put" },
	{ 0, "format", OPT_VALUE, &format, "FORMAT", "text, json, or folded: stacks for flame graphs, of runs only" },
	{ 'j', "json", OPT_FLAG, &as_json, NULL, "one JSON object" },
	{ 'o', "output", OPT_VALUE, &output, "FILE", "write there instead of standard output" },
	{ 0, NULL, OPT_FLAG, NULL, NULL, NULL }
};
static const struct opt_tool tool = {
	.name = "prof-report", .usage = "[OPTION...] [FILE...]", .options = options,
	.what = "Reports from profile streams what was executed, how often, and what never.",
};

static uint64_t row_limit(void)
{
	char *end;
	uintmax_t n;

	if (!rows)
		return as_json ? UINT64_MAX : ROWS_DEFAULT;
	errno = 0;
	n = strtoumax(rows, &end, 10);
	if (*end || !*rows || *rows == '-' || errno)
		opt_usage(&tool, "-n %s: not a number", rows);
	return n ? n : UINT64_MAX;
}

static void read_one(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;

	if (!f) {
		msg_error(path, "cannot open:");
		return;
	}
	profile_read(&report.profile, f, f == stdin ? "standard input" : path);
	if (f != stdin)
		fclose(f);
}

static void open_views(void)
{
	report.count = report.profile.objects.n;
	report.views = xcalloc(report.count, sizeof *report.views);
	progress_begin("objects", report.count);
	for (size_t i = 0; i < report.count; i++) {
		struct view *v = &report.views[i];

		view_open(v, report.profile.objects.v[i]);
		report.insns = add_sat(report.insns, v->insns);
		report.executions = add_sat(report.executions, v->executions);
		report.blocks += v->p->blocks.n;
		report.blocks_run += v->blocks_run;
		report.bytes += v->bytes;
		report.bytes_run += v->bytes_run;
		report.gap_bytes = add_sat(report.gap_bytes, v->gap_bytes);
		progress_at(i + 1);
	}
	progress_end();
}

static void never_tables(void)
{
	report_coverage(&report);
	if (lines)
		report_never_lines(&report);
	if (blocks)
		report_never_blocks(&report);
	if (!lines && !blocks)
		report_never_functions(&report);
}

static void tables(void)
{
	bool chosen = lines || blocks || instructions || report.sources.n || never || not_counted;

	report_summary(&report);
	if (!chosen) {
		report_objects(&report);
		report_functions(&report);
	}
	if (never)
		never_tables();
	if (lines && !never)
		report_lines(&report);
	if (blocks && !never)
		report_blocks(&report);
	if (instructions)
		report_instructions(&report);
	if (report.sources.n)
		report_annotated(&report);
	if (!chosen || not_counted) {
		report_old_entries(&report);
		report_not_counted(&report, not_counted);
	}
}

/* Runs have their own section; objects come first. */
static void whole_report(void)
{
	if (report.profile.objects.n || !report.profile.runs.n)
		tables();
	if (report.profile.runs.n) {
		run_tables.lines = lines;
		report_runs(&report, &run_tables);
	}
}

static bool is_folded(void)
{
	bool folded = format && !strcmp(format, "folded");

	if (format && !folded && strcmp(format, "json") && strcmp(format, "text"))
		opt_usage(&tool, "--format %s: text, json or folded", format);
	if (folded && as_json)
		opt_usage(&tool, "folded stacks are not JSON");
	as_json |= format && !strcmp(format, "json");
	return folded;
}

static void close_all(void)
{
	for (size_t i = 0; i < report.count; i++) {
		source_free(report.views[i].source);
		view_close(&report.views[i]);
	}
	free(report.views);
	profile_free(&report.profile);
	free(report.objects.v);
	free(report.functions.v);
	free(report.sources.v);
}

/* Each object and its debug information stay open: more files than the usual soft limit in a large program. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int main(int argc, char **argv)
{
	int first = opt_parse(&tool, argc, argv);
	bool folded = is_folded();
	struct out out;

	allow_many_files();
	report.rows = row_limit();
	report.profile.keep_samples = run_tables.samples;
	if (first == argc)
		read_one("-");
	for (int i = first; i < argc; i++)
		read_one(argv[i]);
	if (!report.profile.objects.n && !report.profile.runs.n && msg_status())
		return 1;
	if (folded && report.profile.objects.n)
		msg_warn(NULL, "counts of objects have no stacks: left out");
	open_views();
	if (!out_open(&out, output, 0666))
		return 1;
	if (folded) {
		report_folded(&report, out.f);
	} else {
		page_begin(&report.page, out.f, as_json);
		whole_report();
		page_end(&report.page);
	}
	out_commit(&out);
	close_all();
	return msg_status();
}
