/* unwind.h - unwinding tables for an object whose code exists twice: the old text's FDEs as they were, and for each moved
   FDE one whose advances, LSDA call sites and landing pads are those of the new text; a header sorted over both. */
#ifndef SO_GEN_UNWIND_H
#define SO_GEN_UNWIND_H
#include "lib/elf/frames.h"

/* Where code went.  New addresses are relative to the first byte of new text until unwind_place. */
struct unwind_map {
	void *context;
	/* The new place of what stands for the old instruction at (first byte, counting code included); false: not moved. */
	bool (*place)(void *context, uint64_t old, uint64_t *to);
	/* The new range of the moved FDE [start, start + size): false when that FDE was not moved (or not as one piece). */
	bool (*range)(void *context, uint64_t start, uint64_t size, uint64_t *to, uint64_t *to_size);
	/* May be NULL.  CFI for counting code that moves the stack pointer: the extra advances inside the moved FDE, asked for in
	   ascending new addresses: at *to the CFA is delta bytes further from the stack pointer than the FDE says. False: no more at or after FROM. */
	bool (*adjust)(void *context, uint64_t from, uint64_t before, uint64_t *to, int64_t *delta);
};

/* An FDE for new text that has none in the original or whose rules cannot be mapped (a PLT's expression over its own address). */
struct unwind_extra { uint64_t to, size; const uint8_t *insns; size_t insns_size; };	/* CFA rules against a plain "zR" CIE: CFA=rsp+8 at the start on x86-64 */

struct unwind {
	uint8_t *eh_frame, *eh_frame_hdr, *except;	/* sections' bytes; owned here */
	size_t eh_frame_size, eh_frame_hdr_size, except_size;
	size_t moved;			/* FDEs written for new text */
	struct unwind_patch *patches;	/* places to fill in by unwind_place */
	size_t patch_count;
	struct unwind_row *rows;	/* of the sorted header */
	size_t row_count;
	const struct object *object;
	uint64_t fault_at;		/* the old address that unwind_build's fault is about, or 0 */
};

/* Builds the three sections; sizes are final afterwards.  FDEs whose CFI or LSDA cannot be moved must have been kept out by
   the caller (unwind_movable).  NULL, or the fault in words. */
const char *unwind_build(struct unwind *u, const struct object *o, const struct frames *f, const struct unwind_map *map,
                         const struct unwind_extra *extra, size_t extras);
/* Fills in everything that depends on link-time addresses.  False when something is out of reach. */
bool unwind_place(struct unwind *u, uint64_t text, uint64_t eh_frame, uint64_t eh_frame_hdr, uint64_t except);
void unwind_free(struct unwind *u);

/* NULL when the FDE's instructions and LSDA are of a form that unwind_build moves, else the reason in words. */
const char *unwind_movable(const struct object *o, const struct frames *f, const struct frame_fde *fde);
/* The same, and KNOWN is asked about each old location inside the FDE that a rule, call site or landing pad names: false for one
   that unwind_map.place will not know (no instruction's start) refuses the FDE. */
const char *unwind_check(const struct object *o, const struct frames *f, const struct frame_fde *fde,
                         bool (*known)(void *context, uint64_t old), void *context);
#endif
