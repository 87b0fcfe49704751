/* prof-report.c - tells from profile streams where, how often, and what never. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "lib/base/msg.h"
#include "lib/base/out.h"
#include "lib/base/progress.h"
#include "tools/prof-report/export.h"
#include "tools/prof-report/report.h"
#include "tools/prof-report/run-report.h"
#include "tools/prof-report/source.h"

enum { ROWS_DEFAULT = 20 };

static struct report report;
static bool lines, blocks, instructions, never, not_counted, as_json;
static struct run_tables run_tables;
static bool diff, top;
static struct top top_how = { "2", NULL, NULL, 0 };
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
	{ 0, "diff", OPT_FLAG, &diff, NULL, "what changed between two profiles" },
	{ 0, "top", OPT_FLAG, &top, NULL, "what a running program does now: FILE is a directory that its counter files are in" },
	{ 0, "every", OPT_VALUE, &top_how.every, "SECONDS", "how often --top looks (2)" },
	{ 0, "times", OPT_VALUE, &top_how.times, "N", "so often, and then no more" },
	{ 0, "traces", OPT_FLAG, &run_tables.traces, NULL, "traces only, of runs of trace-compiled code" },
	{ 0, "samples", OPT_FLAG, &run_tables.samples, NULL, "each sample of such a run, and where it was put" },
	{ 0, "format", OPT_VALUE, &format, "FORMAT", "text, json, callgrind, lcov, or folded: stacks for flame graphs" },
	{ 'j', "json", OPT_FLAG, &as_json, NULL, "one JSON object" },
	{ 'o', "output", OPT_VALUE, &output, "FILE", "write there instead of standard output" },
	{ 0, NULL, OPT_FLAG, NULL, NULL, NULL }
};
static const struct opt_tool tool = {
	.name = "prof-report", .usage = "[OPTION...] [FILE...] | --diff FILE FILE | --top DIR...", .options = options,
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

static void read_one(struct report *r, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;

	if (!f) {
		msg_error(path, "cannot open:");
		return;
	}
	profile_read(&r->profile, f, f == stdin ? "standard input" : path);
	if (f != stdin)
		fclose(f);
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
		report_skipped(&report);
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

static void folded(struct report *r, FILE *f)
{
	report_folded_counts(r, f);
	report_folded(r, f);
}

/* Formats that are no report.  Only stacks are told of runs. */
static const struct export { const char *name; void (*write)(struct report *r, FILE *f); } exports[] = {
	{ "folded", folded }, { "callgrind", report_callgrind }, { "lcov", report_lcov },
};

static const struct export *wanted_export(void)
{
	const struct export *found = NULL;

	for (size_t i = 0; format && i < sizeof exports / sizeof *exports; i++)
		if (!strcmp(format, exports[i].name))
			found = &exports[i];
	if (format && !found && strcmp(format, "json") && strcmp(format, "text"))
		opt_usage(&tool, "--format %s: text, json, callgrind, lcov or folded", format);
	if (found && (as_json || diff || top))
		opt_usage(&tool, "--format %s is not for --json, --diff and --top", format);
	as_json |= format && !strcmp(format, "json");
	return found;
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

/* Two profiles, or a program that runs. */
static int other(char **operands, int n)
{
	static struct report before;
	struct out out;

	if (diff && (n != 2 || top))
		opt_usage(&tool, "--diff compares two profiles");
	if (top && !n)
		opt_usage(&tool, "--top needs a directory of counter files");
	if (diff) {
		before = report;
		read_one(&before, operands[0]);
		read_one(&report, operands[1]);
		report_open(&before);
		report_open(&report);
	}
	if (!out_open(&out, output, 0666))
		return 1;
	if (diff) {
		page_begin(&report.page, out.f, as_json);
		report_diff(&before, &report);
		page_end(&report.page);
		report_close(&before);
		report_close(&report);
	} else {
		top_how.directories = operands;
		top_how.count = n;
		report_top(&report, &top_how, out.f);
	}
	out_commit(&out);
	return msg_status();
}

int main(int argc, char **argv)
{
	int first = opt_parse(&tool, argc, argv);
	const struct export *export = wanted_export();
	struct out out;

	allow_many_files();
	report.rows = row_limit();
	if (diff || top)
		return other(argv + first, argc - first);
	report.profile.keep_samples = run_tables.samples;
	if (first == argc)
		read_one(&report, "-");
	for (int i = first; i < argc; i++)
		read_one(&report, argv[i]);
	if (!report.profile.objects.n && !report.profile.runs.n && msg_status())
		return 1;
	if (export && export->write != folded && report.profile.runs.n)
		msg_warn(NULL, "runs of trace-compiled code have no place in this format: left out");
	report_open(&report);
	if (!out_open(&out, output, 0666))
		return 1;
	if (export) {
		export->write(&report, out.f);
	} else {
		page_begin(&report.page, out.f, as_json);
		whole_report();
		page_end(&report.page);
	}
	out_commit(&out);
	report_close(&report);
	free(report.objects.v);
	free(report.functions.v);
	free(report.sources.v);
	return msg_status();
}
