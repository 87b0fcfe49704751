/* unwind.c - builds .eh_frame, .eh_frame_hdr and the LSDAs for an object with old and new text. */
#include "tools/so-gen/unwind-parts.h"

void bytes_add(struct bytes *b, const void *p, size_t n)
{
	if (!n)
		return;
	vec_reserve(b, b->n + n);
	memcpy(b->v + b->n, p, n);
	b->n += n;
}

void bytes_uleb(struct bytes *b, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		vec_push(b, (v & 0x7f) | 0x80);
	vec_push(b, (uint8_t)v);
}

void bytes_sleb(struct bytes *b, int64_t v)
{
	for (; v < -0x40 || v > 0x3f; v >>= 7)
		vec_push(b, (v & 0x7f) | 0x80);
	vec_push(b, v & 0x7f);
}

void store_word(const struct object *o, uint8_t *p, uint64_t v, unsigned size)
{
	bool big = o->eh.e_ident[EI_DATA] == ELFDATA2MSB;

	for (unsigned i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> 8 * (big ? size - 1 - i : i));
}

void bytes_word(struct bytes *b, const struct object *o, uint64_t v, unsigned size)
{
	vec_reserve(b, b->n + size);
	store_word(o, b->v + b->n, v, size);
	b->n += size;
}

void bytes_align(struct bytes *b, size_t align)
{
	while (b->n % align)
		vec_push(b, 0);
}

const struct unwind_machine *unwind_machine(const struct object *o)
{
	static const struct unwind_machine machines[] = {
		{ EM_X86_64, 7, 16, 16, 8, -8, true },
		{ EM_386, 4, 8, 8, 4, -4, true },
		{ EM_MIPS, 29, -1, 31, 0, -4, false },
		{ EM_AARCH64, 31, -1, 30, 0, -8, false },
	};

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i].machine == o->eh.e_machine)
			return &machines[i];
	return NULL;
}

static bool is_64(const struct object *o)
{
	return o->eh.e_ident[EI_CLASS] == ELFCLASS64;
}

void unwind_pointer(struct unwind_builder *b, bool in_except, enum unwind_base base, uint64_t value)
{
	struct bytes *to = in_except ? &b->except : &b->frame;
	struct unwind_patch p = { .value = value, .at = (uint32_t)to->n, .base = (uint8_t)base, .in_except = in_except };

	vec_push(&b->patches, p);
	bytes_word(to, b->o, 0, 4);
}

bool unwind_location(const struct unwind_move *m, uint64_t old, uint64_t *to)
{
	if (!m->map)
		*to = old;
	else if (old == m->fde->start + m->fde->size)
		*to = m->to + m->to_size;
	else if (!m->map->place(m->map->context, old, to))
		return false;
	return *to >= m->to && *to <= m->to + m->to_size;
}

/* Records. */

static size_t record_begin(struct unwind_builder *b)
{
	bytes_word(&b->frame, b->o, 0, 4);
	return b->frame.n - 4;
}

static void record_end(struct unwind_builder *b, size_t at)
{
	bytes_align(&b->frame, is_64(b->o) ? 8 : 4);
	store_word(b->o, b->frame.v + at, b->frame.n - at - 4, 4);
}

/* In a shared object an absolute pointer of 64 bits has its value from a relocation, which a copy would not get. */
static bool is_relocated(const struct object *o, uint8_t encoding)
{
	return encoding != PE_OMIT && !(encoding & PE_APPLY) && is_64(o) && o->eh.e_type != ET_EXEC;
}

static const char *check_cie(const struct object *o, const struct frame_cie *c)
{
	if (is_relocated(o, c->fde_encoding) || is_relocated(o, c->lsda_encoding) || is_relocated(o, c->personality_encoding))
		return "unwinding tables whose pointers need relocations";
	if (c->personality_encoding != PE_OMIT && !(c->personality_encoding & PE_APPLY) && !c->personality)
		return "personality routine that a relocation names";
	return NULL;
}

/* The copy has every pointer as a 4-byte distance, whatever the original had. */
static void copy_cie(struct unwind_builder *b, const struct frame_cie *c)
{
	bool personality = c->personality_encoding != PE_OMIT && c->personality, lsda = c->lsda_encoding != PE_OMIT;
	size_t at = record_begin(b);
	struct bytes *f = &b->frame;

	bytes_word(f, b->o, 0, 4);
	vec_push(f, c->ra_reg < 0x80 ? 1 : 3);
	bytes_add(f, "zPLR", 1);
	bytes_add(f, "P", personality);
	bytes_add(f, "L", lsda);
	vec_push(f, 'R');
	for (const char *s = c->augmentation; *s; s++)
		if (strchr("SBG", *s))
			vec_push(f, (uint8_t)*s);
	vec_push(f, 0);
	bytes_uleb(f, c->code_align);
	bytes_sleb(f, c->data_align);
	bytes_uleb(f, c->ra_reg);
	bytes_uleb(f, 1u + lsda + 5u * personality);
	if (personality) {
		vec_push(f, (c->personality_encoding & PE_INDIRECT) | PE_PCREL4);
		unwind_pointer(b, false, BASE_FIXED, c->personality);
	}
	if (lsda)
		vec_push(f, PE_PCREL4);
	vec_push(f, PE_PCREL4);
	bytes_add(f, c->insns, c->insns_size);
	record_end(b, at);
}

