/* report.c - says what stayed as it was, and why. */
#include "lib/base/msg.h"
#include "tools/so-gen/gen.h"

enum { NAMED = 8 };		/* functions a message each; -v names all */

static void functions(const struct gen *g)
{
	size_t n = 0;
	for (size_t i = 0; i < g->c.ranges.n; i++) {
		const struct code_range *r = &g->c.ranges.v[i];
		if (r->kind == RANGE_GAP)	/* named in the stream and in the report */
			continue;
		if (r->why && ++n <= NAMED)
			msg_warn(g->o.path, "0x%x, %u bytes, not moved: %s", r->start, r->end - r->start, r->why);
		else if (r->why)
			msg_detail(g->o.path, "0x%x, %u bytes, not moved: %s", r->start, r->end - r->start, r->why);
	}
	if (n > NAMED)
		msg_warn(g->o.path, "%zu functions not moved in all, %llu of %llu bytes (-v names them)", n,
		         (unsigned long long)g->kept_bytes, (unsigned long long)(g->kept_bytes + g->moved_bytes));
}

static bool is_entry(const struct gen *g, uint64_t a)
{
	return code_in(&g->c, a) && rows_find(g->rows->entries.v, g->rows->entries.n, a) && gen_block_at(g, a) != CODE_NONE;
}

/* What a row in an edited table may lack, in code that moves. */
struct missing { unsigned entries, words, refs, jumps, targets; };

static void missing_in_code(const struct gen *g, struct missing *n)
{
	const struct rows *rows = g->rows;
	for (size_t i = 0; i < g->c.ranges.n; i++) {
		const struct code_range *r = &g->c.ranges.v[i];
		if (!r->why && r->kind == RANGE_FDE && !is_entry(g, r->start)) {
			n->entries++;
			msg_detail(g->o.path, "0x%x: no row for this entry: it is not counted when entered by its address", r->start);
		}
		for (uint32_t k = 0; !r->why && k < r->ends_n; k++) {
			const struct code_end *e = &g->c.ends.v[r->ends + k];
			if (e->kind != INSN_JUMP_INDIRECT || e->pc_pos || gen_table(g, e->at))
				continue;
			n->jumps++;
			msg_detail(g->o.path, "0x%x: no row for this indirect jump: what it enters by old addresses is not counted", e->at);
		}
	}
	for (size_t i = 0; i < g->c.refs.n; i++) {
		const struct code_ref *ref = &g->c.refs.v[i];
		n->refs += (ref->flags & INSN_ADDRESS) && is_entry(g, ref->target) && !rows_find(rows->refs.v, rows->refs.n, ref->at);
	}
}

static void missing_in_data(const struct gen *g, struct missing *n)
{
	const struct rows *rows = g->rows;
	for (size_t i = 0; i < g->relocs.n; i++) {
		const struct object_reloc *r = &g->relocs.v[i];
		if ((r->type == g->c.m->relative || r->type == g->c.m->irelative) && gen_block_at(g, (uint64_t)r->addend) != CODE_NONE)
			n->words += !rows_find(rows->words.v, rows->words.n, r->offset) && !rows_find(rows->labels.v, rows->labels.n, r->offset);
	}
	for (size_t i = 0; i < rows->tables.n; i++) {
		const struct row_table *t = &rows->tables.v[i];
		const struct code_range *r = code_range_at(&g->c, t->jump);
		for (uint32_t k = 0; r && !r->why && t->base && k < t->count && object_at(&g->o, t->at + (uint64_t)k * t->width, 1); k++)
			n->targets += !rows_find(rows->jump_entries.v, rows->jump_entries.n, t->at + k * t->width);
	}
}

static void rows_missing(const struct gen *g)
{
	struct missing n = { .refs = g->missing_refs };
	missing_in_code(g, &n);
	missing_in_data(g, &n);
	if (n.entries | n.words | n.refs | n.jumps | n.targets)
		msg_warn(g->o.path, "no rows for %u function entries, %u addresses in data, %u in code, %u indirect jumps, %u table entries: these stay",
		         n.entries, n.words, n.refs, n.jumps, n.targets);
}

void gen_report(const struct gen *g)
{
	functions(g);
	rows_missing(g);
	msg_detail(g->o.path, "%zu blocks, %zu springboards, %llu bytes of old code in %u of new", g->blocks.n, g->springs.n,
	           (unsigned long long)g->moved_bytes, g->text_size);
	msg_detail(g->o.path, "%llu of %llu bytes that unwinding entries cover moved", (unsigned long long)g->fde_moved,
	           (unsigned long long)(g->fde_moved + g->fde_kept));
	for (int i = 0; i < COUNT_FORMS && g->c.m->count_form_names[i] && !g->options->identity; i++)
		msg_detail(g->o.path, "%u blocks counted by %s", g->forms[i], g->c.m->count_form_names[i]);
}
