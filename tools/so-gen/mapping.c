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
	if (g->o.eh.e_type == ET_EXEC)		/* addresses stand in its code and data as plain numbers */
		return;
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

/* Does the instruction get the address into the call register, and is what reads it there a call, as far as the code goes on? */
static bool only_called(const struct gen *g, uint32_t at)
{
	const struct machine *m = g->c.m;
	const struct code_range *r = code_range_at(&g->c, at);
	regset reads, writes, reg = (regset)1 << m->call_reg;
	struct insn insn;
	for (uint32_t a = at; r && a < r->end; a += insn.len) {
		const uint8_t *p = code_bytes(&g->c, a, 1);
		if (!m->decode(p, r->end - a, a, &insn) || !m->uses(p, insn.len, &reads, &writes))
			return false;
		if (a == at && (writes != reg || (reads & reg) || (insn_ends_block(insn.kind) && insn.kind != INSN_BRANCH)))
			return false;
		if (a != at && (reads & reg))
			return insn.kind == INSN_CALL_INDIRECT || (insn.kind == INSN_JUMP_INDIRECT && m->jump_by_call_reg(p));
		if (a != at && ((writes & reg) || insn.kind == INSN_CALL || !insn_falls_through(insn.kind)))
			return true;
	}
	return true;
}

/* A reference that is not rewritten: unless it is there to be called, the function keeps its old address. */
static void keeps_old(struct gen *g, const struct row_pair *p)
{
	touch(g, p->text);
	if (code_in(&g->c, p->text))
		bit_set(g->entered, p->text - g->c.lo);
	if (!only_called(g, p->at))
		unmap(g, p->text);
}

/* Single instructions do not tell what addresses they obtain.  Where the table has fewer rows than it says, some code that nobody
   knows uses old addresses: so does everybody. */
static void from_missing(struct gen *g)
{
	uint32_t *found = xcalloc(g->c.ranges.n + 1, sizeof *found);
	const struct row_pair *refs = g->rows->refs.v;
	g->missing_refs = 0;
	for (size_t i = 0; i < g->rows->refs.n; i++) {
		const struct code_range *r = code_range_at(&g->c, refs[i].text);
		if (r && !(i && refs[i - 1].at == refs[i].at))
			found[r - g->c.ranges.v]++;
	}
	for (size_t i = 0; i < g->c.ranges.n; i++) {
		const struct code_range *r = &g->c.ranges.v[i];
		if (r->why || found[i] >= r->references)
			continue;
		g->missing_refs += r->references - found[i];
		for (uint32_t a = r->start; a < r->end; a += g->c.m->insn_align)
			unmap(g, a);
	}
	free(found);
}

