/* run.c - reads the rows of a run of trace-compiled code. */
#include "tools/prof-report/run-internal.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/msg.h"

enum { CODE_MAX = 1 << 28, BYTECODE = 4, TRACE_LIST = 9, DEPTH_MAX = 1024 };

struct run *run_new(const struct object_info *info, bool keep_samples)
{
	struct run *r = xcalloc(1, sizeof *r);

	r->path = info->path ? arena_strdup(&r->arena, info->path) : NULL;
	r->name = info->name ? arena_strdup(&r->arena, info->name) : NULL;
	r->keep_samples = keep_samples;
	return r;
}

void run_free(struct run *r)
{
	vec_free(&r->prototypes);
	vec_free(&r->traces);
	vec_free(&r->alive);
	vec_free(&r->stubs);
	vec_free(&r->aborts);
	vec_free(&r->recording);
	vec_free(&r->late);
	vec_free(&r->weights);
	vec_free(&r->start_flushes);
	vec_free(&r->all);
	intern_free(&r->texts);
	intern_free(&r->functions);
	intern_free(&r->chains);
	intern_free(&r->cells);
	intern_free(&r->starts);
	intern_free(&r->symbols);
	modules_free(&r->modules);
	arena_free(&r->arena);
	free(r);
}

const struct run_trace *run_trace(const struct run *r, uint32_t serial)
{
	return serial && serial <= r->traces.n ? &r->traces.v[serial - 1] : NULL;
}

const struct run_place *run_chain(const struct run *r, uint32_t chain, size_t *n)
{
	*n = r->chains.v.v[chain].n / sizeof(struct run_place);
	return r->chains.v.v[chain].bytes;
}

const char *run_symbol_text(const struct run *r, uint32_t symbol)
{
	return symbol == NONE ? NULL : interned_text(&r->symbols, symbol);
}

static const struct run_prototype *prototype(const struct run *r, uint32_t serial)
{
	return serial && serial <= r->prototypes.n ? &r->prototypes.v[serial - 1] : NULL;
}

uint32_t run_function_at(const struct run *r, struct run_place at)
{
	const struct run_prototype *p = prototype(r, at.prototype);

	return p ? p->function : NONE;
}

uint32_t run_line_at(const struct run *r, struct run_place at)
{
	const struct run_prototype *p = prototype(r, at.prototype);

	return p && p->lines && at.position < p->size ? (uint32_t)p->lines[at.position] : p ? p->first_line : 0;
}

/* As luaO_chunkid does: "@file" is a file, "=name" a name, else it is the source itself. */
void run_file_text(const struct run *r, uint32_t file, char *to, size_t size)
{
	const char *name = file == NONE ? "?" : interned_text(&r->texts, file);

	if (*name == '@' || *name == '=')
		snprintf(to, size, "%s", name + 1);
	else if (file == NONE)
		snprintf(to, size, "?");
	else
		snprintf(to, size, "[string \"%.*s%s\"]", (int)strcspn(name, "\n") > 40 ? 40 : (int)strcspn(name, "\n"), name,
			 strlen(name) > 40 || strchr(name, '\n') ? "..." : "");
}

void run_function_text(const struct run *r, uint32_t function, char *to, size_t size)
{
	const struct run_function *f = function == NONE ? NULL : r->functions.v.v[function].bytes;
	char file[512];

	if (!f) {
		snprintf(to, size, "?");
		return;
	}
	run_file_text(r, f->file, file, sizeof file);
	if (f->line)
		snprintf(to, size, "%s:%u", file, f->line);
	else
		snprintf(to, size, file[0] == '[' && strncmp(file, "[string", 7) ? "%s" : "%s (main chunk)", file);
}

void run_place_text(const struct run *r, struct run_place at, char *to, size_t size)
{
	const struct run_prototype *p = prototype(r, at.prototype);
	char file[512];

	if (!p) {
		snprintf(to, size, "?");
		return;
	}
	run_file_text(r, p->file, file, sizeof file);
	snprintf(to, size, "%s:%" PRIu32, file, run_line_at(r, at));
}

static bool read_run(struct run *r, const struct stream_row *row)
{
	const struct numbers *list = &row->details.numbers;

	r->start = row->address;
	r->end = row->address;
	r->period = row->information > 0 ? (uint64_t)row->information : 0;
	r->hertz = row->count;
	r->kind = arena_strdup(&r->arena, row->details.kind ? row->details.kind : "?");
	r->vm = arena_strdup(&r->arena, row->details.name ? row->details.name : "?");
	r->why = row->details.why ? arena_strdup(&r->arena, row->details.why) : NULL;
	r->pid = list->n > 0 ? (uint64_t)list->v[0] : 0;
	r->known = list->n > 2 && list->v[2];
	return true;
}

static struct numbers keep_numbers(struct run *r, const struct numbers *list)
{
	int64_t *copy = arena_alloc(&r->arena, list->n * sizeof *copy + 1);

	if (list->n)
		memcpy(copy, list->v, list->n * sizeof *copy);
	return (struct numbers){ copy, list->n };
}

