/* code.h - the instructions of an object's code ranges, decoded once, kept as bitmaps and two short arrays.
   Link-time addresses are 32 bits wide here: objects that reach beyond 4 GiB are refused. */
#ifndef CODE_CODE_H
#define CODE_CODE_H
#include "lib/base/mem.h"
#include "lib/elf/object.h"
#include "lib/machine/machine.h"

enum { CODE_NONE = -1 };
#define CODE_BEYOND UINT32_C(0xc0000000)	/* no object reaches as far; targets from here on are negative ones */
enum code_range_kind { RANGE_FDE, RANGE_CODE, RANGE_PLT, RANGE_GAP };	/* gap: bytes in a code section that nothing is known to enter */
extern const char *const code_range_kinds[];		/* "fde", "code", "plt", "gap" */

/* Code that moves as a whole or not at all. */
struct code_range {
	uint32_t start, end;
	uint8_t kind;
	bool swept;			/* decoded to the end */
	const char *why;		/* why it may not move; NULL: it may */
	uint32_t references;		/* rows of a table that tell of code which obtains an address in it (through_gp) */
	uint32_t ends, ends_n;		/* its part of code.ends */
	uint32_t refs, refs_n;		/* and of code.refs */
};
/* An instruction that ends a block. */
struct code_end { uint32_t at, target; uint8_t len, kind, flags, pc_pos; };	/* target: direct ones, else of the pc-relative operand, else 0 */
/* An instruction, or one with its delay slot, that obtains a text address through the GOT: the whole word of it, or a page to which it
   adds the rest. */
struct code_address { uint32_t at, target, gp; uint8_t len; bool whole; };
/* Another instruction with a pc-relative operand. */
struct code_ref { uint32_t at, target; uint8_t len, pc_pos, flags, end_of_block; };

struct code {
	const struct object *o;
	const struct machine *m;
	uint32_t lo, hi;		/* all executable sections lie in [lo, hi) */
	uint64_t *starts, *heads;	/* bit a - lo: an instruction starts at a, a block starts at a */
	uint64_t *reads, *kills;	/* the instruction at a reads, kills the flags */
	VEC(struct code_range) ranges;	/* ascending after code_sort */
	VEC(struct code_end) ends;	/* ascending within a range */
	VEC(struct code_ref) refs;
	VEC(uint32_t) splits;		/* heads that a branch over a lock prefix made within an instruction */
	struct arena arena;		/* reasons */
	bool gentle;			/* processors with load delays */
	/* machines with through_gp: */
	VEC(struct code_address) addresses;	/* ascending after code_addresses_sort */
	VEC(struct prologue) prologues;	/* ascending by entry */
	struct code_got {
		uint32_t lo, hi;	/* the section */
		uint32_t local_end, end;/* of the primary GOT: words that are local, all words */
		uint32_t gp, first_global;	/* number of the dynamic symbol of the first global word */
		uint32_t *slots;	/* words of further GOTs that hold addresses of this object, ascending */
		size_t slot_count;
		bool several;
	} got;
};

static inline bool bit(const uint64_t *map, uint32_t i) { return map[i >> 6] >> (i & 63) & 1; }
static inline void bit_set(uint64_t *map, uint32_t i) { map[i >> 6] |= UINT64_C(1) << (i & 63); }
static inline void bit_clear(uint64_t *map, uint32_t i) { map[i >> 6] &= ~(UINT64_C(1) << (i & 63)); }
/* First set bit in [i, end), or end. */
uint32_t bit_next(const uint64_t *map, uint32_t i, uint32_t end);

static inline bool code_in(const struct code *c, uint64_t a) { return a >= c->lo && a < c->hi; }
static inline bool code_starts(const struct code *c, uint64_t a) { return code_in(c, a) && bit(c->starts, a - c->lo); }
static inline bool code_head(const struct code *c, uint64_t a) { return code_in(c, a) && bit(c->heads, a - c->lo); }
static inline void code_set_head(struct code *c, uint32_t a) { bit_set(c->heads, a - c->lo); }

/* got.c.  Reads where the GOTs are (code_init does it but for the relocated words of further GOTs). */
void code_got(struct code *c);
void code_got_slots(struct code *c, const struct object_relocs *relocs);
/* Of an object without relocations that tell of addresses in it (one that was linked to a fixed address): adds its data words that lie
   strictly between the lowest and the highest address of code, as the patent's detector 42 finds them, to the relocations. */
void code_scan_words(const struct code *c, struct object_relocs *relocs);
/* The value of a GOT word that holds an address of this object (a constant, for flow_memory). */
bool code_constant(const void *code, uint64_t a, uint64_t *value);
/* The value of a word in a segment that is not written (fixed, for flow_memory). */
bool code_fixed(const void *code, uint64_t a, uint64_t *value);
static inline bool code_in_got(const struct code *c, uint64_t a) { return a >= c->got.lo && a < c->got.hi; }
/* Notes the gp prologue at a function entry, if there is one. */
void code_find_prologue(struct code *c, const struct code_range *r, uint32_t entry);
void code_prologues_sort(struct code *c);
const struct prologue *code_prologue(const struct code *c, uint32_t entry);
void code_addresses_sort(struct code *c);
const struct code_address *code_address(const struct code *c, uint32_t at);

/* NULL, or why the object's code cannot be handled. */
const char *code_init(struct code *c, const struct object *o);
void code_free(struct code *c);
/* Forgets ranges and all that was decoded. */
void code_reset(struct code *c);
/* Adds a range (not yet decoded); the caller has checked that it lies in the file. */
void code_add(struct code *c, uint64_t start, uint64_t size, enum code_range_kind kind, const char *why);
/* Sorts ranges; of two that overlap the later one is cut out with a reason. */
void code_sort(struct code *c);
/* Decodes a range from its start to its end and marks heads.  False: why is set, nothing of it is kept. */
bool code_sweep(struct code *c, struct code_range *r);
/* Finds direct branches into the middle of an instruction: behind a lock prefix they become splits, otherwise the range they
   lead to may not move.  To be called when all ranges were swept and sorted. */
void code_check_targets(struct code *c);
/* The first range that ends behind a, or NULL; the range that contains a, or NULL (ranges sorted). */
struct code_range *code_range_from(const struct code *c, uint64_t a);
struct code_range *code_range_at(const struct code *c, uint64_t a);
/* A reason in words, kept in the code's arena. */
const char *code_reason(struct code *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
const uint8_t *code_bytes(const struct code *c, uint32_t a, uint32_t n);
/* Index in ends of the first end at or after a within the range, or the range's last + 1. */
uint32_t code_end_from(const struct code *c, const struct code_range *r, uint32_t a);
/* The instruction of an end, as machine.decode would give it. */
struct insn code_end_insn(const struct code_end *e);
#endif
