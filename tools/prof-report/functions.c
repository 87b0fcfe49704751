/* functions.c - which functions an object has: symbols, then FDEs without one, then what is left of each section. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include "lib/elf/frames.h"
#include "tools/prof-report/functions.h"

/* libstdc++'s demangler as a stream.  __cxa_demangle would do, but a name of a few hundred bytes can stand for one that fills
   the memory: each part of it may repeat all before it.  It allocates nothing,
   so it can be left by longjmp.  The archive libsupc++.a has it; the shared library does not show it. */
int __gcclibcxx_demangle_callback(const char *mangled, void (*put)(const char *, size_t, void *), void *context);

enum { PLAIN_MAX = 1 << 16 };

struct plain { jmp_buf too_long; VEC(char) text; };

static void put_plain(const char *s, size_t n, void *context)
{
	struct plain *plain = context;

	if (n > PLAIN_MAX - plain->text.n)
		longjmp(plain->too_long, 1);
	vec_reserve(&plain->text, plain->text.n + n + 1);
	memcpy(plain->text.v + plain->text.n, s, n);
	plain->text.n += n;
	plain->text.v[plain->text.n] = 0;
}

static bool to_plain(struct plain *plain, const char *s)
{
	return !setjmp(plain->too_long) && !__gcclibcxx_demangle_callback(s, put_plain, plain) && plain->text.n;
}

const char *demangle(struct arena *a, const char *s)
{
	struct plain plain = { .text = {0} };

	if (strncmp(s, "_Z", 2))
		return s;
	if (to_plain(&plain, s))
		s = arena_strdup(a, plain.text.v);
	vec_free(&plain.text);
	return s;
}

/* Between names of one address: a name that users write before an internal one, exported before local, short before long. */
static unsigned underscores(const char *s)
{
	unsigned n = 0;

	if (!strncmp(s, "_Z", 2))
		return 0;
	while (s[n] == '_')
		n++;
	return n;
}

static int by_preference(const struct function *a, const struct function *b)
{
	unsigned ua = underscores(a->raw), ub = underscores(b->raw);
	size_t la = strlen(a->raw), lb = strlen(b->raw);

	if ((a->type == STT_NOTYPE) != (b->type == STT_NOTYPE))
		return a->type == STT_NOTYPE ? 1 : -1;
	if (ua != ub)
		return ua < ub ? -1 : 1;
	if ((a->bind == STB_LOCAL) != (b->bind == STB_LOCAL))
		return a->bind == STB_LOCAL ? 1 : -1;
	if (la != lb)
		return la < lb ? -1 : 1;
	return strcmp(a->raw, b->raw);
}

static int by_start(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return by_preference(a, b);
}

static const char *without_version(struct arena *a, const char *name)
{
	size_t n = strcspn(name, "@");
	char *copy;

	if (!n || !name[n])
		return name;
	copy = arena_alloc(a, n + 1);
	memcpy(copy, name, n);
	return copy;
}

static void add_symbols(struct functions *f, const struct object *o, struct lines *l)
{
	struct lines_symbols found = lines_symbols(l);

	for (size_t i = 0; i < found.n; i++) {
		const struct lines_symbol *s = &found.v[i];

		if (!object_is_code(o, s->value))
			continue;
		vec_push(&f->v, ((struct function){
			.start = s->value, .end = s->size > UINT64_MAX - s->value ? s->value : s->value + s->size,
			.raw = without_version(&f->arena, s->name), .unit = s->unit, .type = s->type, .bind = s->bind,
		}));
	}
	free(found.v);
}

/* Keeps the best name of each start with the largest size of them all. */
static void join_aliases(struct functions *f)
{
	size_t n = 0;

	if (f->v.n)
		qsort(f->v.v, f->v.n, sizeof *f->v.v, by_start);
	for (size_t i = 0; i < f->v.n; i++)
		if (n && f->v.v[n - 1].start == f->v.v[i].start) {
			if (f->v.v[i].end > f->v.v[n - 1].end)
				f->v.v[n - 1].end = f->v.v[i].end;
		} else {
			f->v.v[n++] = f->v.v[i];
		}
	f->v.n = n;
}

static void find_reach(struct functions *f)
{
	uint64_t furthest = 0;

	free(f->reach);
	f->proper = f->v.n;
	f->reach = xcalloc(f->v.n, sizeof *f->reach);
	for (size_t i = 0; i < f->v.n; i++) {
		furthest = f->v.v[i].end > furthest ? f->v.v[i].end : furthest;
		f->reach[i] = furthest;
	}
}

