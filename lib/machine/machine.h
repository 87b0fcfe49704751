/* machine.h - what the filters need to know about a processor.  One struct machine per folder beside this file, picked by
   the ELF header; one build has them all.  Addresses are link-time addresses unless something else is said. */
#ifndef MACHINE_H
#define MACHINE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_OTHER, INSN_NOP,
	INSN_JUMP,		/* direct, always taken */
	INSN_JUMP_INDIRECT,	/* through a register or memory */
	INSN_BRANCH,		/* direct, falls through when not taken */
	INSN_BRANCH_SHORT,	/* the same, with a short form only (jrcxz, loop) */
	INSN_BRANCH_NEAR,	/* the same, with a near form only (xbegin) */
	INSN_CALL, INSN_CALL_INDIRECT,
	INSN_RETURN,
	INSN_SYSCALL,
	INSN_TRAP,		/* never goes on to the next instruction */
};

enum insn_flag {
	INSN_READS_FLAGS = 1,	/* reads a condition flag that the counting instruction would change */
	INSN_KILLS_FLAGS = 2,	/* writes or leaves undefined all of those without reading one */
	INSN_MARK = 4,		/* an entry mark (endbr64, bti), a store-conditional: nothing may be inserted before it */
	INSN_ADDRESS = 8,	/* obtains the address insn.target (lea), does not read or write there */
	INSN_LOCK = 16,		/* begins with a lock prefix of one byte that a branch may jump over */
	INSN_LINK_LOAD = 32,	/* load-linked: nothing may be inserted until the store */
	INSN_LINK_STORE = 64,
};

struct insn {
	uint64_t at;
	uint8_t len;
	uint8_t kind;		/* enum insn_kind */
	uint8_t flags;		/* enum insn_flag */
	uint8_t pc_pos, pc_size;/* place and size in bytes of the pc-relative field; size 0: none */
	uint64_t target;	/* of a direct jump, branch or call; else the address of the pc-relative operand */
};

/* True for kinds after which a new basic block begins. */
static inline bool insn_ends_block(unsigned kind) { return kind >= INSN_JUMP; }
/* True for kinds that can go on to the next instruction. */
static inline bool insn_falls_through(unsigned kind)
{
	return kind != INSN_JUMP && kind != INSN_JUMP_INDIRECT && kind != INSN_RETURN && kind != INSN_TRAP;
}
static inline bool insn_is_direct(unsigned kind)
{
	return kind == INSN_JUMP || kind == INSN_BRANCH || kind == INSN_BRANCH_SHORT || kind == INSN_BRANCH_NEAR || kind == INSN_CALL;
}

typedef uint64_t regset;	/* bit n: general register n */

/* Values of registers and stack slots, for finding jump tables (lib/code/jump-tables.h has the walk over a function). */
enum flow_kind {
	FLOW_ANY,
	FLOW_CONST,		/* the address a */
	FLOW_FRAME,		/* stack pointer at function entry + a */
	FLOW_PLACE,		/* the address a + an index * scale (0: not known) */
	FLOW_ENTRY,		/* loaded from the table at a */
	FLOW_TARGET,		/* the table's entry + the address b */
	FLOW_MANY,		/* one of the values in the set a of the walk (lib/code/flow.h) */
	FLOW_LESS,		/* 1 if the value of id b is at most max, else 0 */
};
struct flow_value {
	uint8_t kind, width, scale;	/* width: bytes an entry; scale: what an entry is multiplied by */
	bool is_signed;
	uint32_t id;			/* equal ids: equal values */
	uint64_t a, b;			/* FLOW_ANY: a not 0: perhaps made of what a table holds, which is
					   no tail call; b: FLOW_OTHER_FRAME, FLOW_NOTHING */
	uint64_t max;			/* FLOW_ANY: proven upper bound; FLOW_PLACE, FLOW_ENTRY, FLOW_TARGET: of the index; UINT64_MAX: none */
};
/* FLOW_ANY's b: the stack pointer of another frame, just set; a register that nobody gave a value. */
enum { FLOW_OTHER_FRAME = 1, FLOW_NOTHING = 2 };
enum { FLOW_REGS = 32, FLOW_SLOTS = 24, FLOW_FACTS = 8 };
struct flow_slot { int64_t at; struct flow_value value; };		/* at: offset from the stack pointer at entry */
/* What a walk knows about constant words, for machines that load addresses from a table. */
struct flow_memory {
	bool (*constant)(const void *context, uint64_t a, uint64_t *value);	/* a word that holds an address of the object */
	bool (*fixed)(const void *context, uint64_t a, uint64_t *value);	/* a word that nobody writes */
	const void *context;
	uint64_t gp;			/* of the function; 0: not known */
};
struct flow_state {
	const struct flow_memory *memory;
	uint32_t epoch, frame_epoch;	/* of memory and of the frame: loads of one place in one epoch are equal */
	uint8_t slot_count, fact_count;
	struct { uint32_t id; uint64_t bound; bool valid; } compare;	/* the last comparison with a constant */
	struct { uint32_t id; uint64_t max; } facts[FLOW_FACTS];	/* bounds proven by branches */
	struct flow_value regs[FLOW_REGS];
	struct flow_slot slots[FLOW_SLOTS];				/* the last member: states are copied up to the last slot */
};
struct flow_address {
	uint64_t text;
	bool own;			/* the instruction uses the function's own address */
};
enum flow_jump { FLOW_JUMP_UNKNOWN, FLOW_JUMP_TAIL, FLOW_JUMP_TABLE };

