/* words.c - numbers in the object's byte order. */
#include "tools/so-gen/gen.h"

void gen_put(const struct gen *g, void *p, uint64_t v, unsigned bytes)
{
	uint8_t *to = p;
	bool big = g->o.eh.e_ident[EI_DATA] == ELFDATA2MSB;
	for (unsigned i = 0; i < bytes; i++)
		to[i] = v >> 8 * (big ? bytes - 1 - i : i);
}
