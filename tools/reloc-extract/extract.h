/* extract.h - the analysis of one object; its results become the rows of the relocation table. */
#ifndef RELOC_EXTRACT_H
#define RELOC_EXTRACT_H
#include "formats/stream.h"
#include "lib/code/jump-tables.h"
#include "lib/elf/frames.h"

struct extract {
	struct object o;
	struct code c;
	struct frames f;
	struct object_relocs relocs;
	struct object_symbols dynsyms, symtab;
	uint64_t *entries;		/* bit a - c.lo: a function entry */
	jump_tables tables;
	VEC(uint32_t) label_slots, table_bases;	/* of the tables, ascending */
	VEC(uint32_t) pads;		/* landing pad, start of its FDE; in pairs */
};

/* Analyses the opened x->o.  NULL, or why the object is refused as a whole. */
const char *extract_object(struct extract *x);
/* Writes the rows of the object. */
void extract_rows(struct extract *x, struct stream_writer *w);
void extract_free(struct extract *x);

/* extract.c */
void extract_tables(struct extract *x);
void extract_landing_pads(struct extract *x);
void extract_symbol_entries(struct extract *x);
/* The table that the jump goes through, or NULL. */
const struct jump_table *extract_table_of(const struct extract *x, uint32_t jump);

/* plain-text.c: ranges, entries and references of machines whose text holds no data and whose addresses come from the GOT. */
void extract_plain(struct extract *x);

/* gaps.c: ranges for code that no FDE covers, found from symbols, init and fini arrays, relocations and calls. */
void extract_gaps(struct extract *x);
/* Adds ranges that may not move for what is left in code sections and is no padding: so that all that stays is named. */
void extract_name_holes(struct extract *x);

/* split-stack.c: takes functions out that are entered where no address leads. */
void extract_split_stack(struct extract *x);

/* runtimes.c: takes out what a runtime knows by its place. */
void extract_runtimes(struct extract *x);

/* addresses.c: text addresses in data and in code; takes ranges out whose inner addresses are used in a way that cannot be followed. */
void extract_addresses(struct extract *x);
/* The text address that the relocation puts at its offset, if it is one.  */
bool extract_reloc_text(const struct extract *x, const struct object_reloc *r, uint64_t *text);
/* True where relocation r may be given a new address: its text address is an entry, a label of a jump table, a lazy PLT word. */
enum address_use { USE_NONE, USE_ENTRY, USE_LABEL };
enum address_use extract_use(const struct extract *x, const struct object_reloc *r, uint64_t *text);
bool extract_slot(void *context, uint64_t a, uint64_t *text);	/* a code_slot for jump tables */

static inline bool extract_is_entry(const struct extract *x, uint64_t a) { return code_in(&x->c, a) && bit(x->entries, a - x->c.lo); }
void extract_set_entry(struct extract *x, uint64_t a);
#endif
