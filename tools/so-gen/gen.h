/* gen.h - one object on its way to its profiled twin.  The order of the steps, each needing those before it:
   rows (what may be done), blocks (what moves, where blocks begin), mapping (which function entries get a new address),
   liveness (how each block is counted), layout (where it goes), emit (new text), unwind, patch (the original's bytes), image. */
#ifndef SO_GEN_GEN_H
#define SO_GEN_GEN_H
#include "formats/counters.h"
#include "formats/stream.h"
#include "lib/code/code.h"
#include "lib/elf/frames.h"
#include "tools/so-gen/image.h"
#include "tools/so-gen/unwind.h"

struct gen_options { bool identity, poison, atomic, keyed; const char *directory; };

enum block_flag {
	BLOCK_MARK = 1,			/* begins with an entry mark; counting code comes behind it */
	BLOCK_SPLIT = 2,		/* begins within the instruction of the block before it */
	BLOCK_NEAR = 4,			/* its branch needs the near form */
	BLOCK_JOIN = 8,			/* ends with a jump to what follows in the original */
	BLOCK_FORK = 16,		/* ends with a system call that may be a fork: a check follows */
	BLOCK_ALIGN = 32,		/* aligned as it was (layout.c) */
	BLOCK_FLAGS = 64,		/* condition flags are live at its head */
	BLOCK_FIRST = 128,		/* first of its range */
	BLOCK_GOES_ON = 256,		/* part of the block before it, cut off behind a rewritten instruction or before a store: not counted */
	BLOCK_LINKED = 512,		/* begins between load-linked and store-conditional: not counted there */
	BLOCK_STORE = 8192,		/* with BLOCK_GOES_ON: the store of a block that begins there, which is counted behind it */
	BLOCK_MAKES_GP = 2048,		/* entry of a function that uses no gp: its counting code makes one for the blocks that follow */
	BLOCK_BASE = 4096,		/* counts on the base that the blocks before it have left */
	BLOCK_JOIN_FAR = 1024,		/* the jump of BLOCK_JOIN needs the far form */
};
struct block {
	uint32_t old, size;		/* bytes of the original */
	uint32_t new;			/* from the start of new text */
	int32_t end;			/* index in code.ends, or CODE_NONE: goes on to the next block */
	uint16_t flags;
	uint8_t inserted, pad;		/* pad: bytes of padding before it */
	uint8_t form, reg;		/* struct count_how */
};

struct row_table { uint32_t jump, at, base, count; uint8_t width, scale; bool is_signed; };
struct row_pair { uint32_t at, text; };

/* What the relocation table permits. */
struct rows {
	VEC(struct code_range) ranges;	/* those that may not move have their why */
	VEC(struct row_pair) words, labels, refs, entries, jump_entries, pads;	/* ascending by at after rows_sort */
	VEC(struct row_table) tables;	/* ascending by jump */
	VEC(uint32_t) starts;
	struct arena arena;
};
void rows_add(struct rows *rows, const struct stream_row *row);
void rows_sort(struct rows *rows);
void rows_free(struct rows *rows);
typedef VEC(struct row_pair) row_pairs;
/* The pair whose at is AT, or NULL. */
const struct row_pair *rows_find(const struct row_pair *v, size_t n, uint32_t at);

struct gen {
	struct object o;
	struct code c;
	struct frames f;
	struct object_relocs relocs;
	struct object_symbols dynsyms, symtab;
	struct rows *rows;
	const struct gen_options *options;
	const struct object_info *info;
	char *name;			/* of the file in the directory */

	VEC(struct block) blocks;	/* ascending by old */
	uint64_t *is_block;		/* bit a - c.lo: a block of blocks begins at a */
	uint32_t *rank;			/* blocks before each 64-bit word of is_block */
	int32_t *end_block;		/* for each of code.ends: the block it leads to, or CODE_NONE */
	uint64_t *mapped;		/* bit a - c.lo: a is a function entry whose address becomes that in new text */
	uint64_t *touched;		/* bit a - c.lo: something may enter or read old text at a */
	uint64_t *entered;		/* bit a - c.lo: code that stays enters a */
	uint64_t *led;			/* bit a - c.lo: something but the instruction before it leads to a */
	struct registers *registers;	/* of machines with through_gp: what is free where */
	uint64_t *goes_on;		/* bit a - c.lo: a block begins there only because the instruction before it is rewritten, or before a store */
	uint64_t *linked;		/* bit a - c.lo: a block begins there between load-linked and store-conditional */
	int32_t *block_address;		/* and for each block the index in code.addresses of its last instruction, or CODE_NONE */
	uint32_t missing_refs;		/* references that the table tells of and has no row for */
	VEC(uint32_t) springs;		/* entries that get a springboard */
	uint32_t text_size, code_size;	/* of .soprof.text: blocks; with stubs and run-time code */
	uint32_t spring_stubs, fork_stubs, fork_common, init_stub, blob;	/* offsets in it */
	uint32_t forks;
	uint64_t init_next, init_slot;	/* what the init stub goes on to; slot: of the init array, 0 for DT_INIT */
	bool init_at_entry;		/* the stub is the program's entry instead */
	uint64_t counted, moved_bytes, kept_bytes;
	uint64_t fde_moved, fde_kept;	/* bytes of the ranges that FDEs cover */
	uint32_t forms[COUNT_FORMS];

