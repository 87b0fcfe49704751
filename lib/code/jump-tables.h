/* jump-tables.h - where indirect jumps inside a function lead. */
#ifndef CODE_JUMP_TABLES_H
#define CODE_JUMP_TABLES_H
#include "lib/code/code.h"
#include "lib/elf/frames.h"

struct jump_table {
	uint32_t jump;			/* the indirect jump */
	uint32_t at, base;		/* the table; what its entries are relative to (0: they are addresses) */
	uint32_t count;			/* entries */
	uint8_t width, scale;
	bool is_signed;
	bool proven;			/* the bound comes from the code; else the entries were read until one led nowhere */
	bool exact;			/* the bound comes from a comparison */
};
typedef VEC(struct jump_table) jump_tables;

/* Is the 8-byte slot at a relocated to hold a text address?  Gives that address. */
typedef bool (*code_slot)(void *context, uint64_t a, uint64_t *text);

struct jump_context {
	const struct frames *frames;
	code_slot slot;
	void *slots;
	uint32_t *marks;		/* where something in data begins that code, data or symbols refer to; ascending */
	size_t mark_count;
};
/* Fills marks from the code's references and from words (addresses held in data, values of symbols; n of them, in any order). */
void jump_marks(struct jump_context *k, const struct code *c, const uint64_t *words, size_t n);

/* Follows the values of registers through the range (after sweep, sort and check), adds a row to tables for each table of each
   jump and marks the targets as heads.  An indirect jump that is neither a tail call nor resolved sets the range's why. */
void code_find_tables(struct code *c, struct code_range *r, jump_tables *tables, const struct jump_context *context);

/* Entry i's place and target.  False: the table does not lie in the file there. */
bool jump_entry(const struct code *c, const struct jump_table *t, uint32_t i, uint64_t *at, uint64_t *target);

/* To be called once all tables are known: a table ends where another one begins. */
void code_cut_tables(struct code *c, jump_tables *tables);
#endif
