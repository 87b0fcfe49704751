/* flow.h - a forward walk over one function's blocks with the values of registers, stack slots and proven bounds.  The machine's
   flow functions say what an instruction does; this part makes blocks, merges states and finds the fixed point. */
#ifndef CODE_FLOW_H
#define CODE_FLOW_H
#include "lib/code/code.h"
#include "lib/elf/frames.h"

enum { FLOW_ALTERNATIVES = 64 };

struct flow_block {
	uint32_t at, end;
	int32_t last;			/* index in code.ends or CODE_NONE */
	int32_t to, pad;		/* the block that its branch leads to, that an exception in its call leads to, or CODE_NONE */
	uint8_t visits, ways;		/* how often it was walked; how many ways lead here, as far as is known, 2: more than one */
	bool relevant;			/* an indirect jump may follow */
	bool targeted;			/* something other than the block before it leads here */
	bool after_call;		/* it follows a call, perhaps one that never returns; or such a block that does nothing */
	bool settled;			/* reached from the entry; what was not (padding, code entered from elsewhere) changes nothing here */
	struct flow_state *in;
};
struct flow_walk {
	struct code *c;
	struct code_range *r;
	const struct frames *f;
	const struct frame_fde *fde;	/* of the range, or NULL */
	struct flow_block *blocks;
	size_t n;
	uint64_t *queue;		/* bit i: block i has to be walked */
	uint32_t first;			/* no block below it has */
	uint64_t *labels;		/* bit a - r->start: a jump table leads to a; kept from one search to the next */
	bool returns;			/* the phase in which calls are taken to return everywhere */
	bool again;			/* a label was found where a call's state had come first */
	struct flow_value alternatives[FLOW_ALTERNATIVES];
	unsigned alternative_count;
	/* Called at each indirect jump, or NULL. */
	void (*jump)(struct flow_walk *w, const struct insn *insn, const struct flow_state *s);
	/* Called before each instruction, or NULL. */
	void (*step)(struct flow_walk *w, const struct insn *insn, const uint8_t *p, const struct flow_state *s);
	bool every;			/* all blocks are walked, not only those that an indirect jump may follow */
	struct flow_memory memory;
	void *context;
};

void flow_walk_init(struct flow_walk *w);	/* makes the blocks */
void flow_walk_free(struct flow_walk *w);
void flow_walk_all(struct flow_walk *w);	/* to the fixed point */
void flow_walk_block(struct flow_walk *w, const struct flow_block *b, const struct flow_state *in);
/* Merges the state into that of the block at an address. */
void flow_walk_to(struct flow_walk *w, uint32_t at, const struct flow_state *s);
void flow_state_copy(struct flow_state *to, const struct flow_state *from);
/* What is known where nothing is: only the stack pointer, if the unwinding tables tell.  doubt: the registers may hold anything, table entries too. */
void flow_unknown(const struct flow_walk *w, struct flow_state *s, uint32_t at, bool doubt);
#endif
