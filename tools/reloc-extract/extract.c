/* extract.c - the analysis of one object, step by step, and its rows. */
#include <stdlib.h>
#include <string.h>
#include "formats/relocations.h"
#include "tools/reloc-extract/extract.h"

enum { LABEL_NEAR = 4096 };	/* bytes: how far apart the parts of one hand-written function lie at the most */

static int by_offset(const void *a, const void *b)
{
	const struct object_reloc *x = a, *y = b;
	return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : 0;
}

static void add_fde_ranges(struct extract *x)
{
	for (size_t i = 0; i < x->f.fde_count; i++) {
		const struct frame_fde *fde = &x->f.fdes[i];
		if (!code_in(&x->c, fde->start) || fde->start + fde->size > x->c.hi || !object_at(&x->o, fde->start, fde->size))
			continue;
		const struct object_section *s = object_section_at(&x->o, fde->start);
		if (!s || !(s->h.sh_flags & SHF_EXECINSTR))
			continue;
		const char *why = x->f.cies[fde->cie].signal_frame ? "a signal-return stub" : NULL;
		code_add(&x->c, fde->start, fde->size, object_section_is_plt(s) ? RANGE_PLT : RANGE_FDE, why);
	}
	for (size_t i = 1; i < x->o.shnum; i++) {	/* linkers that write no FDE for their PLT */
		const struct object_section *s = &x->o.sections[i];
		if (object_section_is_plt(s) && (s->h.sh_flags & SHF_EXECINSTR) && s->h.sh_type == SHT_PROGBITS && s->h.sh_size
		    && !frames_find(&x->f, s->h.sh_addr))
			code_add(&x->c, s->h.sh_addr, s->h.sh_size, RANGE_PLT, NULL);
	}
}

static void sweep(struct extract *x)
{
	for (size_t i = 0; i < x->c.ranges.n; i++) {
		struct code_range *r = &x->c.ranges.v[i];
		if (code_sweep(&x->c, r) && r->kind != RANGE_PLT)
			bit_set(x->entries, r->start - x->c.lo);
	}
}

/* Function symbols that begin inside a range are entries too. */
void extract_symbol_entries(struct extract *x)
{
	for (int t = 0; t < 2; t++) {
		const struct object_symbols *s = t ? &x->symtab : &x->dynsyms;
		for (size_t i = 0; i < s->n; i++) {
			const struct object_symbol *y = &s->v[i];
			struct code_range *r;
			if (t == 0 && y->section == SHN_UNDEF && y->value && (r = code_range_at(&x->c, y->value)) && r->kind == RANGE_PLT
			    && code_starts(&x->c, y->value))
				extract_set_entry(x, y->value);		/* a fixed executable's own address for a function of another object */
			if (y->section == SHN_UNDEF || y->section >= SHN_LORESERVE || y->type == STT_TLS || y->type == STT_SECTION || y->type == STT_FILE
			    || !(r = code_range_at(&x->c, y->value)))
				continue;
			if (t == 1 && y->type != STT_FUNC && y->type != STT_GNU_IFUNC)
				continue;	/* local labels */
			if (y->type == STT_OBJECT && !r->why)
				r->why = code_reason(&x->c, "the data object %.80s lies in it", y->name);
			else if (!code_starts(&x->c, y->value) && !r->why)
				r->why = code_reason(&x->c, "the symbol %.80s begins within an instruction", y->name);
			else if (code_starts(&x->c, y->value) && r->kind != RANGE_PLT)
				extract_set_entry(x, y->value);
		}
	}
}

