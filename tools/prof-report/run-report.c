/* run-report.c - the tables of a run: what it was, where the time went, traces, the compiler's work. */
#include "tools/prof-report/run-report.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE = 768, NANO = 1000000, MICRO = 1000 };

static void text_fact(struct page *p, const char *key, const char *value)
{
	if (p->is_json) {
		json_key(&p->json, key);
		json_string(&p->json, value);
	}
}

static void facts_as_json(struct page *p, const struct run *run)
{
	text_fact(p, "script", run->name);
	text_fact(p, "path", run->path);
	text_fact(p, "vm", run->vm);
	text_fact(p, "sampler", run->kind);
	text_fact(p, "note", run->why);
	if (p->is_json) {
		page_fact(p, "pid", NULL, run->pid, "", 0);
		page_fact(p, "hertz", NULL, run->hertz, "", 0);
		page_fact(p, "period_ns", NULL, run->period, "", 0);
		json_key(&p->json, "complete");
		json_bool(&p->json, run->ended && !run->cut);
	}
}

static void times(struct page *p, const struct run *run)
{
	uint64_t seen = mul_sat(run->weight, run->period), thread = run->thread_time, process = run->process_time;

	page_fact(p, "sampled_us", "sampled", seen / MICRO, "us of CPU time", 0);
	if (!run->ended)
		return;
	if (run->period && thread)
		page_fact(p, "rate", "true rate", (uint64_t)(1e9 * (double)run->samples / (double)thread + 0.5), "signals a second of CPU time", 0);
	page_fact(p, "kernel_us", "not sampled (kernel)", thread > seen ? (thread - seen) / MICRO : 0, "us", thread / MICRO);
	page_fact(p, "other_threads_us", "other threads", process > thread ? (process - thread) / MICRO : 0, "us, not sampled", 0);
	if (p->is_json)
		page_fact(p, "cpu_us", NULL, thread / MICRO, "", 0);
}

static void summary(struct report *r, const struct run *run)
{
	struct page *p = &r->page;

	facts_as_json(p, run);
	page_text(p, "%s, %s, process %" PRIu64 "\n", run->path ? run->path : "?", run->vm ? run->vm : "?", run->pid);
	if (run->period)
		page_text(p, "sampled by %s each %" PRIu64 " us of CPU time\n", run->kind, run->period / MICRO);
	else
		page_text(p, "not sampled\n");
	if (run->why)
		page_text(p, "note: %s\n", run->why);
	if (!run->ended || run->cut)
		page_text(p, "the run was ended from outside, or is not at its end: this is what was written until then\n");
	page_fact(p, "samples", "samples", run->weight, "", 0);
	if (run->samples != run->weight || p->is_json)
		page_fact(p, "signals", "in signals", run->samples, "", 0);
	times(p, run);
	page_fact(p, "traces", "traces compiled", run->traces.n, "", 0);
	page_fact(p, "alive", "alive at the end", run->alive.n, "", run->traces.n);
	page_fact(p, "aborts", "aborts", run->aborts.n, "", 0);
	page_fact(p, "flushes", "flushes", run->flushes, "", 0);
	page_fact(p, "lost", "samples lost", run->lost, "", 0);
}

