/* go.c - code of Go: its runtime finds the frame of every address in tables of its own (.gopclntab) and stops at one that it does not
   know.  What C compilers made has unwinding entries; what has none in an object with Go in it is Go's. */
#include <string.h>
#include "tools/reloc-extract/extract.h"

void extract_go(struct extract *x)
{
	bool go = false;
	for (size_t i = 1; i < x->o.shnum; i++)		/* the tables themselves are in .data.rel.ro when Go is linked by ld as PIE */
		go |= !strcmp(x->o.sections[i].name, ".go.buildinfo") || !strcmp(x->o.sections[i].name, ".gopclntab");
	bool before = false;
	for (size_t i = 0; i < x->c.ranges.n && go; i++) {
		struct code_range *r = &x->c.ranges.v[i];
		if ((r->kind == RANGE_CODE || before) && !r->why)	/* the end of Go's code is the beginning of what follows it */
			r->why = "the Go runtime looks its addresses up";
		before = r->kind == RANGE_CODE;
	}
}