void extract_landing_pads(struct extract *x)
{
	for (size_t i = 0; i < x->f.fde_count; i++) {
		const struct frame_fde *fde = &x->f.fdes[i];
		struct code_range *r;
		if (!fde->lsda || !(r = code_range_at(&x->c, fde->start)))
			continue;
		struct lsda l;
		const char *fault = lsda_read(&l, &x->o, fde);
		if (fault) {
			if (!r->why)
				r->why = code_reason(&x->c, "its LSDA: %.120s", fault);
			continue;
		}
		for (size_t k = 0; k < l.site_count; k++) {
			uint64_t pad = l.sites[k].pad;
			if (!pad)
				continue;
			if (code_starts(&x->c, pad) && pad >= r->start && pad < r->end) {
				if (!code_head(&x->c, pad) || !x->pads.n || x->pads.v[x->pads.n - 2] != pad) {
					vec_push(&x->pads, (uint32_t)pad);
					vec_push(&x->pads, (uint32_t)fde->start);
				}
				code_set_head(&x->c, pad);
			} else if (!r->why) {
				r->why = "a landing pad outside its instructions";
			}
		}
		lsda_free(&l);
	}
}

static int by_jump(const void *a, const void *b)
{
	const struct jump_table *x = a, *y = b;
	return x->jump != y->jump ? (x->jump < y->jump ? -1 : 1) : 0;
}

const struct jump_table *extract_table_of(const struct extract *x, uint32_t jump)
{
	struct jump_table key = { .jump = jump };
	return x->tables.n ? bsearch(&key, x->tables.v, x->tables.n, sizeof key, by_jump) : NULL;
}

/* Does code near `at` obtain an address in code that was not found to be code?  (Where to go on in an unrolled loop, say.) */
static bool loose_label_near(const struct extract *x, uint32_t at)
{
	for (size_t i = 0; i < x->c.refs.n; i++) {
		const struct code_ref *ref = &x->c.refs.v[i];
		const struct code_range *r;
		if (!(ref->flags & INSN_ADDRESS) || !code_in(&x->c, ref->target) || extract_is_entry(x, ref->target)
		    || ref->at > at + LABEL_NEAR || at > ref->at + LABEL_NEAR)
			continue;
		if (!(r = code_range_at(&x->c, ref->at)) || r->kind == RANGE_CODE)
			return true;
	}
	return false;
}

/* Code that no FDE delimits may be a part of a function whose other parts were not found: what looks like a tail call can
   lead to those. */
static void loose_jumps(struct extract *x)
{
	for (size_t i = 0; i < x->c.ranges.n; i++) {
		struct code_range *r = &x->c.ranges.v[i];
		for (uint32_t k = 0; r->kind == RANGE_CODE && !r->why && k < r->ends_n; k++) {
			const struct code_end *e = &x->c.ends.v[r->ends + k];
			if (e->kind == INSN_JUMP_INDIRECT && !e->pc_pos && loose_label_near(x, e->at) && !extract_table_of(x, e->at))
				r->why = code_reason(&x->c, "an indirect jump at 0x%x, in code without an unwinding entry", e->at);
		}
	}
}

void extract_tables(struct extract *x)
{
	struct jump_context context = { .frames = &x->f, .slot = extract_slot, .slots = x };
	VEC(uint64_t) words = { 0 };
	for (size_t i = 0; i < x->relocs.n; i++)
		if (x->relocs.v[i].type == x->c.m->relative)
			vec_push(&words, (uint64_t)x->relocs.v[i].addend);
	for (int t = 0; t < 2; t++) {
		const struct object_symbols *s = t ? &x->symtab : &x->dynsyms;
		for (size_t i = 0; i < s->n; i++)
			if (s->v[i].section != SHN_UNDEF)
				vec_push(&words, s->v[i].value);
	}
	for (size_t i = 1; i < x->o.shnum; i++)
		if (x->o.sections[i].h.sh_flags & SHF_ALLOC) {
			vec_push(&words, x->o.sections[i].h.sh_addr);
			vec_push(&words, x->o.sections[i].h.sh_addr + x->o.sections[i].h.sh_size);
		}
	jump_marks(&context, &x->c, words.v, words.n);
	vec_free(&words);
	for (size_t i = 0; i < x->c.ranges.n; i++)
		code_find_tables(&x->c, &x->c.ranges.v[i], &x->tables, &context);
	free(context.marks);
	code_cut_tables(&x->c, &x->tables);
	if (x->tables.n)
		qsort(x->tables.v, x->tables.n, sizeof *x->tables.v, by_jump);
}

