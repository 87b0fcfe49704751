/* plain-text.c - finds functions in text that is nothing but instructions.  Without unwinding entries (MIPS C code has none as a
   rule) a function begins where a symbol, a call, a prologue, a GOT word or an address in code or data says so, and ends where the next begins. */
#include <stdlib.h>
#include <string.h>
#include "tools/reloc-extract/extract.h"

enum { ROUNDS = 8 };

static bool is_start(const struct extract *x, uint64_t a)
{
	return code_in(&x->c, a) && !(a & 3) && object_is_code(&x->o, a);
}

static bool mark(struct extract *x, uint64_t a)
{
	if (!is_start(x, a) || extract_is_entry(x, a))
		return false;
	bit_set(x->entries, a - x->c.lo);
	return true;
}

static void from_symbols(struct extract *x)
{
	for (int t = 0; t < 2; t++) {
		const struct object_symbols *s = t ? &x->symtab : &x->dynsyms;
		for (size_t i = 0; i < s->n; i++)
			if (s->v[i].section != SHN_UNDEF && s->v[i].section < SHN_LORESERVE && (s->v[i].type == STT_FUNC || (t == 0 && s->v[i].type == STT_NOTYPE)))
				mark(x, s->v[i].value);
	}
}

static void from_got(struct extract *x)
{
	for (uint32_t a = x->c.got.lo + 8; a < x->c.got.hi; a += 4) {
		uint64_t v;
		if (code_constant(&x->c, a, &v) && v & 0xffff)
			mark(x, v);
	}
}

/* The patent's detector 41; a gp that comes out as it must is proof enough, the form of the instructions does not matter. */
static void from_prologues(struct extract *x, const struct object_section *s)
{
	uint64_t end = s->h.sh_addr + s->h.sh_size;
	const uint8_t *p = object_at(&x->o, s->h.sh_addr, s->h.sh_size);
	struct prologue q;
	for (uint64_t a = s->h.sh_addr; p && a + 12 <= end; a += 4, p += 4)
		if (x->c.m->prologue(p, end - a, a, &q) && q.high == a && q.gp == x->c.got.gp && x->c.got.gp)
			mark(x, a);
}

static bool is_code_section(const struct object_section *s)
{
	return (s->h.sh_flags & SHF_EXECINSTR) && (s->h.sh_flags & SHF_ALLOC) && s->h.sh_type == SHT_PROGBITS && s->h.sh_size;
}

/* Code that the linker made, or pieces of several objects make together. */
static const char *stays(const struct object_section *s)
{
	if (!strcmp(s->name, ".MIPS.stubs"))
		return "lazy-binding stubs";
	if (!strcmp(s->name, ".init") || !strcmp(s->name, ".fini"))
		return "a constructor made of pieces";
	return object_section_is_plt(s) ? "a procedure linkage table" : NULL;
}

static bool is_padding(const struct extract *x, uint64_t a, uint64_t end)
{
	const uint8_t *p = object_at(&x->o, a, end - a);
	for (size_t i = 0; p && i < end - a; i++)
		if (p[i])
			return false;
	return true;
}

static const struct frame_fde *fde_from(const struct extract *x, uint64_t a)
{
	size_t lo = 0, hi = x->f.fde_count;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (x->f.fdes[mid].start < a)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < x->f.fde_count ? &x->f.fdes[lo] : NULL;
}

static void cut_section(struct extract *x, const struct object_section *s)
{
	struct code *c = &x->c;
	uint64_t a = s->h.sh_addr, end = a + s->h.sh_size;
	while (a < end) {
		const struct frame_fde *fde = fde_from(x, a);
		if (fde && fde->start == a && fde->size <= end - a && !(fde->size & 3)) {
			code_add(c, a, fde->size, RANGE_FDE, x->f.cies[fde->cie].signal_frame ? "a signal-return stub" : NULL);
			a += fde->size;
			continue;
		}
		uint64_t next = bit_next(x->entries, a + 1 - c->lo, end - c->lo) + c->lo;
		if (fde && fde->start < next)
			next = fde->start;
		next = next > end ? end : next;
		if (!is_padding(x, a, next))
			code_add(c, a, next - a, RANGE_CODE, NULL);
		a = next;
	}
}

