/* mapping.c - a function has one address: which entries get one in new text, which keep the old one everywhere. */
#include <stdlib.h>
#include "lib/base/msg.h"
#include "tools/so-gen/gen.h"

static void unmap(struct gen *g, uint64_t a)
{
	if (code_in(&g->c, a))
		bit_clear(g->mapped, a - g->c.lo);
}

static void touch(struct gen *g, uint64_t a)
{
	if (code_in(&g->c, a))
		bit_set(g->touched, a - g->c.lo);
}

/* An entry of which the table permits a new address, in code that moves. */
static void candidates(struct gen *g)
{
	for (size_t i = 0; i < g->rows->entries.n; i++) {
		uint32_t a = g->rows->entries.v[i].at;
		if (gen_block_at(g, a) != CODE_NONE)
			bit_set(g->mapped, a - g->c.lo);
	}
}

static void from_relocations(struct gen *g)
{
	const struct machine *m = g->c.m;
	const struct rows *rows = g->rows;
	for (size_t i = 0; i < g->relocs.n; i++) {
		const struct object_reloc *r = &g->relocs.v[i];
		if (r->type == m->relative || r->type == m->irelative) {
			uint64_t text = (uint64_t)r->addend;
			if (!code_in(&g->c, text))
				continue;
			const struct row_pair *p = rows_find(rows->words.v, rows->words.n, r->offset);
			if (!p || p->text != text)
				unmap(g, text);
			touch(g, text);
		} else if (r->type == m->absolute && r->addend && r->symbol < g->dynsyms.n) {
			unmap(g, g->dynsyms.v[r->symbol].value);
			touch(g, g->dynsyms.v[r->symbol].value + (uint64_t)r->addend);
		}
	}
}

static void from_code(struct gen *g)
{
	for (size_t i = 0; i < g->c.refs.n; i++) {
		const struct code_ref *ref = &g->c.refs.v[i];
		if (!code_in(&g->c, ref->target))
			continue;
		const struct row_pair *p = rows_find(g->rows->refs.v, g->rows->refs.n, ref->at);
		if (!p || p->text != ref->target || !(ref->flags & INSN_ADDRESS))
			unmap(g, ref->target);
		touch(g, ref->target);
	}
	for (size_t i = 0; i < g->c.ends.n; i++)
		if (insn_is_direct(g->c.ends.v[i].kind))
			touch(g, g->c.ends.v[i].target);
}

/* A reference that is not rewritten: unless it is there to be called, the function keeps its old address. */
static void keeps_old(struct gen *g, const struct row_pair *p)
{
	const struct code_range *r = code_range_at(&g->c, p->at);
	const uint8_t *bytes = r ? code_bytes(&g->c, p->at, 4) : NULL;
	struct insn insn;
	regset reads, writes;
	touch(g, p->text);
	if (code_in(&g->c, p->text))
		bit_set(g->entered, p->text - g->c.lo);
	if (bytes && g->c.m->decode(bytes, r->end - p->at, p->at, &insn) && insn.len == 4 && g->c.m->uses(bytes, 4, &reads, &writes)
	    && writes == (regset)1 << g->c.m->call_reg)
		return;
	unmap(g, p->text);
}

static void from_addresses(struct gen *g)
{
	struct rewrite w;
	for (size_t i = 0; i < g->rows->refs.n; i++) {
		const struct row_pair *p = &g->rows->refs.v[i];
		int32_t k = gen_block_of(g, p->at);
		if (k == CODE_NONE || g->block_address[k] == CODE_NONE || g->c.addresses.v[g->block_address[k]].at != p->at)
			keeps_old(g, p);
	}
	for (size_t i = 0; i < g->blocks.n; i++) {
		const struct code_address *a = g->block_address[i] != CODE_NONE ? &g->c.addresses.v[g->block_address[i]] : NULL;
		if (!a || (gen_is_mapped(g, a->target) && gen_tail(g, i, &w) && g->c.m->rewrite(NULL, 0, &w)))
			continue;
		if (gen_is_mapped(g, a->target))
			keeps_old(g, &(struct row_pair){ a->at, a->target });
		g->block_address[i] = CODE_NONE;
	}
}

