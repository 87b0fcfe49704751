/* frames.c - reads .eh_frame and the language-specific data areas (LSDA) that it points to. */
#include "lib/elf/frames.h"
#include <stdlib.h>
#include <string.h>

enum { PE_OMIT = 0xff, PE_FORMAT = 0x0f, PE_APPLY = 0x70, PE_PCREL = 0x10, PE_FUNCREL = 0x40 };
/* Bytes of one action table, of one exception specification: far above any compiler's, so that a made-up one costs little time. */
enum { ACTIONS_MAX = 1 << 16, LIST_MAX = 1 << 12 };

struct reader {
	const struct object *o;
	struct frames *f;
	const uint8_t *base, *end;	/* the section */
	uint64_t at;			/* link-time address of base */
	size_t cie_cap, fde_cap;
	uint64_t code_start, code_end;	/* the code section found last */
};

bool frame_uleb(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	uint64_t v = 0;

	for (unsigned shift = 0; *p < end; shift += 7) {
		uint8_t b = *(*p)++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if ((shift == 63 && (b & 0x7e)) || (shift > 63 && (b & 0x7f)))
			return false;
		if (!(b & 0x80)) {
			*value = v;
			return true;
		}
	}
	return false;
}

bool frame_sleb(const uint8_t **p, const uint8_t *end, int64_t *value)
{
	uint64_t v = 0;

	for (unsigned shift = 0; *p < end && shift < 70; shift += 7) {
		uint8_t b = *(*p)++;

		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			if (shift + 7 < 64 && (b & 0x40))
				v |= ~(uint64_t)0 << (shift + 7);
			*value = (int64_t)v;
			return true;
		}
	}
	return false;
}

static unsigned word_size(const struct object *o)
{
	return o->eh.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
}

static uint64_t address_mask(const struct object *o)
{
	return word_size(o) == 4 ? 0xffffffff : ~(uint64_t)0;
}

/* Bytes of a fixed-size format; 0 for the LEB formats and for unknown ones. */
static unsigned format_size(const struct object *o, uint8_t enc)
{
	switch (enc & PE_FORMAT) {
	case 0x00:
	case 0x08:
		return word_size(o);
	case 0x02:
	case 0x0a:
		return 2;
	case 0x03:
	case 0x0b:
		return 4;
	case 0x04:
	case 0x0c:
		return 8;
	}
	return 0;
}

/* The encoded number itself, without what it is relative to. */
static bool read_format(const struct object *o, uint8_t enc, const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	unsigned n = format_size(o, enc);
	int64_t sv;

	if (n) {
		if ((size_t)(end - *p) < n)
			return false;
		*value = object_word(o, *p, n);
		*p += n;
		if ((enc & 0x08) && n < 8)
			*value = (uint64_t)((int64_t)(*value << (64 - 8 * n)) >> (64 - 8 * n));
		return true;
	}
	if ((enc & PE_FORMAT) == 0x01)
		return frame_uleb(p, end, value);
	if ((enc & PE_FORMAT) != 0x09 || !frame_sleb(p, end, &sv))
		return false;
	*value = (uint64_t)sv;
	return true;
}

bool frame_pointer(const struct object *o, uint8_t enc, const uint8_t **p, const uint8_t *end, uint64_t at, uint64_t func,
                   uint64_t *value)
{
	uint64_t v, base;

	switch (enc & PE_APPLY) {
	case 0:
		base = 0;
		break;
	case PE_PCREL:
		base = at;
		break;
	case PE_FUNCREL:
		base = func;
		break;
	default:
		return false;
	}
	if (enc == PE_OMIT || !read_format(o, enc, p, end, &v))
		return false;
	*value = v ? (v + base) & address_mask(o) : 0;	/* 0 is null in every encoding */
	return true;
}

static void reject(struct frames *f, uint64_t at, const char *why)
{
	if (!f->rejected++) {
		f->fault = why;
		f->fault_at = at;
	}
}

static uint64_t address_of(const struct reader *r, const uint8_t *p)
{
	return r->at + (uint64_t)(p - r->base);
}

