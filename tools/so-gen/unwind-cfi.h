/* unwind-cfi.h - call frame instructions as unwind-cfi.c reads them and unwind-cfi-move.c moves them. */
#ifndef SO_GEN_UNWIND_CFI_H
#define SO_GEN_UNWIND_CFI_H
#include "tools/so-gen/unwind-parts.h"

enum {
	CFA_SET_LOC = 0x01, CFA_ADVANCE1 = 0x02, CFA_ADVANCE2 = 0x03, CFA_ADVANCE4 = 0x04, CFA_REMEMBER = 0x0a, CFA_RESTORE_STATE = 0x0b,
	CFA_DEF = 0x0c, CFA_DEF_REGISTER = 0x0d, CFA_DEF_OFFSET = 0x0e, CFA_DEF_EXPRESSION = 0x0f, CFA_EXPRESSION = 0x10,
	CFA_DEF_SF = 0x12, CFA_DEF_OFFSET_SF = 0x13, CFA_VAL_EXPRESSION = 0x16, CFA_MIPS_ADVANCE8 = 0x1d, CFA_ARGS_SIZE = 0x2e,
	CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0
};
enum { DEPTH_MAX = 32, ITEMS_MAX = 32 };

struct cfi_op {
	uint8_t code;			/* advance, offset and restore: without their low bits */
	uint64_t v[2];
	const uint8_t *start, *end;	/* the whole instruction */
	const uint8_t *block;
	size_t block_size;
};

/* A rule that says "an expression over the stack pointer"; register -1: the CFA itself. */
struct cfi_item { int64_t reg; uint8_t code; const uint8_t *block; size_t size; };

struct cfi_state {
	uint64_t reg;			/* the CFA is reg + offset, unless by_expression */
	int64_t offset;
	bool by_expression;
	int64_t applied;		/* what was last added to the stack pointer's part of all rules */
	size_t n;
	struct cfi_item items[ITEMS_MAX];
};

struct cfi_walk {
	const struct object *o;
	const struct frame_cie *cie;
	uint64_t base;			/* link-time address of *first */
	const uint8_t *first;
	const uint8_t *p, *end;
	int sp, pc;
	uint64_t loc, limit;		/* old location; the FDE's end */
	struct cfi_state now, saved[DEPTH_MAX];
	unsigned depth;
};

/* Runs the CIE's instructions and stops before the FDE's first. */
const char *cfi_begin(struct cfi_walk *w, const struct object *o, const struct frame_cie *cie, const struct frame_fde *fde);
/* Reads the next instruction (w->p < w->end). */
const char *cfi_read(struct cfi_walk *w, struct cfi_op *op);
bool cfi_is_advance(const struct cfi_op *op);
bool cfi_changes_cfa(const struct cfi_op *op);
/* What an advance does to the location, any other instruction to the state. */
const char *cfi_step(struct cfi_walk *w, const struct cfi_op *op);
const char *cfi_apply(struct cfi_walk *w, const struct cfi_op *op);

struct cfi_expression { bool sp, pc, jumps; };	/* what it reads, how it runs */
/* Reads an expression, and writes it to TO with DELTA added where the stack pointer is read, unless TO is NULL. */
bool cfi_expression(const struct cfi_walk *w, const uint8_t *p, size_t size, struct cfi_expression *e, struct bytes *to, int64_t delta);
#endif
