/* unwind-lsda.c - language-specific data areas for moved functions. */
#include "tools/so-gen/unwind-parts.h"

static unsigned uleb_size(uint64_t v)
{
	unsigned n = 1;

	while (v >>= 7)
		n++;
	return n;
}

/* A type entry that a dynamic relocation fills in cannot be copied; a relocated slot that it points to can. */
static bool types_movable(const struct object *o, uint8_t encoding)
{
	unsigned format = encoding & 0x0f;

	if (encoding & PE_APPLY)
		return (encoding & PE_APPLY) == 0x10 && format != 0x01 && format != 0x09;
	return o->eh.e_type == ET_EXEC || (o->eh.e_ident[EI_CLASS] == ELFCLASS32 && (encoding & PE_INDIRECT));
}

static bool inside(const struct frame_fde *fde, uint64_t address)
{
	return address - fde->start < fde->size;
}

static bool is_known(const struct unwind_known *k, const struct frame_fde *fde, uint64_t address)
{
	return !k || address == fde->start + fde->size || k->known(k->context, address);
}

static const char *check_sites(const struct lsda *l, const struct frame_fde *fde, const struct unwind_known *known)
{
	uint64_t last = fde->start;

	for (size_t i = 0; i < l->site_count; i++) {
		const struct lsda_site *s = &l->sites[i];

		if (!s->size)
			continue;
		if (!inside(fde, s->start) || s->size > fde->start + fde->size - s->start)
			return "call site outside its function";
		if (s->start < last)
			return "call sites out of order";
		last = s->start + s->size;
		if (s->pad && !inside(fde, s->pad))
			return "landing pad in another function";
		if (s->pad == fde->start)
			return "landing pad at the function's start";
		if (!is_known(known, fde, s->start) || !is_known(known, fde, last) || (s->pad && !is_known(known, fde, s->pad)))
			return "call site or landing pad that is no instruction";
	}
	return NULL;
}

const char *lsda_check(const struct object *o, const struct frame_fde *fde, const struct unwind_known *known)
{
	struct lsda l;
	const char *fault;

	if (!fde->lsda)
		return NULL;
	fault = lsda_read(&l, o, fde);
	if (fault)
		return fault;
	fault = check_sites(&l, fde, known);
	if (!fault && l.type_count && !types_movable(o, l.ttype_encoding))
		fault = "LSDA whose types need relocations";
	lsda_free(&l);
	return fault;
}

static const char *move_sites(struct unwind_builder *b, const struct lsda *l, const struct unwind_move *m)
{
	for (size_t i = 0; i < l->site_count; i++) {
		const struct lsda_site *s = &l->sites[i];
		uint64_t start, end, pad = 0;

		if (!s->size)
			continue;
		b->fault_at = s->start;
		if (!unwind_location(m, s->start, &start) || !unwind_location(m, s->start + s->size, &end) || end < start)
			return "call site whose code was not moved in one piece";
		if (s->pad && (!unwind_location(m, s->pad, &pad) || pad == m->to))
			return "landing pad that was not moved";
		bytes_uleb(&b->scratch, start - m->to);
		bytes_uleb(&b->scratch, end - start);
		bytes_uleb(&b->scratch, s->pad ? pad - m->to : 0);
		bytes_uleb(&b->scratch, s->action);
	}
	return NULL;
}

/* The type table grows downwards from its end: the last entry comes first. */
static const char *move_types(struct unwind_builder *b, const struct lsda *l)
{
	unsigned format = l->ttype_encoding & 0x07;
	size_t size = format == 2 ? 2 : format == 3 ? 4 : format == 4 || b->o->eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;

	for (size_t i = l->type_count; i > 0; i--) {
		uint64_t at = l->types_end - i * size, value;
		const uint8_t *p = object_at(b->o, at, size);

		if (!p || !frame_pointer(b->o, l->ttype_encoding, &p, p + size, at, 0, &value))
			return "LSDA whose types cannot be read";
		if (value)
			unwind_pointer(b, true, BASE_FIXED, value);
		else
			bytes_word(&b->except, b->o, 0, 4);
	}
	return NULL;
}

/* LPStart omitted, then the type table's place.  Its number's own length is part of what has to come out aligned. */
static void write_header(struct unwind_builder *b, const struct lsda *l, size_t *padding)
{
	size_t rest = 1 + uleb_size(b->scratch.n) + b->scratch.n + l->actions_size, total;
	unsigned n = 0;

	vec_push(&b->except, PE_OMIT);
	*padding = 0;
	if (!l->type_count && !l->filter_bytes) {
		vec_push(&b->except, PE_OMIT);
	} else {
		do {
			n++;
			*padding = -(2 + n + rest) & 3;
			total = rest + *padding + 4 * l->type_count;
		} while (uleb_size(total) > n);
		vec_push(&b->except, (l->ttype_encoding & PE_INDIRECT) | PE_PCREL4);
		for (; n > 1; n--, total >>= 7)
			vec_push(&b->except, (total & 0x7f) | 0x80);
		vec_push(&b->except, (uint8_t)total);
	}
	vec_push(&b->except, 0x01);
	bytes_uleb(&b->except, b->scratch.n);
}

static const char *write_lsda(struct unwind_builder *b, const struct lsda *l, const struct unwind_move *m, uint64_t *at)
{
	const char *fault;
	size_t padding;

	b->scratch.n = 0;
	fault = move_sites(b, l, m);
	if (fault)
		return fault;
	bytes_align(&b->except, 4);
	*at = b->except.n;
	write_header(b, l, &padding);
	bytes_add(&b->except, b->scratch.v, b->scratch.n);
	bytes_add(&b->except, l->actions, l->actions_size);
	bytes_add(&b->except, "\0\0\0", padding);
	fault = move_types(b, l);
	if (!fault && l->filter_bytes)
		bytes_add(&b->except, object_at(b->o, l->types_end, l->filter_bytes), l->filter_bytes);
	return fault;
}

const char *lsda_move(struct unwind_builder *b, const struct unwind_move *m, uint64_t *at)
{
	struct lsda l;
	const char *fault;

	fault = lsda_read(&l, b->o, m->fde);
	if (fault)
		return fault;
	fault = write_lsda(b, &l, m, at);
	lsda_free(&l);
	/* Functions that share one large LSDA: harmless, unless somebody made the object so. */
	if (!fault && b->except.n > 4 * b->o->size + (1 << 20))
		fault = "LSDAs that grow beyond all measure";
	return fault;
}