/* The augmentation data of a CIE whose string starts with 'z'. */
static const char *read_augmentation(const struct reader *r, struct frame_cie *c, const uint8_t **p, const uint8_t *end)
{
	uint64_t size;
	const uint8_t *q;

	if (!frame_uleb(p, end, &size) || size > (size_t)(end - *p))
		return "CIE whose augmentation data is cut";
	q = *p;
	*p = end = q + size;
	for (const char *s = c->augmentation + 1; *s; s++) {
		if (*s == 'S') {
			c->signal_frame = true;
		} else if (strchr("LRP", *s)) {
			if (q == end)
				return "CIE whose augmentation data is cut";
			*(*s == 'L' ? &c->lsda_encoding : *s == 'R' ? &c->fde_encoding : &c->personality_encoding) = *q++;
			if (*s == 'P' && !frame_pointer(r->o, c->personality_encoding, &q, end, address_of(r, q), 0, &c->personality))
				return "CIE whose personality pointer is bad";
		} else if (*s != 'B' && *s != 'G') {
			return "CIE with an unknown augmentation";
		}
	}
	return NULL;
}

/* The body of a CIE, from its version on. */
static const char *read_cie(const struct reader *r, struct frame_cie *c, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *nul;
	uint8_t version;
	bool ok;

	if (p == end || ((version = *p++) != 1 && version != 3 && version != 4))
		return "CIE of an unknown version";
	nul = memchr(p, 0, (size_t)(end - p));
	if (!nul || (size_t)(nul - p) >= sizeof c->augmentation)
		return "CIE whose augmentation is too long";
	memcpy(c->augmentation, p, (size_t)(nul - p) + 1);
	p = nul + 1;
	if (version == 4) {
		if (end - p < 2 || p[0] != word_size(r->o) || p[1])
			return "CIE for another size of address";
		p += 2;
	}
	ok = frame_uleb(&p, end, &c->code_align) && frame_sleb(&p, end, &c->data_align) && p < end;
	if (ok && version == 1)
		c->ra_reg = *p++;
	else
		ok = ok && frame_uleb(&p, end, &c->ra_reg);
	if (!ok)
		return "CIE that is cut";
	if (c->augmentation[0] == 'z') {
		const char *fault = read_augmentation(r, c, &p, end);

		if (fault)
			return fault;
	} else if (c->augmentation[0]) {
		return "CIE with an unknown augmentation";
	}
	c->insns = p;
	c->insns_size = (size_t)(end - p);
	return NULL;
}

static void add_cie(struct reader *r, const uint8_t *record, const uint8_t *body, const uint8_t *end)
{
	struct frames *f = r->f;
	struct frame_cie c = { .at = address_of(r, record), .lsda_encoding = PE_OMIT, .personality_encoding = PE_OMIT };
	const char *fault = read_cie(r, &c, body, end);

	if (fault) {
		reject(f, c.at, fault);
		return;
	}
	if (f->cie_count == r->cie_cap)
		f->cies = vec_grow(f->cies, &r->cie_cap, f->cie_count + 1, sizeof *f->cies);
	f->cies[f->cie_count++] = c;
}

/* Index of the CIE that lies at the address, or -1.  Nearly always it is the last one read. */
static int64_t find_cie(const struct frames *f, uint64_t at)
{
	size_t low = 0, high = f->cie_count;

	if (high && f->cies[high - 1].at == at)
		return (int64_t)high - 1;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->cies[mid].at == at)
			return (int64_t)mid;
		if (f->cies[mid].at < at)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

static const char *read_fde(const struct reader *r, struct frame_fde *d, const uint8_t *p, const uint8_t *end)
{
	const struct frame_cie *c = &r->f->cies[d->cie];
	uint64_t size;

	if (!frame_pointer(r->o, c->fde_encoding, &p, end, address_of(r, p), 0, &d->start) || (c->fde_encoding & 0x80))
		return "FDE whose start is bad";
	/* The length has the start's format but is never signed. */
	if (!read_format(r->o, c->fde_encoding & 0x07, &p, end, &d->size))
		return "FDE whose length is bad";
	if (c->augmentation[0] == 'z') {
		const uint8_t *q;

		if (!frame_uleb(&p, end, &size) || size > (size_t)(end - p))
			return "FDE whose augmentation data is cut";
		q = p;
		p += size;
		if (c->lsda_encoding != PE_OMIT &&
		    !frame_pointer(r->o, c->lsda_encoding, &q, p, address_of(r, q), d->start, &d->lsda))
			return "FDE whose LSDA pointer is bad";
	}
	d->insns = p;
	d->insns_size = (size_t)(end - p);
	return d->start + d->size < d->start || d->start + d->size > address_mask(r->o) ? "FDE whose end is out of range" : NULL;
}