/* An FDE up to its instructions. */
static size_t fde_begin(struct unwind_builder *b, uint32_t cie_at, enum unwind_base base, uint64_t start, uint64_t size)
{
	size_t at = record_begin(b);
	struct unwind_row row = { .start = start, .at = (uint32_t)at, .moved = base == BASE_TEXT };

	bytes_word(&b->frame, b->o, b->frame.n - cie_at, 4);
	unwind_pointer(b, false, base, start);
	bytes_word(&b->frame, b->o, size, 4);
	vec_push(&b->rows, row);
	return at;
}

static void fde_lsda(struct unwind_builder *b, const struct frame_cie *c, bool any, enum unwind_base base, uint64_t value)
{
	if (c->lsda_encoding == PE_OMIT) {
		vec_push(&b->frame, 0);
		return;
	}
	vec_push(&b->frame, 4);
	if (any)
		unwind_pointer(b, false, base, value);
	else
		bytes_word(&b->frame, b->o, 0, 4);	/* null is 0 in every encoding */
}

static const char *copy_fde(struct unwind_builder *b, const struct frame_fde *d)
{
	const struct frame_cie *c = &b->f->cies[d->cie];
	struct unwind_move stay = { .fde = d, .to = d->start, .to_size = d->size };
	const char *fault = NULL;
	size_t at;

	b->fault_at = d->start;
	if (d->size > UINT32_MAX)
		return "FDE that is too large";
	at = fde_begin(b, b->cie_at[d->cie], BASE_FIXED, d->start, d->size);
	fde_lsda(b, c, d->lsda, BASE_FIXED, d->lsda);
	if (cfi_has_set_loc(b->o, c, d))
		fault = cfi_move(&b->frame, b->o, c, &stay, &b->fault_at);
	else
		bytes_add(&b->frame, d->insns, d->insns_size);
	record_end(b, at);
	return fault;
}

static const char *move_fde(struct unwind_builder *b, const struct unwind_move *m)
{
	const struct frame_fde *d = m->fde;
	const struct frame_cie *c = &b->f->cies[d->cie];
	uint64_t lsda = 0;
	const char *fault;
	size_t at;

	b->fault_at = d->start;
	if (m->to_size > UINT32_MAX)
		return "function that became too large";
	if (d->lsda && (fault = lsda_move(b, m, &lsda)))
		return fault;
	at = fde_begin(b, b->cie_at[d->cie], BASE_TEXT, m->to, m->to_size);
	fde_lsda(b, c, d->lsda, BASE_EXCEPT, lsda);
	fault = cfi_move(&b->frame, b->o, c, m, &b->fault_at);
	record_end(b, at);
	return fault;
}

static void plain_cie(struct unwind_builder *b)
{
	const struct unwind_machine *m = b->machine;
	uint8_t insns[5] = { 0x0c, (uint8_t)m->sp, m->cfa_offset, 0x80 | m->ra, 1 };
	struct frame_cie c = { .augmentation = "zR", .code_align = 1, .data_align = m->data_align, .ra_reg = m->ra, .insns = insns,
	                       .insns_size = m->ra_on_stack ? 5 : 3, .lsda_encoding = PE_OMIT, .personality_encoding = PE_OMIT };

	copy_cie(b, &c);
}

static const char *add_extras(struct unwind_builder *b, const struct unwind_extra *extra, size_t extras)
{
	uint32_t cie_at = (uint32_t)b->frame.n;

	if (!extras)
		return NULL;
	if (!b->machine)
		return "machine whose unwinding rules are not known";
	plain_cie(b);
	for (size_t i = 0; i < extras; i++) {
		size_t at = fde_begin(b, cie_at, BASE_TEXT, extra[i].to, extra[i].size);

		vec_push(&b->frame, 0);
		bytes_add(&b->frame, extra[i].insns, extra[i].insns_size);
		record_end(b, at);
	}
	return NULL;
}

static const char *copy_old(struct unwind_builder *b)
{
	const struct frames *f = b->f;
	const char *fault = NULL;

	b->cie_at = xcalloc(f->cie_count + 1, sizeof *b->cie_at);
	for (size_t i = 0; i < f->cie_count && !fault; i++) {
		fault = check_cie(b->o, &f->cies[i]);
		b->cie_at[i] = (uint32_t)b->frame.n;
		copy_cie(b, &f->cies[i]);
	}
	for (size_t i = 0; i < f->fde_count && !fault; i++)
		fault = copy_fde(b, &f->fdes[i]);
	for (size_t i = 0; i < f->other_count && !fault; i++)
		fault = copy_fde(b, &f->others[i]);
	return fault;
}