static bool read_module(struct run *r, struct stream_reader *from)
{
	const struct stream_row *row = &from->row;

	if (row->information <= 0 || row->address > UINT64_MAX - (uint64_t)row->information || !row->details.name)
		return seq_fault(&from->seq, "a module that ends nowhere or has no name");
	modules_add(&r->modules, (struct module){
		.start = row->address, .end = row->address + (uint64_t)row->information, .bias = row->count,
		.path = arena_strdup(&r->arena, row->details.name), .identity = keep_numbers(r, &row->details.numbers),
	});
	return true;
}

static bool read_prototype(struct run *r, struct stream_reader *from)
{
	const struct stream_row *row = &from->row;
	const struct numbers *list = &row->details.numbers;
	struct run_prototype p = { .start = row->address };
	struct run_function f;

	if (row->count != r->prototypes.n + 1 || row->count > UINT32_MAX || list->n < 2 || row->information <= 0 ||
	    row->information > CODE_MAX || row->address > UINT64_MAX - BYTECODE * (uint64_t)row->information)
		return seq_fault(&from->seq, "a prototype that is not as prototypes are, or out of order");
	p.size = (uint32_t)row->information;
	p.first_line = (uint32_t)list->v[0];
	p.file = intern_text(&r->texts, row->details.name);
	f = (struct run_function){ p.file, p.first_line };
	p.function = intern(&r->functions, &f, sizeof f);
	if (list->n == 2 + (size_t)p.size) {
		int32_t *lines = arena_alloc(&r->arena, p.size * sizeof *lines);
		uint32_t line = p.first_line;

		for (size_t i = 0; i < p.size; i++) {
			line += (uint32_t)list->v[2 + i];
			lines[i] = (int32_t)line;
		}
		p.lines = lines;
	}
	vec_push(&r->prototypes, p);
	return true;
}

/* Reads ranges: an offset, the number of inlined calls, then pairs. */
static bool read_ranges(struct run *r, struct run_trace *t, const int64_t *v, size_t n)
{
	static VEC(struct run_place) places;
	static VEC(struct run_range) ranges;
	struct run_range *copy;
	uint64_t last = 0;

	ranges.n = 0;
	for (size_t i = 0; i < n;) {
		uint64_t offset = (uint64_t)v[i], depth = i + 1 < n ? (uint64_t)v[i + 1] : DEPTH_MAX;

		if (depth >= DEPTH_MAX || offset < last || offset > UINT32_MAX || n - i - 2 < 2 * (depth + 1))
			return false;
		last = offset;
		places.n = 0;
		for (uint64_t k = 0; k <= depth; k++)
			vec_push(&places, ((struct run_place){ (uint32_t)v[i + 2 + 2 * k], (uint32_t)v[i + 3 + 2 * k] }));
		vec_push(&ranges, ((struct run_range){ (uint32_t)offset, intern(&r->chains, places.v, places.n * sizeof *places.v) }));
		i += 2 + 2 * (depth + 1);
	}
	copy = arena_alloc(&r->arena, ranges.n * sizeof *copy + 1);
	if (ranges.n)
		memcpy(copy, ranges.v, ranges.n * sizeof *copy);
	t->ranges = copy;
	t->n_ranges = (uint32_t)ranges.n;
	return true;
}

/* What the compiler used since the recording began. */
static uint64_t take_recording(struct run *r, uint64_t since)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->recording.n; i++)
		if (r->recording.v[i].time >= since)
			sum += r->recording.v[i].weight;
		else
			r->recorded_for_nothing += r->recording.v[i].weight;
	r->recording.n = 0;
	return sum;
}

static void die(struct run *r, uint32_t serial, uint64_t time)
{
	struct run_trace *t = &r->traces.v[serial - 1];

	t->death = time;
	if (r->number[t->number] == serial)
		r->number[t->number] = 0;
}

static void bear(struct run *r, const struct run_trace *t)
{
	size_t at = run_alive_at(r, t->start), end = at;

	/* What lies where it lies cannot be alive. */
	while (end < r->alive.n && r->traces.v[r->alive.v[end] - 1].start < t->start + t->size)
		die(r, r->alive.v[end++], t->birth);
	if (end == at) {
		vec_reserve(&r->alive, r->alive.n + 1);
		memmove(r->alive.v + at + 1, r->alive.v + at, (r->alive.n - at) * sizeof *r->alive.v);
		r->alive.n++;
	} else {
		memmove(r->alive.v + at + 1, r->alive.v + end, (r->alive.n - end) * sizeof *r->alive.v);
		r->alive.n -= end - at - 1;
	}
	r->alive.v[at] = t->serial;
	r->number[t->number] = t->serial;
}