static bool in_code(struct reader *r, uint64_t address)
{
	const struct object_section *s;
	const GElf_Phdr *ph;

	if (address >= r->code_start && address < r->code_end)
		return true;
	if (!object_is_code(r->o, address))
		return false;
	if ((s = object_section_at(r->o, address))) {
		r->code_start = s->h.sh_addr;
		r->code_end = s->h.sh_addr + s->h.sh_size;
	} else if ((ph = object_segment(r->o, address))) {
		r->code_start = ph->p_vaddr;
		r->code_end = ph->p_vaddr + ph->p_memsz;
	}
	return true;
}

static void keep_other(struct frames *f, const struct frame_fde *d, const char *why)
{
	reject(f, d->at, why);
	f->others = xrealloc(f->others, (f->other_count + 1) * sizeof *f->others);
	f->others[f->other_count++] = *d;
}

static void add_fde(struct reader *r, const uint8_t *record, const uint8_t *body, const uint8_t *end, int64_t cie)
{
	struct frames *f = r->f;
	struct frame_fde d = { .at = address_of(r, record), .cie = (uint32_t)cie };
	const char *fault = cie < 0 ? "FDE that names no CIE" : read_fde(r, &d, body, end);

	if (!fault && !d.size)
		fault = "FDE of no bytes";
	if (fault) {
		reject(f, d.at, fault);
	} else if (!in_code(r, d.start) || !in_code(r, d.start + d.size - 1)) {
		keep_other(f, &d, "FDE outside code");
	} else {
		if (f->fde_count == r->fde_cap)
			f->fdes = vec_grow(f->fdes, &r->fde_cap, f->fde_count + 1, sizeof *f->fdes);
		f->fdes[f->fde_count++] = d;
	}
}

/* Walks the records.  A zero word is a terminator: the last one, unless the section goes on behind it. */
static void read_records(struct reader *r, bool stop_at_zero)
{
	const uint8_t *p = r->base;

	while (r->end - p >= 4) {
		const uint8_t *record = p, *end;
		uint64_t length = object_word(r->o, p, 4), id;

		p += 4;
		if (!length) {
			if (stop_at_zero)
				return;
			continue;
		}
		if (length == 0xffffffff || length < 4 || length > (size_t)(r->end - p)) {
			reject(r->f, address_of(r, record), "record whose length leaves the section");
			return;
		}
		end = p + length;
		id = object_word(r->o, p, 4);
		if (!id)
			add_cie(r, record, p + 4, end);
		else
			add_fde(r, record, p + 4, end, id > (uint64_t)(p - r->base) ? -1 : find_cie(r->f, address_of(r, p) - id));
		p = end;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct frame_fde *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : (x->at > y->at) - (x->at < y->at);
}

static void sort_fdes(struct frames *f)
{
	for (size_t i = 1; i < f->fde_count; i++)
		if (f->fdes[i].start < f->fdes[i - 1].start) {
			qsort(f->fdes, f->fde_count, sizeof *f->fdes, by_start);
			return;
		}
}

/* Both sides of an overlap go: which one an unwinder takes is a matter of its search. */
static void drop_overlaps(struct frames *f)
{
	size_t kept = 0, far = 0;	/* far: the record before i that ends last */
	bool *bad, any = false;

	if (f->fde_count < 2)
		return;
	bad = xcalloc(f->fde_count, sizeof *bad);
	for (size_t i = 1; i < f->fde_count; i++) {
		uint64_t far_end = f->fdes[far].start + f->fdes[far].size;

		if (f->fdes[i].start < far_end)
			any = bad[i] = bad[far] = true;
		if (f->fdes[i].start + f->fdes[i].size > far_end)
			far = i;
	}
	for (size_t i = 0; any && i < f->fde_count; i++) {
		if (bad[i])
			keep_other(f, &f->fdes[i], "FDE that overlaps another");
		else
			f->fdes[kept++] = f->fdes[i];
	}
	if (any)
		f->fde_count = kept;
	free(bad);
}

/* What PT_GNU_EH_FRAME's header names: what the unwinder uses. */
static bool frame_address(const struct object *o, uint64_t *at)
{
	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *ph = &o->phdrs[i];
		size_t n = ph->p_filesz < 12 ? (size_t)ph->p_filesz : 12;
		const uint8_t *h, *p;

		if (ph->p_type != PT_GNU_EH_FRAME || n < 5 || !(h = object_at(o, ph->p_vaddr, n)) || h[0] != 1)
			continue;
		p = h + 4;
		if (frame_pointer(o, h[1], &p, h + n, ph->p_vaddr + 4, 0, at) && !(h[1] & 0x80))
			return true;
	}
	return false;
}

