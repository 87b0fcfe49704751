/* ranges.c - decodes what may move and what stays, and finds what has to stay for want of rows. */
#include <stdlib.h>
#include "tools/so-gen/gen.h"

void gen_keep(struct gen *g, struct code_range *r, const char *format, uint64_t at)
{
	if (r && !r->why)
		r->why = code_reason(&g->c, format, (unsigned long long)at);
}

static const char unlisted[] = "the relocation table has no row for it";

bool gen_is_padding(const struct gen *g, uint32_t a, uint32_t end)
{
	struct insn insn;
	for (; a < end; a += insn.len)
		if (!g->c.m->decode(code_bytes(&g->c, a, 1), end - a, a, &insn) || insn.kind != INSN_NOP)
			return false;
	return true;
}

typedef VEC(struct code_range) found_ranges;

static void add_ranges(struct gen *g, found_ranges *found)
{
	for (size_t i = 0; i < found->n; i++)
		vec_push(&g->c.ranges, found->v[i]);
	vec_free(found);
	code_sort(&g->c);
}

/* Functions that no row names stay, and are read as others that stay: they too may hold addresses of what moves. */
static void add_unlisted(struct gen *g)
{
	found_ranges found = { 0 };
	for (size_t i = 0; i < g->f.fde_count; i++) {
		uint64_t start = g->f.fdes[i].start, end = start + g->f.fdes[i].size;
		const struct object_section *s = object_section_at(&g->o, start);
		const struct code_range *next = code_range_from(&g->c, start);
		if (start < g->c.lo || end > g->c.hi || start >= end || !object_at(&g->o, start, end - start) || !s
		    || !(s->h.sh_flags & SHF_EXECINSTR) || (next && next->start < end))
			continue;
		struct code_range r = { .start = start, .end = end, .kind = object_section_is_plt(s) ? RANGE_PLT : RANGE_FDE,
			.why = unlisted };
		vec_push(&found, r);
	}
	add_ranges(g, &found);
}

/* Where text is nothing but instructions, what is left between the ranges is code as well. */
static void add_between(struct gen *g)
{
	found_ranges found = { 0 };
	for (size_t i = 1; i < g->o.shnum; i++) {
		const GElf_Shdr *h = &g->o.sections[i].h;
		if (!(h->sh_flags & SHF_EXECINSTR) || !(h->sh_flags & SHF_ALLOC) || h->sh_type == SHT_NOBITS)
			continue;
		uint64_t end = h->sh_addr + h->sh_size, next;
		for (uint64_t a = h->sh_addr; a < end; a = next) {
			const struct code_range *r = code_range_from(&g->c, a);
			uint64_t to = r && r->start < end ? r->start : end;
			next = r && r->end < end ? r->end : end;
			if (to <= a || gen_is_padding(g, a, to))
				continue;
			struct code_range between = { .start = a, .end = to, .kind = RANGE_CODE, .why = unlisted };
			vec_push(&found, between);
		}
	}
	add_ranges(g, &found);
}

static void read_ranges(struct gen *g)
{
	for (size_t i = 0; i < g->rows->ranges.n; i++) {
		const struct code_range *r = &g->rows->ranges.v[i];
		if (r->start >= g->c.lo && r->end <= g->c.hi && r->start < r->end && object_at(&g->o, r->start, r->end - r->start))
			vec_push(&g->c.ranges, *r);
	}
	code_sort(&g->c);
	add_unlisted(g);
	if (g->c.m->through_gp)
		add_between(g);
	for (size_t i = 0; i < g->c.ranges.n; i++)
		if (g->c.ranges.v[i].kind != RANGE_GAP)
			code_sweep(&g->c, &g->c.ranges.v[i]);
	code_check_targets(&g->c);
}

/* Text relocations: the copy would not get what the loader writes. */
static void check_relocations(struct gen *g)
{
	for (size_t i = 0; i < g->relocs.n; i++)
		if (code_in(&g->c, g->relocs.v[i].offset))
			gen_keep(g, code_range_at(&g->c, g->relocs.v[i].offset), "a relocation changes its bytes at 0x%llx", g->relocs.v[i].offset);
}