const char *extract_object(struct extract *x)
{
	const char *fault = code_init(&x->c, &x->o);
	if (fault)
		return fault;
	if (object_is_profiled(&x->o))
		return "it is a profiled object already";
	if (!x->o.dynnum)
		return "no dynamic section";
	x->entries = xcalloc((x->c.hi - x->c.lo) / 64 + 2, 8);
	frames_read(&x->f, &x->o);
	x->relocs = object_relocs(&x->o);
	if (x->c.m->through_gp)
		code_scan_words(&x->c, &x->relocs);
	x->dynsyms = object_dynsyms(&x->o);
	x->symtab = object_symtab(&x->o);
	if (x->relocs.n)
		qsort(x->relocs.v, x->relocs.n, sizeof *x->relocs.v, by_offset);
	if (x->c.m->through_gp) {
		code_got_slots(&x->c, &x->relocs);
		extract_plain(x);
		extract_addresses(x);
		return NULL;
	}
	add_fde_ranges(x);
	code_sort(&x->c);
	sweep(x);
	extract_gaps(x);
	code_check_targets(&x->c);
	extract_symbol_entries(x);
	extract_landing_pads(x);
	extract_tables(x);
	extract_split_stack(x);
	extract_runtimes(x);
	loose_jumps(x);
	extract_addresses(x);
	extract_name_holes(x);
	return NULL;
}

void extract_free(struct extract *x)
{
	code_free(&x->c);
	frames_free(&x->f);
	free(x->relocs.v);
	free(x->dynsyms.v);
	free(x->symtab.v);
	free(x->entries);
	vec_free(&x->tables);
	vec_free(&x->label_slots);
	vec_free(&x->table_bases);
	vec_free(&x->pads);
}

/* An address that code obtains by way of the GOT, of which there is a row; NULL: there is none. */
static struct code_range *referred(const struct extract *x, size_t i)
{
	const struct code_address *a = &x->c.addresses.v[i];
	struct code_range *r = code_range_at(&x->c, a->target);
	return r && !r->why && extract_is_entry(x, a->target) && !(i && a[-1].at == a->at) ? r : NULL;
}

static void range_rows(const struct extract *x, struct stream_writer *w)
{
	for (size_t i = 0; i < x->c.addresses.n; i++) {
		struct code_range *to = referred(x, i);
		if (to)
			to->references++;
	}
	for (size_t i = 0; i < x->c.ranges.n; i++) {
		const struct code_range *r = &x->c.ranges.v[i];
		struct stream_row row = { .type = r->why ? REL_NOT_MOVED : REL_RANGE, .address = r->start, .information = r->end - r->start };
		row.details.present = true;
		row.details.kind = code_range_kinds[r->kind];
		row.details.why = r->why;
		row.details.count = r->references;
		stream_row(w, &row);
	}
}

static int64_t gp_at(const struct extract *x, uint32_t entry, int64_t got)
{
	const struct prologue *q = code_prologue(&x->c, entry);
	return q ? (int64_t)q->gp : x->c.m->through_gp ? (int64_t)x->c.got.gp : got;
}

static void entry_rows(const struct extract *x, struct stream_writer *w)
{
	const GElf_Dyn *got = object_dyn(&x->o, DT_PLTGOT);
	int64_t gp = got ? (int64_t)got->d_un.d_ptr : 0;
	for (size_t i = 0; i < x->c.ranges.n; i++) {
		const struct code_range *r = &x->c.ranges.v[i];
		uint32_t end = r->end - x->c.lo;
		if (r->why)
			continue;
		for (uint32_t a = bit_next(x->entries, r->start - x->c.lo, end); a < end; a = bit_next(x->entries, a + 1, end))
			stream_row3(w, REL_PROLOGUE, a + x->c.lo, gp_at(x, a + x->c.lo, gp) - (int64_t)(a + x->c.lo));
	}
}

/* Hand-written code may take a function's address for a base from which it reaches data ("$$" of nasm); compilers, whose code
   has unwinding entries, take it for the function's sake. */
static bool is_plain_address(const struct extract *x, const struct code_ref *ref)
{
	const struct code_range *to = code_range_at(&x->c, ref->target), *from = code_range_at(&x->c, ref->at);
	return (ref->flags & INSN_ADDRESS) && extract_is_entry(x, ref->target) && to && !to->why && from && from->kind != RANGE_CODE;
}