static void from_addresses(struct gen *g)
{
	struct rewrite w;
	from_missing(g);
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

/* Entries of a table that have no row keep their old target. */
static void from_table(struct gen *g, const struct row_table *t)
{
	for (uint32_t k = 0; t->base && (t->width == 4 || t->width == 8) && k < t->count; k++) {
		const uint8_t *p = object_at(&g->o, t->at + (uint64_t)k * t->width, t->width);
		if (!p)
			return;
		int64_t v = (int64_t)object_word(&g->o, p, t->width);
		touch(g, t->base + (uint64_t)(t->is_signed && t->width == 4 ? (int32_t)v : v) * t->scale);
	}
}

static void from_rows(struct gen *g)
{
	for (size_t i = 0; i < g->rows->jump_entries.n; i++)
		touch(g, g->rows->jump_entries.v[i].text);
	for (size_t i = 0; i < g->rows->tables.n; i++)
		from_table(g, &g->rows->tables.v[i]);
	for (size_t i = 0; i < g->rows->pads.n; i++)
		touch(g, g->rows->pads.v[i].at);
	for (size_t i = 0; i < g->rows->labels.n; i++)
		touch(g, g->rows->labels.v[i].text);
}

/* Dynamic symbols within a function are entries by their old address. */
static void from_symbols(struct gen *g)
{
	for (size_t i = 0; i < g->dynsyms.n; i++)
		if (g->dynsyms.v[i].section != SHN_UNDEF && g->dynsyms.v[i].type != STT_TLS)
			touch(g, g->dynsyms.v[i].value);
}

static uint64_t skip_padding(const struct gen *g, uint64_t a, uint64_t end)
{
	struct insn insn;
	while (a < end && g->c.m->decode(code_bytes(&g->c, a, 1), end - a, a, &insn) && (insn.kind == INSN_NOP || insn.kind == INSN_TRAP))
		a += insn.len;
	return a;
}

/* [a, end) may be code that no row tells of: what could lead to a function's entry lets that stay where it is, and what could
   lead behind one takes away the springboard. */
static void from_unknown_bytes(struct gen *g, uint64_t a, uint64_t end)
{
	for (a = skip_padding(g, a, end); a < end; a++) {
		const uint8_t *p = code_bytes(&g->c, a, end - a);
		touch(g, a + 1 + (uint64_t)(int8_t)p[0]);
		if (end - a < 4)
			continue;
		uint64_t target = a + 4 + (uint64_t)(int32_t)object_word(&g->o, p, 4);
		unmap(g, target);
		touch(g, target);
	}
}

static void from_unknown(struct gen *g)
{
	uint64_t end;
	for (size_t i = 1; i < g->o.shnum && g->c.m->insn_align == 1; i++) {
		const GElf_Shdr *h = &g->o.sections[i].h;
		if (!(h->sh_flags & SHF_EXECINSTR) || !(h->sh_flags & SHF_ALLOC) || h->sh_type == SHT_NOBITS)
			continue;
		for (uint64_t a = h->sh_addr; a < h->sh_addr + h->sh_size; a = end) {
			const struct code_range *r = code_range_from(&g->c, a);
			end = h->sh_addr + h->sh_size;
			if (r && r->start <= a) {
				end = r->end;
				if (!r->swept)
					from_unknown_bytes(g, a, end);
			} else {
				end = r && r->start < end ? r->start : end;
				from_unknown_bytes(g, a, end);
			}
		}
	}
}

static bool jumps_known(const struct gen *g, const struct code_range *r)
{
	for (uint32_t i = 0; i < r->ends_n; i++) {
		const struct code_end *e = &g->c.ends.v[r->ends + i];
		if (e->kind == INSN_JUMP_INDIRECT && !e->pc_pos && !gen_table(g, e->at))
			return false;
	}
	return true;
}

static uint32_t spring_end(const struct gen *g, uint32_t a)
{
	return a + (g->blocks.v[gen_block_at(g, a)].flags & BLOCK_MARK ? g->c.m->mark_size : 0) + (uint32_t)gen_spring_size(g, a);
}

/* Is the old entry surely one entry: no other way into the bytes that the springboard takes? */
static bool spring_fits(const struct gen *g, const struct code_range *r, uint32_t a)
{
	uint32_t end = spring_end(g, a);
	if (g->registers && !(g->registers->dead[gen_block_at(g, a)] >> g->c.m->jump_reg & 1))
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
	g->springs.n = 0;
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
		if (jumps && spring_wanted(g, a) && spring_fits(g, r, a) && (!g->springs.n || a >= spring_end(g, g->springs.v[g->springs.n - 1])))
			vec_push(&g->springs, a);
	}
}

void gen_mapping(struct gen *g)
{
	size_t words = (g->c.hi - g->c.lo) / 64 + 2;
	free(g->mapped);
	free(g->touched);
	g->mapped = xcalloc(words, 8);
	g->touched = xcalloc(words, 8);
	candidates(g);
	from_relocations(g);
	from_code(g);
	if (g->c.m->through_gp)
		from_addresses(g);
	from_rows(g);
	from_symbols(g);
	from_unknown(g);
	find_springs(g);
}

/* A function that keeps its old address is counted through its springboard; without room for one it stays, and is named. */
bool gen_keep_pinned(struct gen *g)
{
	bool changed = false;
	size_t spring = 0;
	for (size_t i = 0; i < g->rows->entries.n; i++) {
		uint32_t a = g->rows->entries.v[i].at;
		while (spring < g->springs.n && g->springs.v[spring] < a)
			spring++;
		bool old = !gen_is_mapped(g, a) || (g->c.m->through_gp && bit(g->entered, a - g->c.lo));
		if (gen_block_at(g, a) == CODE_NONE || !old || (spring < g->springs.n && g->springs.v[spring] == a))
			continue;
		struct code_range *r = code_range_at(&g->c, a);
		if (!r->why)
			r->why = code_reason(&g->c, "it keeps its old address, and at 0x%x there is no room for a jump", a);
		changed = true;
	}
	return changed;
}

uint64_t gen_address(const struct gen *g, uint64_t a)
{
	int32_t k = gen_is_mapped(g, a) ? gen_block_at(g, a) : CODE_NONE;
	return k == CODE_NONE ? a : g->text->address + g->blocks.v[k].new;
}
