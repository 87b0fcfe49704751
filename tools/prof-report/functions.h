/* functions.h - the functions of an object, from symbols wherever they are found, else from unwinding tables, and the rest by section. */
#ifndef PROF_REPORT_FUNCTIONS_H
#define PROF_REPORT_FUNCTIONS_H
#include "lib/base/mem.h"
#include "lib/elf/lines.h"
#include "lib/elf/object.h"

#define NO_FUNCTION UINT32_MAX

struct function {
	uint64_t start, end;
	const char *raw;		/* as the symbol table has it, without a version; "sub_1234" from an FDE; "[.plt]" a section's rest */
	const char *name;		/* demangled */
	uint32_t whole;			/* index of the function that this is the cold part of; else its own */
	uint8_t type, bind;
	unsigned unit;
	bool has_cold;
	bool is_rest;			/* code of a section that no function covers */

	/* filled in by view.c, cold parts added to the whole */
	uint64_t insns, entered;
	uint32_t blocks, blocks_run;
	uint64_t bytes, bytes_run;
};

struct functions {
	VEC(struct function) v;		/* functions ascending by start, then the rests of sections ascending */
	size_t proper;			/* how many are functions */
	uint64_t *reach;		/* reach[i]: the furthest end of functions 0 to i */
	struct arena arena;
};

/* l may be NULL. */
void functions_find(struct functions *f, const struct object *o, struct lines *l);
void functions_free(struct functions *f);
/* The innermost function that covers the address, else its section's rest, else NO_FUNCTION. */
uint32_t functions_at(const struct functions *f, uint64_t address);

/* Name with its C++ or legacy Rust mangling undone; from the arena, or s itself. */
const char *demangle(struct arena *a, const char *s);
#endif
