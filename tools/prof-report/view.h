/* view.h - an object of the profile seen with its original file: functions, instructions, what ran. */
#ifndef PROF_REPORT_VIEW_H
#define PROF_REPORT_VIEW_H
#include "tools/prof-report/decode.h"
#include "tools/prof-report/functions.h"
#include "tools/prof-report/profile.h"

struct view {
	struct profile_object *p;
	char *label;			/* the file's base name, and the process where these are kept apart */
	const char *fault;		/* why the original is not used: addresses only; NULL: it is */
	struct object elf;
	struct lines *lines;		/* NULL: none */
	struct functions functions;
	struct decoder *decoder;
	struct source *source;		/* source.h; NULL until it is asked for */
	uint64_t insns, executions, bytes, bytes_run, gap_bytes;
	size_t blocks_run, functions_seen, functions_run;
};

/* Opens the original, finds functions, counts instructions of executed blocks, sums per function. */
void view_open(struct view *v, struct profile_object *p);
void view_close(struct view *v);
/* Sums per function anew, after counts changed. */
void view_sum(struct view *v);

/* Executed instructions of a block. */
uint64_t block_insns(const struct profile_block *b);
/* The function a block is shown under (the whole of a cold part), or NULL. */
const struct function *block_function(const struct view *v, const struct profile_block *b);
/* "f", "f+0x12" or "[.text]+0x40" of an address; "" when no function has it. */
void view_place(const struct view *v, uint64_t address, char *text, size_t size);
/* The first block that ends after the address; blocks.n if there is none. */
size_t view_block_at(const struct view *v, uint64_t address);
const char *base_name(const char *path);
#endif
