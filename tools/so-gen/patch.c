/* patch.c - everything in the original's segments that refers to code: symbols, relocations, words, jump tables, code that stays. */
#include <string.h>
#include "tools/so-gen/gen.h"

/* Where the text address of a relocation is kept: the addend of its entry, or the word itself. */
static uint8_t *reloc_place(struct gen *g, const struct object_reloc *r)
{
	if (r->table == RELOC_RELR || r->table == RELOC_REL)
		return image_at(&g->image, r->offset, g->c.m->word);
	const GElf_Dyn *table = object_dyn(&g->o, r->table == RELOC_PLT ? DT_JMPREL : DT_RELA);
	uint8_t *entry = table ? image_at(&g->image, table->d_un.d_ptr + (uint64_t)r->index * sizeof(Elf64_Rela), sizeof(Elf64_Rela)) : NULL;
	return entry ? entry + offsetof(Elf64_Rela, r_addend) : NULL;
}

static const char *relocations(struct gen *g)
{
	const struct machine *m = g->c.m;
	const struct rows *rows = g->rows;
	for (size_t i = 0; i < g->relocs.n; i++) {
		const struct object_reloc *r = &g->relocs.v[i];
		bool slot = r->type == m->jump_slot;
		if (r->type != m->relative && r->type != m->irelative && !slot)
			continue;
		const struct row_pair *p = rows_find(rows->words.v, rows->words.n, r->offset);
		const struct row_pair *label = rows_find(rows->labels.v, rows->labels.n, r->offset);
		uint64_t to;
		uint8_t *place;
		if (g->init_slot && r->offset == g->init_slot) {
			to = g->text->address + g->init_stub;
			place = reloc_place(g, r);
		} else if (slot) {
			int32_t k = p ? gen_block_at(g, p->text) : CODE_NONE;
			if (k == CODE_NONE || !(place = image_at(&g->image, r->offset, m->word)) || object_word(&g->o, object_at(&g->o, r->offset, m->word), m->word) != p->text)
				continue;
			to = g->text->address + g->blocks.v[k].new;
		} else if (p && p->text == (uint64_t)r->addend && gen_is_mapped(g, p->text)) {
			to = gen_address(g, p->text);
			place = reloc_place(g, r);
		} else if (label && !m->through_gp && label->text == (uint64_t)r->addend && gen_block_at(g, label->text) != CODE_NONE) {
			to = g->text->address + g->blocks.v[gen_block_at(g, label->text)].new;
			place = reloc_place(g, r);
		} else {
			continue;
		}
		if (!place)
			return "a relocation lies outside the file";
		gen_put(g, place, to, m->word);
	}
	return NULL;
}

/* A jump table of code that stays serves that code alone. */
static bool table_moves(const struct gen *g, const struct row_table *t)
{
	const struct code_range *r = code_range_at(&g->c, t->jump);
	return r && !r->why && !g->c.m->through_gp && t->base && (t->width == 4 || t->width == 8) && code_starts(&g->c, t->jump);
}

static const char *jump_tables(struct gen *g)
{
	const struct rows *rows = g->rows;
	for (size_t i = 0; i < rows->tables.n; i++) {
		const struct row_table *t = &rows->tables.v[i];
		if (!table_moves(g, t))
			continue;
		for (uint32_t k = 0; k < t->count; k++) {
			uint32_t at = t->at + k * t->width;
			const struct row_pair *p = rows_find(rows->jump_entries.v, rows->jump_entries.n, at);
			int32_t to = p ? gen_block_at(g, p->text) : CODE_NONE;
			uint8_t *place;
			if (to == CODE_NONE || t->scale != 1 || !(place = image_at(&g->image, at, t->width)))
				continue;
			int64_t distance = (int64_t)(g->text->address + g->blocks.v[to].new - t->base);
			if (t->width == 4 && (t->is_signed ? distance != (int32_t)distance : distance < 0 || distance > UINT32_MAX))
				return "a jump table's entry is out of reach of new text";
			gen_put(g, place, distance, t->width);
		}
	}
	return NULL;
}

/* The GOT's global words stand in for symbols until the loader has looked: a word that is left behind would be called. */
static void got_words(struct gen *g)
{
	const struct code_got *got = &g->c.got;
	for (size_t i = got->first_global; g->c.m->through_gp && i < g->dynsyms.n; i++) {
		uint32_t at = got->local_end + 4 * (uint32_t)(i - got->first_global);
		const struct object_symbol *y = &g->dynsyms.v[i];
		uint8_t *word = at < got->end ? image_at(&g->image, at, 4) : NULL;
		if (word && y->section != SHN_UNDEF && gen_is_mapped(g, y->value) && object_word(&g->o, word, 4) == y->value)
			gen_put(g, word, gen_address(g, y->value), 4);
	}
}

/* In an executable linked to its address no relocation tells of the labels that its jump tables hold. */
static void fixed_labels(struct gen *g)
{
	for (size_t i = 0; g->o.eh.e_type == ET_EXEC && i < g->rows->labels.n; i++) {
		const struct row_pair *p = &g->rows->labels.v[i];
		int32_t to = gen_block_at(g, p->text);
		const uint8_t *old = object_at(&g->o, p->at, 8);
		uint8_t *place = image_at(&g->image, p->at, 8);
		if (to != CODE_NONE && old && place && object_word(&g->o, old, 8) == p->text)
			gen_put(g, place, g->text->address + g->blocks.v[to].new, 8);
	}
}

/* In code that stays: addresses of mapped functions, direct branches into moved code.  In the old text of code that moved the addresses
   alone: it may be entered where rows are missing, and a function has one address there too. */