static void from_rows(struct gen *g)
{
	for (size_t i = 0; i < g->rows->jump_entries.n; i++)
		touch(g, g->rows->jump_entries.v[i].text);
	for (size_t i = 0; i < g->rows->pads.n; i++)
		touch(g, g->rows->pads.v[i].at);
}

/* Dynamic symbols within a function are entries by their old address. */
static void from_symbols(struct gen *g)
{
	for (size_t i = 0; i < g->dynsyms.n; i++)
		if (g->dynsyms.v[i].section != SHN_UNDEF && g->dynsyms.v[i].type != STT_TLS)
			touch(g, g->dynsyms.v[i].value);
}

static bool jumps_known(const struct gen *g, const struct code_range *r)
{
	size_t k = 0;
	const struct rows *rows = g->rows;
	for (uint32_t i = 0; i < r->ends_n; i++) {
		const struct code_end *e = &g->c.ends.v[r->ends + i];
		if (e->kind != INSN_JUMP_INDIRECT || e->pc_pos || (g->c.m->through_gp && g->c.m->jump_by_call_reg(code_bytes(&g->c, e->at, 4))))
			continue;
		size_t lo = 0, hi = rows->tables.n;
		while (lo < hi) {
			k = (lo + hi) / 2;
			if (rows->tables.v[k].jump < e->at)
				lo = k + 1;
			else
				hi = k;
		}
		if (lo == rows->tables.n || rows->tables.v[lo].jump != e->at)
			return false;
	}
	return true;
}

/* Is the old entry surely one entry: no other way into the bytes that the springboard takes? */
static bool spring_fits(const struct gen *g, const struct code_range *r, uint32_t a)
{
	int32_t k = gen_block_at(g, a);
	uint32_t skip = g->blocks.v[k].flags & BLOCK_MARK ? g->c.m->mark_size : 0;
	uint32_t end = a + skip + gen_spring_size(g, a);
	if (g->registers && !(g->registers->dead[k] >> g->c.m->jump_reg & 1))
		return false;
	if (r->end < end)
		return false;
	for (uint32_t i = a + 1; i < end; i++)
		if (bit(g->touched, i - g->c.lo) || gen_is_mapped(g, i))
			return false;
	return true;
}

/* With poison, an entry that is mapped everywhere gets traps instead: whoever still enters it is found at once. */
static bool spring_wanted(const struct gen *g, uint32_t a)
{
	return !g->options->poison || !gen_is_mapped(g, a) || bit(g->entered, a - g->c.lo);
}

static void find_springs(struct gen *g)
{
	const struct code_range *known = NULL;
	bool jumps = false;
	for (size_t i = 0; i < g->rows->entries.n; i++) {
		uint32_t a = g->rows->entries.v[i].at;
		if (gen_block_at(g, a) == CODE_NONE)
			continue;
		const struct code_range *r = code_range_at(&g->c, a);
		if (r != known)
			jumps = jumps_known(g, r);
		known = r;
		if (jumps && spring_wanted(g, a) && spring_fits(g, r, a) && (!g->springs.n || a >= g->springs.v[g->springs.n - 1] + gen_spring_size(g, g->springs.v[g->springs.n - 1]) + g->c.m->mark_size))
			vec_push(&g->springs, a);
	}
}

void gen_mapping(struct gen *g)
{
	size_t words = (g->c.hi - g->c.lo) / 64 + 2;
	g->mapped = xcalloc(words, 8);
	g->touched = xcalloc(words, 8);
	candidates(g);
	from_relocations(g);
	from_code(g);
	if (g->c.m->through_gp)
		from_addresses(g);
	from_rows(g);
	from_symbols(g);
	for (size_t i = 0; g->c.m->through_gp && i < g->rows->entries.n; i++)
		if (gen_block_at(g, g->rows->entries.v[i].at) != CODE_NONE && !gen_is_mapped(g, g->rows->entries.v[i].at))
			msg_detail(g->o.path, "0x%x keeps its old address", g->rows->entries.v[i].at);
	find_springs(g);
}

uint64_t gen_address(const struct gen *g, uint64_t a)
{
	int32_t k = gen_is_mapped(g, a) ? gen_block_at(g, a) : CODE_NONE;
	return k == CODE_NONE ? a : g->text->address + g->blocks.v[k].new;
}