/* How a block is counted: which sequence of the machine's, with which free register. */
enum count_form { COUNT_PLAIN, COUNT_FLAGS_FREE_ACC, COUNT_FLAGS_FREE_REG, COUNT_FLAGS_STACK, COUNT_MAKING_GP, COUNT_ON_BASE, COUNT_FORMS };
struct count_how { uint8_t form, reg; bool atomic, gentle; uint64_t gp; };	/* gentle: for processors with load delays; gp: 0: not valid here */
/* What is free at a head. */
struct count_where { regset dead; bool flags_dead, atomic, gentle, makes_gp, has_base; uint64_t gp; };	/* makes_gp: gp shall be valid behind it;
	has_base: jump_reg holds count_base of this counter from the block before */

/* An instruction that a copy will not do for, at its new place: a branch with its delay slot, the reading of a text address. */
enum rewrite_flag {
	REWRITE_FAR = 1,		/* the target is out of a branch's reach */
	REWRITE_ADDRESS = 2,		/* it (or its delay slot) obtains a text address: now `address` */
	REWRITE_TABLE = 4,		/* jump to an old address, to be led on through the word at `places` + that address */
	REWRITE_BY_REGISTER = 8,	/* the target wants its own address in the call register, which holds it */
	REWRITE_GENTLE = 16,		/* for processors with load delays */
};
struct rewrite {
	const uint8_t *p;
	struct insn insn;
	uint8_t what;
	uint64_t target, address, old_address, gp, places;
	regset dead;			/* behind it */
};

enum { PROLOGUE_REACH = 128 };		/* bytes of a function within which its gp is made */
/* Where code computes its gp from its own address, two instructions that hold the distance. */
struct prologue { uint32_t entry, high, low; uint32_t distance, gp; bool in_gp; };	/* in_gp: it goes into the register of that name */

struct machine {
	const char *name;		/* "x86_64" */
	uint16_t e_machine;
	uint8_t elf_class, elf_data;	/* ELFCLASS32 or 64; ELFDATA2LSB or MSB */
	uint8_t word;			/* bytes of an address */
	bool through_gp;		/* code has addresses from the GOT, branches have delay slots, text holds no data, jumps through tables
					   are translated: see rewrite and prologue */
	uint32_t short_reach;		/* of the short form of branches: largest distance */
	uint32_t page;			/* the largest page size its kernels use: alignment of new segments */
	uint32_t relative, irelative, absolute, jump_slot;	/* relocation types */
	uint8_t insn_align, spring_size;	/* alignment of instructions; bytes of a jump that reaches any new text */
	uint8_t mark_size;			/* bytes of an entry mark */
	uint8_t regs, stack_reg;
	const char *const *count_form_names;

	/* Decodes one instruction of at most n bytes; false: none there. */
	bool (*decode)(const uint8_t *p, size_t n, uint64_t at, struct insn *insn);
	/* General registers that the instruction reads and wholly writes. */
	bool (*uses)(const uint8_t *p, size_t n, regset *reads, regset *writes);
	/* Bytes of the direct branch at p in short (near false) or near form; 0: it has no such form. */
	size_t (*branch_size)(const uint8_t *p, const struct insn *insn, bool near);
	/* Writes that form at OUT (address AT) with a new target. */
	void (*branch)(uint8_t *out, uint64_t at, const uint8_t *p, const struct insn *insn, bool near, uint64_t target);
	/* Writes the pc-relative field of a copied instruction; false: out of reach. */
	bool (*pc_field)(uint8_t *insn_at, uint64_t at, const struct insn *insn, uint64_t target);
	void (*jump)(uint8_t *out, uint64_t at, uint64_t target);		/* spring_size bytes */
	size_t (*count_size)(struct count_how how);
	void (*count)(uint8_t *out, uint64_t at, uint64_t counter, struct count_how how);
	/* The cheapest form that is safe where the registers in dead are dead, and the flags if flags_dead. */
	struct count_how (*count_plan)(const struct count_where *where);
	/* What counting by gp leaves in jump_reg, less gp; counters that lie at multiples of the page are told apart by their offset. */
	uint32_t (*count_base)(uint64_t counter, uint64_t gp);
	/* Stack bytes that the form moves the stack pointer down by, [from, to) within the sequence; 0: it does not. */
	unsigned (*count_stack)(struct count_how how, unsigned *from, unsigned *to);
	const char *other_class;	/* why objects of the other ELF class cannot be handled; may be NULL */
	/* Why objects with these header flags cannot be handled, or NULL.  May be NULL. */
	const char *(*refuse)(uint32_t e_flags);
	/* The objects' processors may have load delays. */
	bool (*gentle)(uint32_t e_flags);

