/* attribute.c - puts each sample where it belongs.

   In this order: a PC in the code of a live trace is that trace's, whatever the VM's state says; a state that names a live trace is C code
   it called, and a return address into it gives the line; the garbage collector with a return address into a trace was entered from
   there; else the state decides.  What is in no object and no trace is unknown. */
#include <stdlib.h>
#include <string.h>
#include "lib/base/mem.h"
#include "tools/prof-report/run-internal.h"

const char *const where_names[WHERES] = {
	"trace, head", "trace, loop", "C called by a trace", "exit stubs", "interpreter", "garbage collector, from a trace",
	"garbage collector", "recorder", "optimizer", "assembler", "C", "unknown"
};

enum { LISTED = 3, LATE_MAX = 4096 };

struct seen {
	struct run_cell cell;
	uint64_t pc, return_address, c_function;
	int64_t state;
	struct numbers calls;
	struct run_trace *trace;
	const struct run_range *range;
};

size_t run_alive_at(const struct run *r, uint64_t address)
{
	size_t low = 0, high = r->alive.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct run_trace *t = &r->traces.v[r->alive.v[middle] - 1];

		if (t->start + t->size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct run_trace *run_trace_at(struct run *r, uint64_t address)
{
	size_t at = run_alive_at(r, address);
	struct run_trace *t = at < r->alive.n ? &r->traces.v[r->alive.v[at] - 1] : NULL;

	return t && t->start <= address ? t : NULL;
}

static bool in_stub(const struct run *r, uint64_t address)
{
	for (size_t i = 0; i < r->stubs.n; i++)
		if (address >= r->stubs.v[i].start && address < r->stubs.v[i].end)
			return true;
	return false;
}

static const struct run_range *range_at(const struct run_trace *t, uint64_t address)
{
	uint64_t offset = address - t->start;
	const struct run_range *range = NULL;

	for (uint32_t low = 0, high = t->n_ranges; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (t->ranges[middle].offset <= offset) {
			range = &t->ranges[middle];
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return range;
}

/* The function's name, or the object's when it has none; NONE when the address is in no object. */
static uint32_t symbol_at(struct run *r, uint64_t address)
{
	const char *function, *object;
	char text[1024];

	if (!modules_name(&r->modules, address, &function, &object))
		return NONE;
	if (function)
		snprintf(text, sizeof text, "%s (%s)", function, object);
	else
		snprintf(text, sizeof text, "[%s]", object);
	return intern_text(&r->symbols, text);
}

static bool is_exit_handler(const struct run *r, uint32_t symbol)
{
	return symbol != NONE && !strncmp(interned_text(&r->symbols, symbol), "lj_vm_exit_", 11);
}

static void on_trace(struct seen *s, struct run_trace *t, uint64_t address)
{
	s->trace = t;
	s->cell.trace = t->serial;
	s->range = range_at(t, address);
}

/* C code while the VM says that a trace is running: its address on the native stack counts only when it is that trace's. */
static void called_by_trace(struct run *r, struct seen *s)
{
	uint32_t serial = s->state < 65536 ? r->number[s->state] : 0;
	struct run_trace *at = s->return_address ? run_trace_at(r, s->return_address - 1) : NULL;

	if (!serial) {
		s->cell.where = WHERE_UNKNOWN;
		return;
	}
	s->cell.where = is_exit_handler(r, s->cell.symbol) ? WHERE_STUB : s->cell.symbol == NONE ? WHERE_UNKNOWN : WHERE_CALLED;
	if (at && at->serial == serial)
		on_trace(s, at, s->return_address - 1);
	else
		on_trace(s, &r->traces.v[serial - 1], r->traces.v[serial - 1].start);
	if (!at || at->serial != serial)
		s->range = NULL;
}

static enum where where_of_state(int64_t state)
{
	static const enum where of[PROFILE_STATES] = {
		[PROFILE_STATE_INTERPRETER] = WHERE_INTERPRETER, [PROFILE_STATE_C] = WHERE_C, [PROFILE_STATE_GC] = WHERE_GC,
		[PROFILE_STATE_EXIT] = WHERE_STUB, [PROFILE_STATE_RECORD] = WHERE_RECORD, [PROFILE_STATE_OPTIMIZE] = WHERE_OPTIMIZE,
		[PROFILE_STATE_ASSEMBLE] = WHERE_ASSEMBLE, [PROFILE_STATE_UNKNOWN] = WHERE_UNKNOWN
	};

	return state < 0 && state >= -PROFILE_STATES ? of[-1 - state] : WHERE_UNKNOWN;
}

static void decide(struct run *r, struct seen *s)
{
	struct run_trace *t = run_trace_at(r, s->pc);

	if (t) {
		s->cell.where = t->loop && s->pc - t->start >= t->loop ? WHERE_LOOP : WHERE_HEAD;
		on_trace(s, t, s->pc);
		return;
	}
	if (in_stub(r, s->pc)) {
		s->cell.where = WHERE_STUB;
		return;
	}
	s->cell.symbol = symbol_at(r, s->pc);
	if (s->state > 0) {
		called_by_trace(r, s);
		return;
	}
	s->cell.where = s->cell.symbol == NONE ? WHERE_UNKNOWN : where_of_state(s->state);
	if (s->cell.where == WHERE_GC && s->return_address && (t = run_trace_at(r, s->return_address - 1))) {
		s->cell.where = WHERE_GC_TRACE;
		on_trace(s, t, s->return_address - 1);
	}
	if (s->cell.where == WHERE_C && s->c_function)
		s->cell.c_function = symbol_at(r, s->c_function);
}

/* Calls, innermost first: the trace's own at that place, then those on Lua's stack. */
static void find_chain(struct run *r, struct seen *s)
{
	static VEC(struct run_place) places;
	size_t n = 0;

	places.n = 0;
	if (s->range) {
		const struct run_place *own = run_chain(r, s->range->chain, &n);

		for (size_t i = 0; i < n; i++)
			vec_push(&places, own[i]);
	} else if (s->trace) {
		vec_push(&places, s->trace->at);
	}
	for (size_t i = 0; i + 1 < s->calls.n; i += 2)
		vec_push(&places, ((struct run_place){ (uint32_t)s->calls.v[i], (uint32_t)s->calls.v[i + 1] }));
	s->cell.chain = intern(&r->chains, places.v, places.n * sizeof *places.v);
	if (places.n) {
		uint32_t function = run_function_at(r, places.v[0]);

		s->cell.function = function;
		s->cell.line = run_line_at(r, places.v[0]);
		if (function != NONE)
			s->cell.line_file = ((const struct run_function *)r->functions.v.v[function].bytes)->file;
	}
}

static void count(struct run *r, const struct seen *s, uint64_t time, uint64_t weight)
{
	uint32_t cell = intern(&r->cells, &s->cell, sizeof s->cell);

	if (cell == r->weights.n)
		vec_push(&r->weights, 0);
	r->weights.v[cell] += weight;
	r->weight += weight;
	r->samples++;
	if (s->trace)
		s->trace->samples[s->cell.where] += weight;
	if (s->cell.where == WHERE_RECORD || s->cell.where == WHERE_OPTIMIZE || s->cell.where == WHERE_ASSEMBLE)
		vec_push(&r->recording, ((struct run_pending){ time, weight }));
	if (r->keep_samples)
		vec_push(&r->all, ((struct run_sample){ time, s->pc, cell, (uint32_t)weight }));
}

static bool is_nowhere(const struct seen *s)
{
	return s->cell.where == WHERE_UNKNOWN && s->cell.symbol == NONE;
}

static struct seen look(struct run *r, const struct run_late *sample)
{
	const struct numbers *list = &sample->numbers;
	struct seen s = { .cell = { .symbol = NONE, .c_function = NONE, .line_file = NONE, .function = NONE }, .pc = sample->pc, .state = sample->state };

	if (list->n > 1)
		s.return_address = (uint64_t)list->v[1];
	if (list->n > 2)
		s.c_function = (uint64_t)list->v[2];
	if (list->n > LISTED)
		s.calls = (struct numbers){ list->v + LISTED, list->n - LISTED };
	decide(r, &s);
	return s;
}

static void put(struct run *r, const struct run_late *sample, struct seen *s)
{
	uint64_t weight = sample->numbers.n ? (uint64_t)sample->numbers.v[0] : 1;

	find_chain(r, s);
	count(r, s, sample->time, weight > UINT32_MAX ? UINT32_MAX : weight);
}

void run_settle(struct run *r)
{
	for (size_t i = 0; i < r->late.n; i++) {
		struct seen s = look(r, &r->late.v[i]);

		put(r, &r->late.v[i], &s);
		free((void *)(uintptr_t)r->late.v[i].numbers.v);
	}
	r->late.n = 0;
}

static void wait_for_objects(struct run *r, const struct run_late *sample)
{
	struct run_late copy = *sample;
	size_t bytes = sample->numbers.n * sizeof *copy.numbers.v;
	int64_t *v = xmalloc(bytes + 1);

	if (bytes)
		memcpy(v, sample->numbers.v, bytes);
	copy.numbers.v = v;
	vec_push(&r->late, copy);
	if (r->late.n >= LATE_MAX)
		run_settle(r);
}

void run_sample(struct run *r, const struct stream_row *row)
{
	const struct numbers none = { NULL, 0 };
	struct run_late sample = { row->count, row->address, row->information, row->details.present ? row->details.numbers : none };
	struct seen s;

	/* They stay in their order. */
	if (!r->late.n) {
		s = look(r, &sample);
		if (!is_nowhere(&s)) {
			put(r, &sample, &s);
			return;
		}
	}
	wait_for_objects(r, &sample);
}
