/* run.h - a run of trace-compiled code: its traces, and each sample put where it belongs.

   Rows come in the order of time, so what is alive when a sample comes is what was born and has not died in the rows before it.
   Samples that are equal in all that is told of them are counted in one cell. */
#ifndef PROF_REPORT_RUN_H
#define PROF_REPORT_RUN_H
#include "formats/profile.h"
#include "formats/stream.h"
#include "tools/prof-report/intern.h"
#include "tools/prof-report/symbols.h"

/* Where a sample is. */
enum where {
	WHERE_HEAD, WHERE_LOOP,		/* native code of a trace: before its loop, in it */
	WHERE_CALLED,			/* C code that a trace called */
	WHERE_STUB,			/* exit stubs, and what restores the interpreter's state */
	WHERE_INTERPRETER,
	WHERE_GC_TRACE, WHERE_GC,	/* garbage collector, entered from a trace or else */
	WHERE_RECORD, WHERE_OPTIMIZE, WHERE_ASSEMBLE,
	WHERE_C,			/* C functions that the interpreter called */
	WHERE_UNKNOWN, WHERES
};
extern const char *const where_names[WHERES];

#define NONE UINT32_MAX

struct run_place { uint32_t prototype, position; };	/* prototype: serial; 0: none */

struct run_prototype {
	uint64_t start;
	uint32_t size, file, first_line, function;	/* file: number in texts; function: number in functions */
	const int32_t *lines;		/* one an instruction, or NULL */
};

struct run_range { uint32_t offset, chain; };		/* from that offset on; chain: number in chains */

struct run_trace {
	uint64_t start, size, birth, death;		/* death 0: alive at the end */
	uint32_t serial, number, parent, link, link_kind, kind;	/* parent, link: serials; kinds: numbers in texts */
	int64_t exit;
	uint64_t loop;
	struct run_place at;
	const struct run_range *ranges;
	uint32_t n_ranges;
	uint64_t samples[WHERES], compiling;
	bool again;					/* what was compiled before and was flushed */
};

struct run_abort { uint32_t reason; struct run_place at, start; uint64_t compiling; };

/* The key of a cell, as it is hashed. */
struct run_cell { uint32_t where, trace, symbol, c_function, chain, line_file, line, function; };
/* trace: serial or 0; symbol: of the PC, and c_function: which Lua called: numbers in symbols or NONE; chain: calls, innermost first */

struct run_sample { uint64_t time, pc; uint32_t cell, weight; };
struct run_stub { uint64_t start, end; };
struct run_pending { uint64_t time, weight; };
struct run_late { uint64_t time, pc; int64_t state; struct numbers numbers; };

struct run {
	const char *path, *name;
	const char *kind, *vm, *why;
	uint64_t period, hertz, start, end, lost, pid;
	uint64_t thread_time, process_time;
	bool cut, ended, known;
	bool keep_samples;

	VEC(struct run_prototype) prototypes;		/* by serial - 1 */
	VEC(struct run_trace) traces;			/* by serial - 1 */
	VEC(uint32_t) alive;				/* serials, ascending by address */
	VEC(struct run_stub) stubs;
	uint32_t number[65536];				/* serial of the live trace of that number */
	VEC(struct run_abort) aborts;
	VEC(struct run_pending) recording;	/* samples of the compiler whose recording has not ended */
	uint64_t flushes, samples, weight, recorded_for_nothing;

	VEC(struct run_late) late;		/* samples in no object that is known, and those behind them */
	struct intern texts, functions, chains, cells, starts, symbols;
	VEC(uint64_t) start_flushes;			/* flushes before a trace with that start was compiled last */
	VEC(uint64_t) weights;				/* of cells */
	VEC(struct run_sample) all;			/* when keep_samples */
	struct modules modules;
	struct arena arena;
};

struct run *run_new(const struct object_info *info, bool keep_samples);
/* A row of type 32 or more.  False after a message. */
bool run_row(struct run *r, struct stream_reader *from);
/* All rows are there, or it was cut. */
void run_finish(struct run *r, bool cut);
void run_free(struct run *r);

static inline const struct run_cell *run_cell(const struct run *r, size_t i)
{
	return r->cells.v.v[i].bytes;
}
/* The trace of a serial, or NULL. */
const struct run_trace *run_trace(const struct run *r, uint32_t serial);
/* "file:line" of a place; "?" when it is not known.  The text is the caller's. */
void run_place_text(const struct run *r, struct run_place at, char *to, size_t size);
/* A chunk's name as LuaJIT shows it. */
void run_file_text(const struct run *r, uint32_t file, char *to, size_t size);
/* A function: numbers of its file and first line. */
struct run_function { uint32_t file, line; };
void run_function_text(const struct run *r, uint32_t function, char *to, size_t size);
uint32_t run_function_at(const struct run *r, struct run_place at);	/* NONE */
uint32_t run_line_at(const struct run *r, struct run_place at);		/* 0 */
/* The calls of a chain. */
const struct run_place *run_chain(const struct run *r, uint32_t chain, size_t *n);
/* "name (object)" of a symbol. */
const char *run_symbol_text(const struct run *r, uint32_t symbol);
#endif