static const char *move_all(struct unwind_builder *b, size_t *moved)
{
	for (size_t i = 0; i < b->f->fde_count; i++) {
		struct unwind_move m = { .map = b->map, .fde = &b->f->fdes[i] };
		const char *fault;

		if (!b->map->range(b->map->context, m.fde->start, m.fde->size, &m.to, &m.to_size))
			continue;
		fault = move_fde(b, &m);
		if (fault)
			return fault;
		if (b->frame.n > INT32_MAX || b->except.n > INT32_MAX)
			return "unwinding tables beyond 2 GB";
		++*moved;
	}
	return NULL;
}

const char *unwind_build(struct unwind *u, const struct object *o, const struct frames *f, const struct unwind_map *map,
                         const struct unwind_extra *extra, size_t extras)
{
	struct unwind_builder b = { .o = o, .f = f, .map = map, .machine = unwind_machine(o) };
	const char *fault;

	memset(u, 0, sizeof *u);
	vec_reserve(&b.rows, 2 * f->fde_count + f->other_count + extras);
	vec_reserve(&b.patches, 2 * f->fde_count + f->cie_count);
	fault = copy_old(&b);
	if (!fault)
		fault = move_all(&b, &u->moved);
	if (!fault)
		fault = add_extras(&b, extra, extras);
	bytes_word(&b.frame, o, 0, 4);
	free(b.cie_at);
	free(b.scratch.v);
	u->object = o;
	u->eh_frame = b.frame.v;
	u->eh_frame_size = b.frame.n;
	u->except = b.except.v;
	u->except_size = b.except.n;
	u->patches = b.patches.v;
	u->patch_count = b.patches.n;
	u->rows = b.rows.v;
	u->row_count = b.rows.n;
	u->eh_frame_hdr_size = 12 + 8 * b.rows.n;
	u->eh_frame_hdr = xcalloc(1, u->eh_frame_hdr_size);
	u->fault_at = fault ? b.fault_at : 0;
	return fault;
}

/* Placing. */

/* Stores TO - FROM in 4 bytes.  With 32-bit addresses every distance is in reach, modulo 2^32. */
static bool store_distance(const struct object *o, uint8_t *p, uint64_t to, uint64_t from)
{
	store_word(o, p, to - from, 4);
	return !is_64(o) || (int64_t)(to - from) == (int32_t)(to - from);
}

static int by_start(const void *a, const void *b)
{
	const struct unwind_row *x = a, *y = b;

	return (x->placed > y->placed) - (x->placed < y->placed);
}

static void sort_rows(struct unwind *u, uint64_t text)
{
	bool sorted = true;

	for (size_t i = 0; i < u->row_count; i++) {
		struct unwind_row *r = &u->rows[i];

		r->placed = r->start + (r->moved ? text : 0);
		sorted = sorted && (i == 0 || r[-1].placed <= r->placed);
	}
	if (!sorted)
		qsort(u->rows, u->row_count, sizeof *u->rows, by_start);
}

static bool place_header(struct unwind *u, uint64_t eh_frame, uint64_t hdr)
{
	const struct object *o = u->object;
	uint8_t *p = u->eh_frame_hdr;
	bool ok;

	p[0] = 1;
	p[1] = PE_PCREL4;	/* of .eh_frame's address */
	p[2] = 0x03;		/* udata4: the count */
	p[3] = 0x3b;		/* sdata4 from the header's own address: the table */
	ok = store_distance(o, p + 4, eh_frame, hdr + 4);
	store_word(o, p + 8, u->row_count, 4);
	p += 12;
	for (size_t i = 0; i < u->row_count; i++, p += 8) {
		ok &= store_distance(o, p, u->rows[i].placed, hdr);
		ok &= store_distance(o, p + 4, eh_frame + u->rows[i].at, hdr);
	}
	return ok;
}

bool unwind_place(struct unwind *u, uint64_t text, uint64_t eh_frame, uint64_t eh_frame_hdr, uint64_t except)
{
	const uint64_t base[] = { [BASE_FIXED] = 0, [BASE_TEXT] = text, [BASE_EXCEPT] = except };
	bool ok = true;

	for (size_t i = 0; i < u->patch_count; i++) {
		const struct unwind_patch *p = &u->patches[i];
		uint8_t *to = p->in_except ? u->except : u->eh_frame;

		ok &= store_distance(u->object, to + p->at, base[p->base] + p->value, (p->in_except ? except : eh_frame) + p->at);
	}
	sort_rows(u, text);
	return place_header(u, eh_frame, eh_frame_hdr) && ok;
}

void unwind_free(struct unwind *u)
{
	free(u->eh_frame);
	free(u->eh_frame_hdr);
	free(u->except);
	free(u->patches);
	free(u->rows);
	memset(u, 0, sizeof *u);
}

const char *unwind_check(const struct object *o, const struct frames *f, const struct frame_fde *fde,
                         bool (*known)(void *context, uint64_t old), void *context)
{
	struct unwind_known k = { known, context };
	const struct frame_cie *c = &f->cies[fde->cie];
	const char *fault = check_cie(o, c);

	if (!fault)
		fault = cfi_check(o, c, fde, known ? &k : NULL);
	return fault ? fault : lsda_check(o, fde, known ? &k : NULL);
}

const char *unwind_movable(const struct object *o, const struct frames *f, const struct frame_fde *fde)
{
	return unwind_check(o, f, fde, NULL, NULL);
}