static void cut(struct extract *x)
{
	code_reset(&x->c);
	x->tables.n = x->pads.n = 0;
	for (size_t i = 1; i < x->o.shnum; i++) {
		const struct object_section *s = &x->o.sections[i];
		if (!is_code_section(s))
			continue;
		const char *why = stays(s);
		if (why)
			code_add(&x->c, s->h.sh_addr, s->h.sh_size, object_section_is_plt(s) ? RANGE_PLT : RANGE_CODE, why);
		else
			cut_section(x, s);
	}
	code_sort(&x->c);
	for (size_t i = 0; i < x->c.ranges.n; i++) {
		struct code_range *r = &x->c.ranges.v[i];
		if (code_sweep(&x->c, r))
			mark(x, r->start);
	}
}

/* Targets of calls that begin no range yet. */
static bool from_calls(struct extract *x)
{
	bool more = false;
	for (size_t i = 0; i < x->c.ends.n; i++) {
		const struct code_end *e = &x->c.ends.v[i];
		if (e->kind == INSN_CALL && e->target != e->at + e->len)
			more |= mark(x, e->target);
	}
	return more;
}

static bool has_label_jump(const struct extract *x, const struct code_range *r)
{
	for (uint32_t i = 0; i < r->ends_n; i++) {
		const struct code_end *e = &x->c.ends.v[r->ends + i];
		if (e->kind == INSN_JUMP_INDIRECT && !x->c.m->jump_by_call_reg(code_bytes(&x->c, e->at, e->len)))
			return true;
	}
	return false;
}

/* Does an indirect jump lead to an address that is held somewhere as such, or is it not known for certain where it leads?  (Tables whose
   entries are relative do not hold it.) */
static bool may_lead_to(const struct extract *x, const struct code_end *e, uint64_t a)
{
	const struct jump_table *t = extract_table_of(x, e->at);
	uint64_t at, target;
	if (e->kind != INSN_JUMP_INDIRECT || (t && t->base) || (!t && x->c.m->jump_by_call_reg(code_bytes(&x->c, e->at, e->len))))
		return false;
	for (uint32_t k = 0; t && t->proven && k < t->count; k++)
		if (!jump_entry(&x->c, t, k, &at, &target) || target == a)
			return true;
	return !t || !t->proven;
}

/* A label whose address is kept is there to be jumped to.  (A branch may lead to what stands behind the function: in C that point
   was never reached.) */
static bool may_be_label(const struct extract *x, const struct code_range *r, uint64_t a)
{
	const struct code_end *before = NULL;
	for (uint32_t i = 0; i < r->ends_n; i++) {
		const struct code_end *e = &x->c.ends.v[r->ends + i];
		if (may_lead_to(x, e, a))
			return true;
		before = e->at < a ? e : before;
	}
	return !before || before->at + before->len != a || insn_falls_through(before->kind);
}

/* An address in code or data: a function, unless it may be a label of the function around it. */
static bool from_address(struct extract *x, uint64_t a)
{
	const struct code_range *r = code_range_at(&x->c, a);
	return r && r->start != a && r->kind == RANGE_CODE && !r->why && code_starts(&x->c, a) && (!has_label_jump(x, r) || !may_be_label(x, r, a))
		&& mark(x, a);
}

static bool from_addresses(struct extract *x)
{
	bool more = false;
	for (size_t i = 0; i < x->c.addresses.n; i++)
		more |= from_address(x, x->c.addresses.v[i].target);
	for (size_t i = 0; i < x->relocs.n; i++) {
		uint64_t text;
		if (x->relocs.v[i].type == x->c.m->relative && extract_reloc_text(x, &x->relocs.v[i], &text))
			more |= from_address(x, text);
	}
	return more;
}

static void prologues(struct extract *x)
{
	struct code *c = &x->c;
	for (size_t i = 0; i < c->ranges.n; i++) {
		const struct code_range *r = &c->ranges.v[i];
		uint32_t end = r->end - c->lo;
		for (uint32_t a = bit_next(x->entries, r->start - c->lo, end); r->swept && a < end; a = bit_next(x->entries, a + 1, end))
			code_find_prologue(c, r, a + c->lo);
	}
	code_prologues_sort(c);
}

void extract_plain(struct extract *x)
{
	from_symbols(x);
	from_got(x);
	for (size_t i = 1; i < x->o.shnum; i++)
		if (is_code_section(&x->o.sections[i]) && !stays(&x->o.sections[i]))
			from_prologues(x, &x->o.sections[i]);
	bool more = true;
	for (int round = 0; more && round < ROUNDS; round++) {
		do
			cut(x);
		while (from_calls(x));
		code_check_targets(&x->c);
		extract_symbol_entries(x);
		extract_landing_pads(x);
		prologues(x);
		extract_tables(x);
		code_addresses_sort(&x->c);
		more = from_addresses(x);
	}
}
