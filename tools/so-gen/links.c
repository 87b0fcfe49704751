/* links.c - pairs of load-linked and store-conditional, between which no counting code may stand. */
#include "tools/so-gen/gen.h"

enum { WINDOW = 128 };		/* bytes: from a load-linked to its store */

/* Nothing may stand between the two.  A block that begins there and holds the store is counted behind it, in the same block. */
static void link(struct gen *g, uint32_t load, const struct insn *store)
{
	struct code *c = &g->c;
	uint32_t end = store->at + (store->len == 4 ? 0 : 4);	/* in a delay slot: nothing before the branch either */
	bool begins = false;
	for (uint32_t a = load + c->m->insn_align; a < end; a += c->m->insn_align) {
		if (!code_head(c, a))
			continue;
		bit_set(g->linked, a - c->lo);
		begins |= !bit(g->goes_on, a - c->lo);
	}
	if (begins && store->len == 4 && !code_head(c, store->at)) {
		code_set_head(c, store->at);
		bit_set(g->goes_on, store->at - c->lo);
	}
}

/* A load-linked without a store behind it is no more than a load. */
void gen_links(struct gen *g)
{
	struct code *c = &g->c;
	struct insn insn;
	g->linked = xcalloc((c->hi - c->lo) / 64 + 2, 8);
	for (size_t i = 0; i < c->ranges.n; i++) {
		const struct code_range *r = &c->ranges.v[i];
		uint32_t load = 0;
		for (uint32_t a = r->start; r->swept && !r->why && a < r->end; a += insn.len) {
			if (!c->m->decode(code_bytes(c, a, 1), r->end - a, a, &insn))
				break;
			if ((insn.flags & INSN_LINK_STORE) && load && a - load < WINDOW)
				link(g, load, &insn);
			if (insn.flags & (INSN_LINK_LOAD | INSN_LINK_STORE))
				load = insn.flags & INSN_LINK_LOAD ? a : 0;
		}
	}
}