static void address_rows(const struct extract *x, struct stream_writer *w)
{
	for (size_t i = 0; i < x->relocs.n; i++) {
		uint64_t text;
		enum address_use use = extract_use(x, &x->relocs.v[i], &text);
		if (use)
			stream_row3(w, use == USE_LABEL ? REL_LABEL : REL_VIRTUAL_ADDRESS, x->relocs.v[i].offset, (int64_t)text);
	}
	for (size_t i = 0; i < x->c.refs.n; i++) {
		const struct code_ref *ref = &x->c.refs.v[i];
		if (is_plain_address(x, ref))
			stream_row3(w, REL_GOT_REFERENCE, ref->at, ref->target);
	}
	for (size_t i = 0; i < x->c.addresses.n; i++) {
		if (referred(x, i))
			stream_row3(w, REL_GOT_REFERENCE, x->c.addresses.v[i].at, x->c.addresses.v[i].target);
	}
}

static void table_rows(const struct extract *x, struct stream_writer *w)
{
	for (size_t i = 0; i < x->tables.n; i++) {
		const struct jump_table *t = &x->tables.v[i];
		const struct code_range *r = code_range_at(&x->c, t->jump);
		if (!r || r->why)
			continue;
		struct stream_row row = { .type = REL_JUMP_TABLE, .address = t->jump, .information = t->at };
		row.details = (struct row_details){ .present = true, .base = t->base, .width = t->width, .is_signed = t->is_signed,
			.scale = t->scale, .count = t->count, .proven = t->proven, .kind = t->proven ? "bound" : "scan" };
		stream_row(w, &row);
		bool fixed = !t->base && x->o.eh.e_type == ET_EXEC;	/* labels that no relocation tells of */
		for (uint32_t k = 0; k < t->count && (t->base || fixed); k++) {
			uint64_t at, target;
			if (fixed) {
				at = t->at + (uint64_t)k * t->width;
				if (extract_slot((void *)x, at, &target) && code_starts(&x->c, target))
					stream_row3(w, REL_LABEL, at, (int64_t)target);
			} else if (jump_entry(&x->c, t, k, &at, &target) && code_starts(&x->c, target)) {
				stream_row3(w, REL_JUMP_ENTRY, at, (int64_t)target);
			}
		}
	}
}

/* The other indirect jumps of code that moves are tail calls: said, so that a deleted table is not taken for one. */
static void tail_rows(const struct extract *x, struct stream_writer *w)
{
	for (size_t i = 0; i < x->c.ranges.n; i++) {
		const struct code_range *r = &x->c.ranges.v[i];
		for (uint32_t k = 0; !r->why && k < r->ends_n; k++) {
			const struct code_end *e = &x->c.ends.v[r->ends + k];
			if (e->kind != INSN_JUMP_INDIRECT || e->pc_pos || extract_table_of(x, e->at))
				continue;
			struct stream_row row = { .type = REL_JUMP_TABLE, .address = e->at };
			row.details = (struct row_details){ .present = true, .kind = "tail" };
			if (x->c.m->through_gp && !x->c.m->jump_by_call_reg(code_bytes(&x->c, e->at, e->len)))
				row.details = (struct row_details){ .present = true, .kind = "label", .count = 1, .width = x->c.m->word };
			stream_row(w, &row);
		}
	}
}

void extract_rows(struct extract *x, struct stream_writer *w)
{
	range_rows(x, w);
	entry_rows(x, w);
	address_rows(x, w);
	table_rows(x, w);
	tail_rows(x, w);
	for (size_t i = 0; i < x->pads.n; i += 2) {
		const struct code_range *r = code_range_at(&x->c, x->pads.v[i]);
		if (r && !r->why)
			stream_row3(w, REL_LANDING_PAD, x->pads.v[i], x->pads.v[i + 1]);
	}
	for (size_t i = 0; i < x->c.splits.n; i++)
		stream_row3(w, REL_BLOCK_START, x->c.splits.v[i], 0);
}