static void states(struct report *r, const struct run *run)
{
	static const struct table_column columns[] = {
		{ "samples", "samples", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "us", "us", TABLE_NUMBER },
		{ "state", "state", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	uint64_t sums[WHERES] = { 0 };
	struct table t;

	for (size_t i = 0; i < run->cells.v.n; i++)
		sums[run_cell(run, i)->where] += run->weights.v[i];
	table_begin(&t, &r->page, "states", columns, "Where the time went");
	for (int i = 0; i < WHERES; i++) {
		if (!sums[i] && !r->page.is_json)
			continue;
		table_number(&t, sums[i]);
		table_percent(&t, sums[i], run->weight);
		table_number(&t, mul_sat(sums[i], run->period) / MICRO);
		table_text(&t, where_names[i]);
	}
	table_end(&t, 0);
}

static uint64_t of_trace(const struct run_trace *t)
{
	return t->samples[WHERE_HEAD] + t->samples[WHERE_LOOP] + t->samples[WHERE_CALLED] + t->samples[WHERE_GC_TRACE] + t->samples[WHERE_STUB];
}

static void trace_name(const struct run *run, uint32_t serial, char *to, size_t size)
{
	const struct run_trace *t = run_trace(run, serial);

	if (t)
		snprintf(to, size, "%" PRIu32 ".%" PRIu32, t->serial, t->number);
	else
		snprintf(to, size, "-");
}

static void trace_row(struct table *table, const struct run *run, const struct run_trace *t)
{
	char name[32], text[PLACE];

	table_number(table, of_trace(t));
	table_percent(table, of_trace(t), run->weight);
	table_number(table, t->samples[WHERE_HEAD]);
	table_number(table, t->samples[WHERE_LOOP]);
	table_number(table, t->samples[WHERE_CALLED] + t->samples[WHERE_STUB]);
	table_number(table, t->samples[WHERE_GC_TRACE]);
	trace_name(run, t->serial, name, sizeof name);
	table_text(table, name);
	table_number(table, t->serial);
	table_number(table, t->number);
	table_text(table, interned_text(&run->texts, t->kind));
	trace_name(run, t->parent, name, sizeof name);
	snprintf(text, sizeof text, t->exit >= 0 ? "%s/%" PRId64 : "%s", name, t->exit);
	table_text(table, t->parent ? text : "");
	trace_name(run, t->link, name, sizeof name);
	snprintf(text, sizeof text, t->link && t->link != t->serial ? "%s %s" : "%s", interned_text(&run->texts, t->link_kind), name);
	table_text(table, text);
	run_place_text(run, t->at, text, sizeof text);
	table_text(table, text);
	table_number(table, t->start);
	table_number(table, t->size);
	table_number(table, t->birth);
	if (t->death)
		table_number(table, t->death);
	else
		table_none(table, "");
	table_text(table, t->death ? "" : "alive");
}

static bool wants_trace(const struct report *r, const struct run *run, const struct run_trace *t)
{
	char text[PLACE];

	run_function_text(run, run_function_at(run, t->at), text, sizeof text);
	return report_wants_name(r, text);
}

static void traces(struct report *r, const struct run *run)
{
	static const struct table_column columns[] = {
		{ "samples", "samples", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "head", "head", TABLE_NUMBER },
		{ "loop", "loop", TABLE_NUMBER }, { "called", "C", TABLE_NUMBER }, { "gc", "GC", TABLE_NUMBER },
		{ NULL, "trace", TABLE_TEXT }, { "serial", NULL, TABLE_PLAIN }, { "number", NULL, TABLE_PLAIN }, { "kind", "kind", TABLE_TEXT },
		{ "parent", "parent/exit", TABLE_TEXT }, { "link", "link", TABLE_TEXT }, { "start", "start", TABLE_TEXT },
		{ "address", NULL, TABLE_ADDRESS }, { "size", NULL, TABLE_NUMBER }, { "birth", NULL, TABLE_NUMBER }, { "death", NULL, TABLE_NUMBER },
		{ NULL, "", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct ranking ranking = {{0}};
	struct table t;
	size_t n;

	for (size_t i = 0; i < run->traces.n; i++)
		if ((of_trace(&run->traces.v[i]) || r->page.is_json) && wants_trace(r, run, &run->traces.v[i]))
			vec_push(&ranking.v, ((struct rank){ of_trace(&run->traces.v[i]), 0, 0, (uint32_t)i }));
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "traces", columns, "Traces (serial number.LuaJIT's number; C: called by it; GC: entered from it)");
	for (size_t i = 0; i < n; i++)
		trace_row(&t, run, &run->traces.v[ranking.v.v[i].index]);
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
}

struct place_key { uint32_t function, line, kind; };
struct place_sums { uint64_t times, compiling; };

/* Traces that come and go are many; the places that they start at are few. */
static void places(struct report *r, const struct run *run)
{
	static const struct table_column columns[] = {
		{ "samples", "samples", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT }, { "times", "compiled", TABLE_NUMBER },
		{ "compiling", "compiling", TABLE_NUMBER }, { "percent_compiling", "%", TABLE_PERCENT }, { "kind", "kind", TABLE_TEXT },
		{ "start", "start", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct intern keys = { .slots = NULL };
	struct ranking ranking = {{0}};
	VEC(const struct run_trace *) first = {0};
	VEC(struct place_sums) sums = {0};
	struct table t;
	size_t n;

	for (size_t i = 0; i < run->traces.n; i++) {
		const struct run_trace *trace = &run->traces.v[i];
		struct place_key key = { run_function_at(run, trace->at), run_line_at(run, trace->at), trace->kind };
		uint32_t at;

		if (!wants_trace(r, run, trace))
			continue;
		at = intern(&keys, &key, sizeof key);
		if (at == ranking.v.n) {
			vec_push(&ranking.v, ((struct rank){ 0, 0, 0, at }));
			vec_push(&first, trace);
			vec_push(&sums, ((struct place_sums){ 0, 0 }));
		}
		ranking.v.v[at].key += of_trace(trace);
		sums.v[at].times++;
		sums.v[at].compiling += trace->compiling;
		ranking.v.v[at].second += trace->compiling;
	}
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "places", columns, "Traces by where they start (compiling: samples in the compiler)");
	for (size_t i = 0; i < n; i++) {
		uint32_t at = ranking.v.v[i].index;
		char text[PLACE];

		table_number(&t, ranking.v.v[i].key);
		table_percent(&t, ranking.v.v[i].key, run->weight);
		table_number(&t, sums.v[at].times);
		table_number(&t, sums.v[at].compiling);
		table_percent(&t, sums.v[at].compiling, run->weight);
		table_text(&t, interned_text(&run->texts, first.v[at]->kind));
		run_place_text(run, first.v[at]->at, text, sizeof text);
		table_text(&t, text);
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
	vec_free(&first);
	vec_free(&sums);
	intern_free(&keys);
}

static void compiling_row(struct table *t, const struct run *run, const char *what, uint64_t times, uint64_t samples)
{
	table_number(t, times);
	table_number(t, samples);
	table_percent(t, samples, run->weight);
	table_text(t, what);
}

static void compiling(struct report *r, const struct run *run)
{
	static const struct table_column columns[] = {
		{ "times", "times", TABLE_NUMBER }, { "samples", "samples", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT },
		{ "what", "what", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	uint64_t times[3] = { 0 }, samples[3] = { 0 };
	struct table t;

	for (size_t i = 0; i < run->traces.n; i++) {
		times[run->traces.v[i].again]++;
		samples[run->traces.v[i].again] += run->traces.v[i].compiling;
	}
	for (size_t i = 0; i < run->aborts.n; i++) {
		times[2]++;
		samples[2] += run->aborts.v[i].compiling;
	}
	table_begin(&t, &r->page, "compiling", columns, "What compiling cost");
	compiling_row(&t, run, "traces compiled", times[0], samples[0]);
	compiling_row(&t, run, "compiled again: flushed before", times[1], samples[1]);
	compiling_row(&t, run, "aborted", times[2], samples[2]);
	if (run->recorded_for_nothing)
		compiling_row(&t, run, "in none of these", 0, run->recorded_for_nothing);
	table_end(&t, 0);
}

struct abort_key { uint32_t reason, function, line; };

static void aborts(struct report *r, const struct run *run)
{
	static const struct table_column columns[] = {
		{ "times", "times", TABLE_NUMBER }, { "samples", "samples", TABLE_NUMBER }, { "percent", "%", TABLE_PERCENT },
		{ "reason", "reason", TABLE_TEXT }, { "place", "where", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT }
	};
	struct intern keys = { .slots = NULL };
	struct ranking ranking = {{0}};
	VEC(const struct run_abort *) first = {0};
	struct table t;
	size_t n;

	for (size_t i = 0; i < run->aborts.n; i++) {
		const struct run_abort *a = &run->aborts.v[i];
		struct abort_key key = { a->reason, run_function_at(run, a->at), run_line_at(run, a->at) };
		uint32_t at = intern(&keys, &key, sizeof key);

		if (at == ranking.v.n) {
			vec_push(&ranking.v, ((struct rank){ 0, 0, 0, at }));
			vec_push(&first, a);
		}
		ranking.v.v[at].key++;
		ranking.v.v[at].second += a->compiling;
	}
	ranking_sort(&ranking);
	n = report_rows(r, ranking.v.n);
	table_begin(&t, &r->page, "aborts", columns, "Traces that were given up");
	for (size_t i = 0; i < n; i++) {
		const struct run_abort *a = first.v[ranking.v.v[i].index];
		char text[PLACE];

		table_number(&t, ranking.v.v[i].key);
		table_number(&t, ranking.v.v[i].second);
		table_percent(&t, ranking.v.v[i].second, run->weight);
		table_text(&t, interned_text(&run->texts, a->reason));
		run_place_text(run, a->at, text, sizeof text);
		table_text(&t, text);
	}
	table_end(&t, ranking.v.n - n);
	vec_free(&ranking.v);
	vec_free(&first);
	intern_free(&keys);
}

static void one_run(struct report *r, const struct run *run, const struct run_tables *wanted)
{
	bool chosen = wanted->lines || wanted->traces || wanted->samples;

	summary(r, run);
	if (!chosen)
		states(r, run);
	if (!chosen || wanted->traces)
		traces(r, run);
	if (!chosen && (run->flushes || r->page.is_json))
		places(r, run);
	if (!chosen)
		report_run_functions(r, run);
	if (!chosen || wanted->lines)
		report_run_lines(r, run);
	if (!chosen) {
		report_run_parts(r, run);
		compiling(r, run);
		aborts(r, run);
	}
	if (wanted->samples)
		report_run_samples(r, run);
}

void report_runs(struct report *r, const struct run_tables *wanted)
{
	struct json *j = &r->page.json;

	if (r->page.is_json) {
		json_key(j, "runs");
		json_begin_array(j);
	}
	for (size_t i = 0; i < r->profile.runs.n; i++) {
		if (r->page.is_json)
			json_begin_object(j);
		else if (r->page.begun)
			page_text(&r->page, "\n");
		one_run(r, r->profile.runs.v[i], wanted);
		if (r->page.is_json)
			json_end_object(j);
	}
	if (r->page.is_json)
		json_end_array(j);
}