/* The bytes from an address to the end of what has file contents there. */
static size_t bytes_behind(const struct object *o, uint64_t address)
{
	const GElf_Phdr *ph = object_segment(o, address);

	return ph && address - ph->p_vaddr < ph->p_filesz ? (size_t)(ph->p_filesz - (address - ph->p_vaddr)) : 0;
}

void frames_read(struct frames *f, const struct object *o)
{
	struct reader r = { .o = o, .f = f };
	const struct object_section *s = object_section(o, ".eh_frame");
	size_t size;

	memset(f, 0, sizeof *f);
	if (frame_address(o, &r.at)) {
		if (!s || s->h.sh_addr != r.at)
			s = NULL;
	} else if (s) {
		r.at = s->h.sh_addr;
	} else {
		return;
	}
	size = s ? (size_t)s->h.sh_size : bytes_behind(o, r.at);
	if (!size || (s && s->h.sh_type == SHT_NOBITS))
		return;
	r.base = object_at(o, r.at, size);
	if (!r.base) {
		reject(f, r.at, ".eh_frame lies outside the file");
		return;
	}
	r.end = r.base + size;
	read_records(&r, !s);
	sort_fdes(f);
	drop_overlaps(f);
}

void frames_free(struct frames *f)
{
	free(f->cies);
	free(f->fdes);
	free(f->others);
	memset(f, 0, sizeof *f);
}

const struct frame_fde *frames_find(const struct frames *f, uint64_t address)
{
	size_t low = 0, high = f->fde_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (address < f->fdes[mid].start)
			high = mid;
		else if (address - f->fdes[mid].start >= f->fdes[mid].size)
			low = mid + 1;
		else
			return &f->fdes[mid];
	}
	return NULL;
}

static const char *read_sites(struct lsda *l, const struct object *o, const struct frame_fde *fde, const uint8_t *p,
                              const uint8_t *end, uint64_t lpstart)
{
	size_t cap = 0, empty = 0;

	while (p < end) {
		struct lsda_site s;

		/* Call sites do not overlap. */
		if (l->site_count - empty > fde->size || empty > fde->size)
			return "LSDA with more call sites than its function has bytes";
		if (!read_format(o, l->site_encoding, &p, end, &s.start) || !read_format(o, l->site_encoding, &p, end, &s.size) ||
		    !read_format(o, l->site_encoding, &p, end, &s.pad) || !frame_uleb(&p, end, &s.action))
			return "LSDA whose call sites are cut";
		empty += !s.size;
		s.start += fde->start;
		s.pad = s.pad ? s.pad + lpstart : 0;
		if (l->site_count == cap)
			l->sites = vec_grow(l->sites, &cap, cap + 8, sizeof *l->sites);
		l->sites[l->site_count++] = s;
	}
	return NULL;
}

/* One exception-specification list: indices, closed by 0. */
static const char *read_filter(struct lsda *l, const uint8_t *lists, const uint8_t *end, int64_t filter)
{
	uint64_t skip = -(uint64_t)filter - 1, type;
	const uint8_t *p;

	if (skip >= (size_t)(end - lists))
		return "LSDA whose exception specification is out of reach";
	p = lists + skip;
	if (end - p > LIST_MAX)
		end = p + LIST_MAX;
	do {
		if (!frame_uleb(&p, end, &type))
			return "LSDA whose exception specification is cut";
		if (type > l->type_count)
			l->type_count = (size_t)type;
	} while (type);
	if ((size_t)(p - lists) > l->filter_bytes)
		l->filter_bytes = (size_t)(p - lists);
	return NULL;
}

struct action_walk {
	const uint8_t *end, *lists, *lists_end;	/* lists: NULL without a type table */
	VEC(uint32_t) seen;			/* by offset: the call site (counted from 1) whose chain came there first */
};