	/* through_gp: bytes that the rewritten instruction takes (the same for every address), 0: it cannot be done; OUT may be NULL. */
	size_t (*rewrite)(uint8_t *out, uint64_t at, const struct rewrite *w);
	/* The text address that the instruction obtains where GOT words are as constant tells: the kinds of reference of lw and addiu. */
	bool (*prologue)(const uint8_t *p, size_t n, uint64_t at, struct prologue *prologue);
	void (*prologue_move)(uint8_t *high, uint8_t *low, uint32_t distance);
	/* Does the instruction obtain a text address? */
	bool (*flow_address)(const struct flow_state *s, const uint8_t *p, const struct insn *insn, struct flow_address *a);
	void (*flow_begin)(struct flow_state *s, uint64_t at, bool entry);
	/* Is the form of the instruction that of a reference to text?  Gives the page, or 0 and the word's offset from gp. */
	bool (*address_form)(const uint8_t *p, const struct insn *insn, uint64_t text, bool *whole, int32_t *offset);
	/* A call that surely leaves the object, or goes through a pointer: callee keeps to the ABI. */
	bool (*call_leaves)(const uint8_t *block, size_t n, int32_t *offset);
	/* Does it give gp its value (1) or another (-1)?  slot: where the function keeps it, from gp_slot. */
	int (*makes_gp)(const uint8_t *p, const struct insn *insn, int32_t slot);
	/* The place on the stack where the code keeps gp and nothing else; INT32_MIN: none. */
	int32_t (*gp_slot)(const uint8_t *p, size_t n);
	regset call_kills, call_uses, return_uses, always_live, callee_saved;
	regset gp_reg;
	uint8_t call_reg, jump_reg;
	size_t (*spring)(uint8_t *out, uint64_t at, uint64_t target, uint64_t entry, bool by_register);
	bool (*jump_by_call_reg)(const uint8_t *p);
	/* Writes a jump at the end of a block: far: any distance.  0: no register is free for that. */
	size_t (*join)(uint8_t *out, uint64_t at, uint64_t target, bool far, regset dead);

	void (*pad)(uint8_t *out, size_t n);		/* instructions that do nothing */
	void (*trap)(uint8_t *out, size_t n);

	/* The check behind a system call that may be a fork: goes to stub when the word at address alive is 0. */
	size_t fork_check_size, fork_stub_size, fork_common_size, init_stub_size;
	bool (*may_fork)(const uint8_t *block, size_t n);	/* the block ends with a system call; false: it surely is not a fork */
	void (*fork_check)(uint8_t *out, uint64_t at, uint64_t alive, uint64_t stub);
	void (*fork_stub)(uint8_t *out, uint64_t at, uint64_t common, uint64_t back);
	void (*fork_common)(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t child);
	/* Code that saves what a constructor gets, calls init(private_page, header) and goes on to next (0: returns). */
	void (*init_stub)(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t init, uint64_t next);

	const struct blob { const uint8_t *bytes; size_t size, init, child; } *runtime;

	/* Jump tables: the effect of one instruction; of taking or not taking a conditional branch; what a jump goes to: TAIL
	   through a fixed place, TABLE with that value, UNKNOWN with the value that the register has. */
	void (*flow)(struct flow_state *s, const uint8_t *p, const struct insn *insn);
	void (*flow_edge)(struct flow_state *s, const uint8_t *p, const struct insn *insn, bool taken);
	enum flow_jump (*flow_jump)(const struct flow_state *s, const uint8_t *p, const struct insn *insn, struct flow_value *table);
};

extern const struct machine machine_x86_64, machine_mips, machine_mipsel;
/* The machine of an ELF header, or NULL: then machine_missing says why. */
const struct machine *machine_for(unsigned e_machine, unsigned elf_class, unsigned elf_data);
const char *machine_missing(unsigned e_machine, unsigned elf_class);

/* Helpers for back ends: values of the same id are given the bound. */
void flow_learn(struct flow_state *s, uint32_t id, uint64_t max);
uint64_t flow_known_max(const struct flow_state *s, const struct flow_value *v);
#endif
