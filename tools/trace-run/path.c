/* path.c - the way that a trace takes through the bytecode. */
#include "tools/trace-run/path.h"
#include <string.h>
#include "tools/trace-run/prototypes.h"
#include "tools/trace-run/vm.h"

enum { BIASED = 0x8000, STEPS = 150, BRANCHES = 8 };

struct search {
	const uint32_t *low, *high, *wanted;
	const uint32_t *branches[BRANCHES];	/* not yet followed */
	unsigned n, steps;
	const uint32_t *other;		/* behind what was found: where the trace goes on */
};

static const uint32_t *jump(const uint32_t *pc, uint32_t instruction)
{
	return pc + 1 + (int32_t)(instruction >> 16) - BIASED;
}

static void later(struct search *s, const uint32_t *pc)
{
	if (s->n < BRANCHES)
		s->branches[s->n++] = pc;
}

/* A branch at pc goes to one or to the other.  True: the wanted one is where the trace does not go. */
static bool branches(struct search *s, const uint32_t *one, const uint32_t *other)
{
	if (s->wanted != one && s->wanted != other)
		return false;
	s->other = s->wanted == one ? other : one;
	return true;
}

/* Follows the code from pc.  Returns what the wanted PC's snapshot is for, or NULL when it is not on this way. */
static const uint32_t *follow(struct search *s, const uint32_t *pc)
{
	while (pc >= s->low && pc + 1 < s->high && s->steps++ < STEPS) {
		uint32_t instruction = vm_instruction(pc), op = instruction & 0xff;

		if (pc == s->wanted)
			return s->other = pc;
		if (op <= VM_LAST_COMPARISON) {
			const uint32_t *to = jump(pc + 1, pc[1]);

			/* Of a test for truth only the type is guarded, elsewhere. */
			if (op <= VM_LAST_GUARDED && branches(s, pc + 2, to))
				return pc;
			later(s, to);
			pc += 2;
		} else if (op == VM_FORI || op == VM_JFORI || op == VM_FORL || op == VM_IFORL) {
			if (branches(s, pc + 1, jump(pc, instruction)))
				return pc;
			later(s, jump(pc, instruction));
			pc++;
		} else if (op == VM_JMP || op == VM_ISNEXT) {
			pc = jump(pc, instruction);
		} else if (op == VM_ITERL || op == VM_IITERL) {
			later(s, jump(pc, instruction));
			pc++;
		} else if (op >= VM_FIRST_RETURN && op <= VM_LAST_RETURN) {
			return NULL;
		} else {
			pc++;
		}
	}
	return NULL;
}

static const uint32_t *search(struct search *s, const uint32_t *from)
{
	const uint32_t *found;

	while (!(found = follow(s, from)) && s->n)
		from = s->branches[--s->n];
	return found;
}

/* Where the trace is before the snapshot, or NULL. */
static const uint32_t *before(const struct path *p, const uint32_t *const *at, size_t n, const uint32_t *start)
{
	size_t common = n < p->n ? n : p->n;

	if (!p->n)
		return NULL;
	/* The calls around both are the same? */
	if (memcmp(at + n - common + 1, p->at + p->n - common + 1, (common - 1) * sizeof *at))
		return start;
	if (n < p->n)
		return p->at[p->n - n] + 1;
	if (n > p->n)
		return start;
	return prototypes_at(p->at[0]).prototype == prototypes_at(at[0]).prototype ? p->cursor : start;
}

const uint32_t *path_next(struct path *p, const uint32_t *const *at, size_t n)
{
	struct search s = { .wanted = at[0] };
	const uint32_t *from, *found = NULL;

	if (prototypes_bounds(at[0], &s.low, &s.high)) {
		from = before(p, at, n, s.low);
		if (from)
			found = search(&s, from);
	}
	p->cursor = found ? s.other : at[0];
	memcpy(p->at, at, n * sizeof *at);
	p->n = n;
	return found ? found : at[0];
}