/* One chain of actions.  It ends at 0, or where an earlier chain has been. */
static const char *read_chain(struct lsda *l, struct action_walk *w, uint64_t offset, uint32_t site)
{
	for (;;) {
		const uint8_t *p, *at_next;
		int64_t filter, next;
		const char *fault;

		if (offset >= (size_t)(w->end - l->actions))
			return "LSDA whose action is out of reach";
		while (w->seen.n <= offset)
			vec_push(&w->seen, 0);
		if (w->seen.v[offset])
			return w->seen.v[offset] == site ? "LSDA whose actions loop" : NULL;
		w->seen.v[offset] = site;
		p = l->actions + offset;
		if (!frame_sleb(&p, w->end, &filter) || (at_next = p, !frame_sleb(&p, w->end, &next)))
			return "LSDA whose action is cut";
		if ((size_t)(p - l->actions) > l->actions_size)
			l->actions_size = (size_t)(p - l->actions);
		if (filter && !w->lists)
			return "LSDA with types but no type table";
		if (filter > 0 && (uint64_t)filter > l->type_count)
			l->type_count = (size_t)filter;
		if (filter < 0 && (fault = read_filter(l, w->lists, w->lists_end, filter)))
			return fault;
		if (!next)
			return NULL;
		offset = (uint64_t)(at_next - l->actions) + (uint64_t)next;
	}
}

static const char *read_actions(struct lsda *l, struct action_walk *w)
{
	const char *fault = NULL;

	if (w->end - l->actions > ACTIONS_MAX)
		w->end = l->actions + ACTIONS_MAX;
	for (size_t i = 0; i < l->site_count && !fault; i++)
		if (l->sites[i].action)
			fault = read_chain(l, w, l->sites[i].action - 1, (uint32_t)i + 1);
	vec_free(&w->seen);
	return fault;
}

/* The header.  *sites_end is the action table's first byte, *lists the end of the type table or NULL. */
static const char *read_header(struct lsda *l, const struct object *o, const uint8_t **p, const uint8_t *end, uint64_t *lpstart,
                               const uint8_t **lists, const uint8_t **sites_end)
{
	const uint8_t *base = *p;
	uint64_t n, func = *lpstart;
	uint8_t enc;

	if (end - *p < 4)
		return "LSDA that is cut";
	enc = *(*p)++;
	if (enc != PE_OMIT && !frame_pointer(o, enc, p, end, l->at + 1, func, lpstart))
		return "LSDA whose landing pad base is bad";
	if (*p == end)
		return "LSDA that is cut";
	l->ttype_encoding = *(*p)++;
	*lists = NULL;
	if (l->ttype_encoding != PE_OMIT) {
		if (!frame_uleb(p, end, &n) || n > (size_t)(end - *p))
			return "LSDA whose type table is out of reach";
		*lists = *p + n;
		l->types_end = l->at + (uint64_t)(*lists - base);
	}
	if (*p == end)
		return "LSDA that is cut";
	l->site_encoding = *(*p)++;
	if (!frame_uleb(p, end, &n) || n > (size_t)(end - *p))
		return "LSDA whose call sites are cut";
	*sites_end = *p + n;
	return *lists && *lists < *sites_end ? "LSDA whose type table lies in its call sites" : NULL;
}

static const char *check_types(const struct lsda *l, const struct object *o, size_t room)
{
	unsigned size = format_size(o, l->ttype_encoding);

	if (l->type_count && !size)
		return "LSDA whose types have no fixed size";
	if (l->type_count && l->type_count > room / size)
		return "LSDA whose type table is larger than its place";
	return NULL;
}

const char *lsda_read(struct lsda *l, const struct object *o, const struct frame_fde *fde)
{
	size_t size = bytes_behind(o, fde->lsda);
	const uint8_t *p = size ? object_at(o, fde->lsda, size) : NULL, *lists, *sites_end;
	struct action_walk w = { 0 };
	uint64_t lpstart = fde->start;
	const char *fault;

	memset(l, 0, sizeof *l);
	l->at = fde->lsda;
	if (!p)
		return "LSDA that lies outside the file";
	fault = read_header(l, o, &p, p + size, &lpstart, &lists, &sites_end);
	if (fault)
		return fault;
	l->actions = sites_end;
	w.lists = lists;
	w.lists_end = object_at(o, fde->lsda, size) + size;
	w.end = lists ? lists : w.lists_end;
	fault = read_sites(l, o, fde, p, sites_end, lpstart);
	if (!fault)
		fault = read_actions(l, &w);
	if (!fault && lists)
		fault = check_types(l, o, (size_t)(lists - l->actions) - l->actions_size);
	if (fault)
		lsda_free(l);
	return fault;
}

void lsda_free(struct lsda *l)
{
	free(l->sites);
	l->sites = NULL;
	l->site_count = 0;
}
