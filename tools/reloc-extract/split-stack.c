/* split-stack.c - functions of -fsplit-stack: when the stack runs out they call __morestack, which goes on one byte behind the
   place that it was called from, past a return: nothing may be inserted there. */
#include <string.h>
#include "tools/reloc-extract/extract.h"

/* cmp %fs:0x70, REG: the limit of the stack is compared in no other code. */
static bool compares_limit(const struct code *c, const uint8_t *p, const uint8_t *from, uint32_t a)
{
	return p - from >= 4 && p[-4] == 0x64 && (p[-3] & 0xf8) == 0x48 && p[-2] == 0x3b && code_starts(c, a - 4);
}

void extract_split_stack(struct extract *x)
{
	static const uint8_t limit[] = { 0x25, 0x70, 0, 0, 0 };
	for (size_t i = 0; i < x->c.ranges.n && x->o.eh.e_machine == EM_X86_64; i++) {
		struct code_range *r = &x->c.ranges.v[i];
		const uint8_t *from = code_bytes(&x->c, r->start, r->end - r->start), *end = from + (r->end - r->start), *p = from;
		for (; !r->why && from && (p = memmem(p, end - p, limit, sizeof limit)); p++)
			if (compares_limit(&x->c, p, from, r->start + (p - from)))
				r->why = "a split-stack function, re-entered behind its call for more stack";
	}
}
