/* frames.h - unwinding tables: .eh_frame's CIEs and FDEs (LSB Core, DWARF 5 section 6.4) and the LSDAs of the Itanium C++
   ABI's personality routines.  Parsed by ourselves over the file image, every length checked; nothing is copied. */
#ifndef ELF_FRAMES_H
#define ELF_FRAMES_H
#include "lib/elf/object.h"

struct frame_cie {
	uint64_t at;			/* link-time address of the CIE's length word */
	const uint8_t *insns;		/* initial instructions */
	size_t insns_size;
	char augmentation[16];		/* "zPLR" */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	uint8_t fde_encoding, lsda_encoding, personality_encoding;	/* DW_EH_PE_*; 0xff: omitted */
	uint64_t personality;		/* link-time address the encoded pointer yields (of the slot when indirect); 0: none */
	bool signal_frame;
};
struct frame_fde {
	uint64_t at;			/* link-time address of the FDE's length word */
	uint64_t start, size;		/* link-time address of the code, bytes */
	uint32_t cie;			/* index in frames.cies */
	const uint8_t *insns;
	size_t insns_size;
	uint64_t lsda;			/* link-time address; 0: none */
};
struct frames {
	struct frame_cie *cies;
	struct frame_fde *fdes;		/* ascending by start; empty ones (size 0) are left out */
	size_t cie_count, fde_count;
	struct frame_fde *others;	/* well-formed but passed over: not over code, or overlapping; kept because old text may need them */
	size_t other_count;
	size_t rejected;		/* records passed over: they lie, are empty, overlap another, or lie outside code */
	const char *fault;		/* why the first of them was (static text), or NULL */
	uint64_t fault_at;
};

/* Reads the object's .eh_frame (found by PT_GNU_EH_FRAME or section name).  An object without one has no FDEs.  A faulty
   record costs that record; a section that cannot be walked further ends there.  Frees with frames_free. */
void frames_read(struct frames *f, const struct object *o);
void frames_free(struct frames *f);
/* The FDE that covers the address, or NULL. */
const struct frame_fde *frames_find(const struct frames *f, uint64_t address);
/* How far the stack pointer is below its value at function entry, where the instruction at the address begins, by the FDE's call
   frame instructions.  False: they do not say it in terms of the stack pointer. */
bool frames_cfa(const struct frames *f, const struct object *o, const struct frame_fde *fde, uint64_t at, int64_t *depth);

/* Reads one pointer in encoding ENC (DW_EH_PE_*) at *p (whose link-time address is AT), advances *p.  Indirect is not followed. False: bad or cut. */
bool frame_pointer(const struct object *o, uint8_t enc, const uint8_t **p, const uint8_t *end, uint64_t at, uint64_t func, uint64_t *value);
bool frame_uleb(const uint8_t **p, const uint8_t *end, uint64_t *value);
bool frame_sleb(const uint8_t **p, const uint8_t *end, int64_t *value);

struct lsda_site { uint64_t start, size, pad, action; };	/* start, pad: link-time addresses; pad 0: none; action: as encoded */
struct lsda {
	uint64_t at;			/* link-time address of the first byte */
	uint8_t ttype_encoding, site_encoding;
	struct lsda_site *sites;
	size_t site_count;
	const uint8_t *actions;		/* the action table's first byte */
	size_t actions_size;
	/* The type table ends at types_end and grows downwards: entry i (i >= 1) lies at types_end - i * its size. */
	uint64_t types_end;
	size_t type_count;		/* entries, found from the largest index that an action uses */
	size_t filter_bytes;		/* bytes of exception-specification lists behind types_end */
};
/* NULL, or the fault in words.  Frees with lsda_free. */
const char *lsda_read(struct lsda *l, const struct object *o, const struct frame_fde *fde);
void lsda_free(struct lsda *l);
#endif
