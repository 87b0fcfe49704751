/* unwind-parts.h - what the files behind unwind.h share: growing bytes, values to be filled in later, CFI and LSDA moving. */
#ifndef SO_GEN_UNWIND_PARTS_H
#define SO_GEN_UNWIND_PARTS_H
#include <stdlib.h>
#include <string.h>
#include "tools/so-gen/unwind.h"

enum { PE_OMIT = 0xff, PE_PCREL4 = 0x1b, PE_INDIRECT = 0x80, PE_APPLY = 0x70 };

struct bytes { uint8_t *v; size_t n, cap; };
void bytes_add(struct bytes *b, const void *p, size_t n);
void bytes_uleb(struct bytes *b, uint64_t v);
void bytes_sleb(struct bytes *b, int64_t v);
void bytes_word(struct bytes *b, const struct object *o, uint64_t v, unsigned size);
void bytes_align(struct bytes *b, size_t align);
void store_word(const struct object *o, uint8_t *p, uint64_t v, unsigned size);

/* A 4-byte distance from its own place to a value that is known only when the sections have addresses. */
enum unwind_base { BASE_FIXED, BASE_TEXT, BASE_EXCEPT };
struct unwind_patch { uint64_t value; uint32_t at; uint8_t base; bool in_except; };
struct unwind_row { uint64_t start, placed; uint32_t at; bool moved; };

/* What the stack pointer and the return address are called in a machine's unwinding tables. */
struct unwind_machine {
	uint16_t machine;
	int sp, pc;			/* register numbers; pc -1: has none */
	uint8_t ra, cfa_offset;		/* at a function's entry */
	int8_t data_align;
	bool ra_on_stack;
};
const struct unwind_machine *unwind_machine(const struct object *o);

struct unwind_builder {
	const struct object *o;
	const struct frames *f;
	const struct unwind_map *map;
	const struct unwind_machine *machine;
	struct bytes frame, except, scratch;
	VEC(struct unwind_patch) patches;
	VEC(struct unwind_row) rows;
	uint32_t *cie_at;		/* offset of each CIE's copy */
	uint64_t fault_at;
};
void unwind_pointer(struct unwind_builder *b, bool in_except, enum unwind_base base, uint64_t value);

/* One FDE on its way: where it was and where it goes. map NULL: it stays. */
struct unwind_move {
	const struct unwind_map *map;
	const struct frame_fde *fde;
	uint64_t to, to_size;
};
bool unwind_location(const struct unwind_move *m, uint64_t old, uint64_t *to);

struct unwind_known { bool (*known)(void *context, uint64_t old); void *context; };

/* Appends the moved instructions.  NULL or the fault; *fault_at is then the old location. */
const char *cfi_move(struct bytes *to, const struct object *o, const struct frame_cie *cie, const struct unwind_move *m,
                     uint64_t *fault_at);
const char *cfi_check(const struct object *o, const struct frame_cie *cie, const struct frame_fde *fde,
                      const struct unwind_known *known);
bool cfi_has_set_loc(const struct object *o, const struct frame_cie *cie, const struct frame_fde *fde);

/* Appends the moved LSDA to except; *at is its offset. */
const char *lsda_move(struct unwind_builder *b, const struct unwind_move *m, uint64_t *at);
const char *lsda_check(const struct object *o, const struct frame_fde *fde, const struct unwind_known *known);
#endif
