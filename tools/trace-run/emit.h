/* emit.h - rows of the profile, in the file while the script runs.

   A sample is taken in a signal handler, so this is a small encoder of its own beside formats/stream.h: it allocates nothing there and
   takes no lock.  A trace's row is written at once, by one write(2) with all that waited: it is in the file whatever becomes of the
   process.  Samples wait for each other, but not for long: a system call a sample would cost more than the sample.
   Samples that come while a row is being made wait in a ring. */
#ifndef TRACE_RUN_EMIT_H
#define TRACE_RUN_EMIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAMPLE_FRAMES = 100 };

struct sample {
	uint64_t time, pc, return_address, c_function;
	int32_t state;				/* > 0: trace number; else -1 - enum profile_state */
	uint32_t weight, frames;
	struct { uint32_t prototype, position; } frame[SAMPLE_FRAMES];
};

struct row {
	unsigned type;
	uint64_t address;
	int64_t information;
	uint64_t count;
	const char *kind, *name, *why;		/* NULL: none */
	const int64_t *numbers;
	size_t n;
	bool can_wait;				/* until another row or enough samples are there */
};

struct emit_object { const char *path, *name, *machine; };

/* Opens the output; NULL stands for trace.PID.cbor.  False after a message. */
bool emit_open(const char *path, const struct emit_object *object);
const char *emit_path(void);
/* A row that does not come from the signal handler. */
void emit_row(const struct row *row);
/* A place in the ring for a sample, or NULL when it is full; emit_sample makes it part of it.  For the signal handler only. */
struct sample *emit_sample_begin(void);
void emit_sample(void);
/* While it is more than 0 samples stay in the ring; the last emit_release writes them. */
void emit_hold(void);
void emit_release(void);
bool emit_held(void);
uint64_t emit_samples(void), emit_lost(void);
/* The end item; the file is closed.  False when something could not be written (said already). */
bool emit_end(void);
/* A forked child: the file is its parent's. */
void emit_detach(void);
/* Nothing ran: removes the file if it was made here. */
void emit_remove(void);
bool emit_is_open(void);
#endif