	struct image image;
	struct unwind unwind;
	struct image_section *text, *map, *places, *spring_section, *private_page, *header, *counters, *info_section, *note, *eh_frame, *eh_frame_hdr, *except;
};

/* Has the block a counter of its own that is used? */
static inline bool gen_counts(const struct block *b) { return (b->flags & BLOCK_STORE) || !(b->flags & (BLOCK_GOES_ON | BLOCK_LINKED)); }

/* ranges.c */
void gen_ranges(struct gen *g);			/* decodes them; what cannot move gets its reason */
void gen_check_rows(struct gen *g);		/* through_gp: functions whose old text may run, for want of rows, stay */
void gen_keep(struct gen *g, struct code_range *r, const char *format, uint64_t at);	/* r may be NULL */
bool gen_is_padding(const struct gen *g, uint32_t a, uint32_t end);	/* nothing but padding */
/* blocks.c: NULL or the fault. */
const char *gen_blocks(struct gen *g);
const char *gen_cut(struct gen *g);				/* again, when something more has to stay */
int32_t gen_block_at(const struct gen *g, uint64_t a);		/* index of the block that begins at a, or CODE_NONE */
int32_t gen_block_of(const struct gen *g, uint64_t a);		/* that contains a */
bool gen_retargets(const struct code_range *r, const struct code_end *e);
/* links.c */
void gen_links(struct gen *g);
/* mapping.c */
void gen_mapping(struct gen *g);
bool gen_keep_pinned(struct gen *g);	/* true: some range stays now, the blocks have to be made again */
static inline bool gen_is_mapped(const struct gen *g, uint64_t a) { return code_in(&g->c, a) && bit(g->mapped, a - g->c.lo); }
/* The run-time meaning of old text address a in data: its place in new text if it is a mapped entry, else a (text section placed). */
uint64_t gen_address(const struct gen *g, uint64_t a);
/* liveness.c */
void gen_liveness(struct gen *g);
/* registers.c: for machines with through_gp, whose liveness is one of registers */
struct registers { uint32_t *dead, *dead_end; uint8_t *gp_valid; };	/* for each block: at its head, behind its last instruction */
void gen_registers(struct gen *g);
void gen_registers_free(struct gen *g);
void gen_registers_plan(struct gen *g);
uint32_t gen_gp(const struct gen *g, const struct block *b);
const struct row_table *gen_table(const struct gen *g, uint32_t jump);
/* words.c: numbers in the object's byte order. */
void gen_put(const struct gen *g, void *p, uint64_t v, unsigned bytes);

/* layout.c */
/* The rewriting that the last instruction of block i needs; false: none, or the branch forms of the machine serve. */
bool gen_tail(const struct gen *g, size_t i, struct rewrite *w);
size_t gen_spring_size(const struct gen *g, uint32_t entry);
void gen_layout(struct gen *g);
bool gen_keep_unwritable(struct gen *g);		/* what cannot be written at its new place; true: something has to stay, cut again */
uint32_t gen_block_bytes(const struct gen *g, const struct block *b);
static inline struct count_how gen_how(const struct gen *g, const struct block *b)
{
	return (struct count_how){ .form = b->form, .reg = b->reg, .atomic = g->options->atomic, .gentle = g->c.gentle,
		.gp = g->c.m->through_gp ? gen_gp(g, b) : 0 };
}
/* Offset in new text of what stands for the old instruction at a; false: not moved. */
bool gen_place(const struct gen *g, uint64_t a, uint64_t *to);
bool gen_range(const struct gen *g, uint64_t start, uint64_t size, uint64_t *to, uint64_t *to_size);
/* emit.c: NULL or the fault. */
const char *gen_emit(struct gen *g);
/* unwinding.c */
const char *gen_unwind(struct gen *g);
/* patch.c */
const char *gen_patch(struct gen *g);
/* name.c: what the file in the directory is called; the caller frees it. */
char *gen_name(const struct gen *g);
/* output.c: sections, header, map table, info; writes the file. */
const char *gen_sections(struct gen *g);
bool gen_write(struct gen *g);
/* report.c: names what stayed, on standard error. */
void gen_report(const struct gen *g);
#endif