/* Index of the first in [low, high) that starts after the address. */
static size_t first_after(const struct functions *f, size_t low, size_t high, uint64_t address)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->v.v[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t functions_at(const struct functions *f, uint64_t address)
{
	size_t rest = first_after(f, f->proper, f->v.n, address);

	for (size_t i = first_after(f, 0, f->proper, address); i-- > 0 && f->reach[i] > address;)
		if (f->v.v[i].end > address)
			return (uint32_t)i;
	return rest > f->proper && f->v.v[rest - 1].end > address ? (uint32_t)rest - 1 : NO_FUNCTION;
}

/* Hand-written assembly often gives a symbol no size: up to the next symbol, within its FDE or section. */
static void size_sizeless(struct functions *f, const struct object *o, const struct frames *frames)
{
	for (size_t i = 0; i < f->v.n; i++) {
		struct function *s = &f->v.v[i];
		const struct frame_fde *fde;
		const struct object_section *section;
		uint64_t limit = i + 1 < f->v.n ? f->v.v[i + 1].start : UINT64_MAX;

		if (s->end > s->start)
			continue;
		fde = frames_find(frames, s->start);
		section = object_section_at(o, s->start);
		if (fde && fde->start + fde->size < limit)
			limit = fde->start + fde->size;
		else if (section && section->h.sh_addr + section->h.sh_size < limit)
			limit = section->h.sh_addr + section->h.sh_size;
		s->end = limit == UINT64_MAX || limit < s->start ? s->start : limit;
	}
}

static void add_fdes(struct functions *f, const struct frames *frames)
{
	VEC(struct function) added = {0};

	for (size_t i = 0; i < frames->fde_count; i++) {
		const struct frame_fde *fde = &frames->fdes[i];
		char name[32];

		if (functions_at(f, fde->start) != NO_FUNCTION)
			continue;
		snprintf(name, sizeof name, "sub_%" PRIx64, fde->start);
		vec_push(&added, ((struct function){
			.start = fde->start, .end = fde->start + fde->size, .raw = arena_strdup(&f->arena, name), .type = STT_FUNC,
		}));
	}
	for (size_t i = 0; i < added.n; i++)
		vec_push(&f->v, added.v[i]);
	vec_free(&added);
	join_aliases(f);
	find_reach(f);
}

/* Sections of code, so that what no function covers has a name: the PLT, start-up code, code without any table. */
static void add_sections(struct functions *f, const struct object *o)
{
	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;
		size_t n = strlen(o->sections[i].name) + 3;
		char *name;

		if (!(h->sh_flags & SHF_EXECINSTR) || !h->sh_size || h->sh_addr > UINT64_MAX - h->sh_size)
			continue;
		name = arena_alloc(&f->arena, n);
		snprintf(name, n, "[%s]", o->sections[i].name);
		vec_push(&f->v, ((struct function){ .start = h->sh_addr, .end = h->sh_addr + h->sh_size, .raw = name, .is_rest = true }));
	}
	if (f->v.n > f->proper)
		qsort(f->v.v + f->proper, f->v.n - f->proper, sizeof *f->v.v, by_start);
}

/* The length of "f" in gcc's "f.cold", "f.cold.3" and clang's "f.cold.1"; 0 for other names. */
static size_t cold_base(const char *name)
{
	const char *cold = strstr(name, ".cold");

	if (!cold || cold == name)
		return 0;
	for (const char *c = cold + 5; *c; c++)
		if (*c != '.' && (*c < '0' || *c > '9'))
			return 0;
	return (size_t)(cold - name);
}

struct named { const char *raw; uint32_t index; };

static int by_raw(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->raw, ((const struct named *)b)->raw);
}

static int compare_base(const char *name, const char *base, size_t n)
{
	int order = strncmp(name, base, n);

	return order ? order : name[n] != 0;
}

/* Static functions of one name are told apart by their source file's part of the table; several that fit: none is sure. */
static uint32_t whole_of(const struct functions *f, const struct named *names, size_t n, uint32_t cold, size_t base)
{
	const struct function *part = &f->v.v[cold];
	size_t low = 0, high = n;
	uint32_t fits = cold, only = cold;
	unsigned found = 0, fitting = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_base(names[middle].raw, part->raw, base) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && !compare_base(names[low].raw, part->raw, base); low++) {
		const struct function *whole = &f->v.v[names[low].index];

		only = names[low].index;
		found++;
		if (whole->unit == part->unit) {
			fits = names[low].index;
			fitting++;
		}
	}
	return found == 1 ? only : fitting == 1 ? fits : cold;
}

static void join_cold(struct functions *f)
{
	struct named *names = xcalloc(f->v.n, sizeof *names);

	for (size_t i = 0; i < f->v.n; i++)
		names[i] = (struct named){ f->v.v[i].raw, (uint32_t)i };
	if (f->v.n)
		qsort(names, f->v.n, sizeof *names, by_raw);
	for (size_t i = 0; i < f->v.n; i++) {
		size_t base = f->v.v[i].is_rest ? 0 : cold_base(f->v.v[i].raw);

		f->v.v[i].whole = base ? whole_of(f, names, f->v.n, (uint32_t)i, base) : (uint32_t)i;
	}
	/* "f.cold" of "f.cold": each step's name is shorter, so this ends. */
	for (size_t i = 0; i < f->v.n; i++)
		while (f->v.v[f->v.v[i].whole].whole != f->v.v[i].whole)
			f->v.v[i].whole = f->v.v[f->v.v[i].whole].whole;
	for (size_t i = 0; i < f->v.n; i++)
		f->v.v[f->v.v[i].whole].has_cold |= f->v.v[i].whole != i;
	free(names);
}

static void name_functions(struct functions *f)
{
	for (size_t i = 0; i < f->v.n; i++) {
		struct function *s = &f->v.v[i];

		s->name = demangle(&f->arena, s->raw);
		if (s->type == STT_GNU_IFUNC) {
			size_t n = strlen(s->name) + sizeof " [resolver]";
			char *name = arena_alloc(&f->arena, n);

			snprintf(name, n, "%s [resolver]", s->name);
			s->name = name;
		}
	}
}

void functions_find(struct functions *f, const struct object *o, struct lines *l)
{
	struct frames frames;

	*f = (struct functions){0};
	frames_read(&frames, o);
	if (l)
		add_symbols(f, o, l);
	join_aliases(f);
	size_sizeless(f, o, &frames);
	find_reach(f);
	add_fdes(f, &frames);
	add_sections(f, o);
	join_cold(f);
	name_functions(f);
	frames_free(&frames);
}

void functions_free(struct functions *f)
{
	vec_free(&f->v);
	free(f->reach);
	arena_free(&f->arena);
}