static bool started_before(struct run *r, const struct run_trace *t)
{
	const struct { struct run_place at; uint32_t kind, unused; int64_t exit; } key = { t->at, t->kind, 0, t->exit };
	uint32_t start;
	bool again;

	if (!t->at.prototype)
		return false;
	start = intern(&r->starts, &key, sizeof key);
	again = start < r->start_flushes.n && r->start_flushes.v[start] < r->flushes;
	if (start == r->start_flushes.n)
		vec_push(&r->start_flushes, 0);
	r->start_flushes.v[start] = r->flushes;
	return again;
}

static bool read_trace(struct run *r, struct stream_reader *from)
{
	const struct stream_row *row = &from->row;
	const struct numbers *list = &row->details.numbers;
	struct run_trace t = { .start = row->address, .size = (uint64_t)row->information, .serial = (uint32_t)row->count };

	if (row->count != r->traces.n + 1 || row->count >= UINT32_MAX || list->n < TRACE_LIST || row->information <= 0 || row->information > CODE_MAX ||
	    row->address > UINT64_MAX - CODE_MAX || list->v[1] < 0 || list->v[1] > 65535)
		return seq_fault(&from->seq, "a trace that is not as traces are, or out of order");
	t.birth = (uint64_t)list->v[0];
	t.number = (uint32_t)list->v[1];
	t.loop = (uint64_t)list->v[2];
	t.parent = (uint32_t)list->v[3];
	t.exit = list->v[4];
	t.link = (uint32_t)list->v[5];
	t.at = (struct run_place){ (uint32_t)list->v[7], (uint32_t)list->v[8] };
	t.kind = intern_text(&r->texts, row->details.kind);
	t.link_kind = intern_text(&r->texts, row->details.why);
	t.compiling = take_recording(r, (uint64_t)list->v[6]);
	t.again = started_before(r, &t);
	if (!read_ranges(r, &t, list->v + TRACE_LIST, list->n - TRACE_LIST))
		return seq_fault(&from->seq, "the ranges of trace %" PRIu32 " are not as ranges are", t.serial);
	vec_push(&r->traces, t);
	bear(r, &t);
	return true;
}

static bool read_abort(struct run *r, const struct stream_row *row)
{
	const struct numbers *list = &row->details.numbers;
	struct run_abort a = { .reason = intern_text(&r->texts, row->details.why) };

	if (list->n >= 7) {
		a.start = (struct run_place){ (uint32_t)list->v[3], (uint32_t)list->v[4] };
		a.at = (struct run_place){ (uint32_t)list->v[5], (uint32_t)list->v[6] };
		a.compiling = take_recording(r, (uint64_t)list->v[0]);
	}
	vec_push(&r->aborts, a);
	return true;
}

static bool read_flush(struct run *r, const struct stream_row *row)
{
	for (size_t i = 0; i < r->alive.n; i++)
		die(r, r->alive.v[i], row->address);
	r->alive.n = r->stubs.n = 0;
	r->flushes++;
	return true;
}

static bool read_death(struct run *r, const struct stream_row *row)
{
	size_t n = 0;

	for (size_t i = 0; i < r->alive.n; i++)
		if (r->alive.v[i] == row->count)
			die(r, r->alive.v[i], row->address);
		else
			r->alive.v[n++] = r->alive.v[i];
	r->alive.n = n;
	return true;
}

static bool read_stubs(struct run *r, struct stream_reader *from)
{
	const struct stream_row *row = &from->row;

	if (row->information <= 0 || row->information > CODE_MAX || row->address > UINT64_MAX - CODE_MAX)
		return seq_fault(&from->seq, "stubs that end nowhere");
	vec_push(&r->stubs, ((struct run_stub){ row->address, row->address + (uint64_t)row->information }));
	return true;
}

static bool read_end(struct run *r, const struct stream_row *row)
{
	r->end = row->address;
	r->lost = (uint64_t)row->information;
	r->ended = true;
	if (row->details.numbers.n >= 2) {
		r->thread_time = (uint64_t)row->details.numbers.v[0];
		r->process_time = (uint64_t)row->details.numbers.v[1];
	}
	return true;
}

bool run_row(struct run *r, struct stream_reader *from)
{
	const struct stream_row *row = &from->row;

	if (row->type != PROFILE_SAMPLE && row->type != PROFILE_MODULE)
		run_settle(r);
	switch (row->type) {
	case PROFILE_RUN: return read_run(r, row);
	case PROFILE_MODULE: return read_module(r, from);
	case PROFILE_PROTOTYPE: return read_prototype(r, from);
	case PROFILE_TRACE: return read_trace(r, from);
	case PROFILE_STUBS: return read_stubs(r, from);
	case PROFILE_ABORT: return read_abort(r, row);
	case PROFILE_FLUSH: return read_flush(r, row);
	case PROFILE_DEATH: return read_death(r, row);
	case PROFILE_RUN_END: return read_end(r, row);
	case PROFILE_SAMPLE:
		r->end = row->count > r->end ? row->count : r->end;
		run_sample(r, row);
		return true;
	}
	return true;
}

void run_finish(struct run *r, bool cut)
{
	r->cut = cut;
	run_settle(r);
	r->recorded_for_nothing += take_recording(r, UINT64_MAX);
}