/* Does an instruction begin there, or stand in a delay slot? */
static bool known(void *context, uint64_t a)
{
	const struct code *c = context;
	return code_starts(c, a) || (c->m->through_gp && !(a & 3) && code_starts(c, a - 4));
}

/* Landing pads of which a row is missing, unwinding rules that cannot be moved: the function stays. */
static void check_frames(struct gen *g)
{
	for (size_t i = 0; i < g->f.fde_count; i++) {
		const struct frame_fde *fde = &g->f.fdes[i];
		struct code_range *r = code_range_at(&g->c, fde->start);
		if (!r || r->why || r->kind == RANGE_PLT)
			continue;
		if (r->start != fde->start || r->end != fde->start + fde->size) {
			r->why = "its unwinding entry covers other bytes";
			continue;
		}
		const char *fault = unwind_check(&g->o, &g->f, fde, known, &g->c);
		if (fault) {
			r->why = code_reason(&g->c, "unwinding: %.150s", fault);
			continue;
		}
		struct lsda l;
		if (!fde->lsda || lsda_read(&l, &g->o, fde))
			continue;
		for (size_t k = 0; k < l.site_count; k++)
			if (l.sites[k].pad && !rows_find(g->rows->pads.v, g->rows->pads.n, l.sites[k].pad))
				gen_keep(g, r, "no row for its landing pad 0x%llx", l.sites[k].pad);
		lsda_free(&l);
	}
}

/* An address in code that something may enter: without a row it is entered in old text, so all of that function has to stay. */
static void check_entry(struct gen *g, uint64_t a)
{
	struct code_range *r = code_starts(&g->c, a) ? code_range_at(&g->c, a) : NULL;
	if (r && !rows_find(g->rows->entries.v, g->rows->entries.n, a))
		gen_keep(g, r, "the relocation table has no row for its entry at 0x%llx", a);
}

/* Each entry of a jump table, too: a jump that is led on may enter what is no block's head. */
static void check_jump(struct gen *g, struct code_range *r, const struct code_end *e)
{
	const struct row_table *t = gen_table(g, e->at);
	if (!t)
		gen_keep(g, r, "the relocation table has no row for its indirect jump at 0x%llx", e->at);
	for (uint32_t k = 0; t && t->base && !r->why && k < t->count; k++)
		if (!rows_find(g->rows->jump_entries.v, g->rows->jump_entries.n, t->at + k * t->width))
			gen_keep(g, r, "the relocation table has no row for the entry of a jump table at 0x%llx", t->at + (uint64_t)k * t->width);
}

/* Code that reads addresses cannot be changed at its old place: functions whose old text may run, because rows are missing, stay. */
void gen_check_rows(struct gen *g)
{
	struct code *c = &g->c;
	const struct rows *rows = g->rows;
	for (size_t i = 0; i < c->ranges.n; i++) {
		struct code_range *r = &c->ranges.v[i];
		if (!r->why)
			check_entry(g, r->start);
		for (uint32_t k = 0; !r->why && k < r->ends_n; k++)
			if (c->ends.v[r->ends + k].kind == INSN_JUMP_INDIRECT)
				check_jump(g, r, &c->ends.v[r->ends + k]);
	}
	/* Words of further GOTs are pages, too, which are entries by chance only. */
	for (size_t i = 0; i < g->relocs.n; i++)
		if (g->relocs.v[i].type == c->m->relative && !code_in_got(c, g->relocs.v[i].offset)
		    && !rows_find(rows->labels.v, rows->labels.n, g->relocs.v[i].offset))
			check_entry(g, (uint64_t)g->relocs.v[i].addend);
	for (size_t i = 0; i < g->dynsyms.n; i++)
		if (g->dynsyms.v[i].section != SHN_UNDEF && (g->dynsyms.v[i].type == STT_FUNC || g->dynsyms.v[i].type == STT_NOTYPE))
			check_entry(g, g->dynsyms.v[i].value);
	for (size_t i = 0; i < rows->refs.n; i++)
		check_entry(g, rows->refs.v[i].text);
}

void gen_ranges(struct gen *g)
{
	read_ranges(g);
	check_relocations(g);
	check_frames(g);
}