static void code_that_stays(struct gen *g)
{
	for (size_t i = 0; i < g->c.ranges.n; i++) {
		const struct code_range *r = &g->c.ranges.v[i];
		uint8_t *old = r->swept && r->kind == RANGE_FDE ? image_at(&g->image, r->start, r->end - r->start) : NULL;
		if (!old)
			continue;
		for (uint32_t k = 0; k < r->refs_n; k++) {
			const struct code_ref *ref = &g->c.refs.v[r->refs + k];
			struct insn insn = { .at = ref->at, .len = ref->len, .pc_pos = ref->pc_pos, .pc_size = 4 };
			if ((ref->flags & INSN_ADDRESS) && gen_is_mapped(g, ref->target))
				g->c.m->pc_field(old + (ref->at - r->start), ref->at, &insn, gen_address(g, ref->target));
		}
		for (uint32_t k = 0; r->why && k < r->ends_n; k++) {
			const struct code_end *e = &g->c.ends.v[r->ends + k];
			int32_t to = g->end_block[r->ends + k];
			struct insn insn = code_end_insn(e);
			if (to != CODE_NONE && gen_retargets(r, e))
				g->c.m->pc_field(old + (e->at - r->start), e->at, &insn, g->text->address + g->blocks.v[to].new);
		}
	}
}

static bool has_spring(const struct gen *g, uint32_t a)
{
	size_t lo = 0, hi = g->springs.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (g->springs.v[mid] < a)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->springs.n && g->springs.v[lo] == a;
}

/* Code that is known to be entered by its old address, and is too short for a springboard. */
static bool runs_old(const struct gen *g, const struct code_range *r)
{
	for (size_t i = 0; g->c.m->through_gp && i < g->rows->entries.n; i++) {
		uint32_t a = g->rows->entries.v[i].at;
		if (a >= r->start && a < r->end && (!gen_is_mapped(g, a) || bit(g->entered, a - g->c.lo)) && !has_spring(g, a))
			return true;
	}
	return false;
}

static void old_text(struct gen *g)
{
	for (size_t i = 0; g->options->poison && i < g->c.ranges.n; i++) {
		const struct code_range *r = &g->c.ranges.v[i];
		uint8_t *old = r->why || runs_old(g, r) ? NULL : image_at(&g->image, r->start, r->end - r->start);
		if (old)
			g->c.m->trap(old, r->end - r->start);
	}
	uint32_t stub = g->spring_stubs;
	for (size_t i = 0; i < g->springs.n; i++) {
		const struct block *b = &g->blocks.v[gen_block_at(g, g->springs.v[i])];
		uint32_t at = g->springs.v[i], mark = b->flags & BLOCK_MARK ? g->c.m->mark_size : 0;
		size_t size = gen_spring_size(g, at);
		uint8_t *old = image_at(&g->image, at, mark + size);
		if (old && g->c.m->spring) {
			g->c.m->spring(old, at, g->text->address + stub, at, code_prologue(&g->c, at) != NULL);
		} else if (old) {
			memcpy(old, code_bytes(&g->c, at, mark), mark);
			g->c.m->jump(old + mark, at + mark, g->text->address + stub);
		}
		stub += (g->options->identity ? 0 : b->inserted) + size;
	}
}

static void symbols(struct gen *g, const struct object_symbols *s, void (*edit)(struct image *, size_t, uint64_t, uint16_t, uint64_t))
{
	for (size_t i = 0; i < s->n; i++) {
		const struct object_symbol *y = &s->v[i];
		if (y->section == SHN_UNDEF || y->section >= SHN_LORESERVE || y->type == STT_TLS || y->type == STT_SECTION || y->type == STT_FILE
		    || !gen_is_mapped(g, y->value))
			continue;
		uint64_t size = ~UINT64_C(0), end;
		if (y->size && gen_place(g, y->value + y->size - 1, &end)) {
			const struct code_range *r = code_range_at(&g->c, y->value);
			int32_t last = gen_block_of(g, y->value + y->size - 1);
			if (r && last != CODE_NONE && y->value + y->size <= r->end)
				size = g->blocks.v[last].new + gen_block_bytes(g, &g->blocks.v[last]) - g->blocks.v[gen_block_at(g, y->value)].new;
		}
		edit(&g->image, i, gen_address(g, y->value), g->text->index, size);
	}
}

static const char *constructors(struct gen *g)
{
	const GElf_Dyn *init = object_dyn(&g->o, DT_INIT), *fini = object_dyn(&g->o, DT_FINI);
	if (fini && gen_is_mapped(g, fini->d_un.d_ptr))
		image_dynamic(&g->image, DT_FINI, gen_address(g, fini->d_un.d_ptr));
	if (g->options->identity) {
		if (init && gen_is_mapped(g, init->d_un.d_ptr))
			image_dynamic(&g->image, DT_INIT, gen_address(g, init->d_un.d_ptr));
	} else if (!g->init_slot && !g->init_at_entry && !image_dynamic(&g->image, DT_INIT, g->text->address + g->init_stub)) {
		return "no place for a constructor";
	}
	return NULL;
}

const char *gen_patch(struct gen *g)
{
	const char *fault = relocations(g);
	if (!fault)
		fault = jump_tables(g);
	if (!fault)
		fault = constructors(g);
	if (fault)
		return fault;
	fixed_labels(g);
	code_that_stays(g);
	got_words(g);
	old_text(g);
	symbols(g, &g->dynsyms, image_dynsym);
	symbols(g, &g->symtab, image_symtab);
	if (g->init_at_entry)
		image_entry(&g->image, g->text->address + g->init_stub);
	else if (g->info->is_app && gen_is_mapped(g, g->o.eh.e_entry))
		image_entry(&g->image, gen_address(g, g->o.eh.e_entry));
	return NULL;
}
