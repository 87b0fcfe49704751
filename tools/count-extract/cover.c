/* cover.c - the union of what FDEs and function symbols cover. */
#include <stdlib.h>
#include "lib/elf/frames.h"
#include "tools/count-extract/cover.h"

struct range { uint64_t start, end; };
struct ranges { VEC(struct range) r; };

static int by_start(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void add_symbols(struct ranges *ranges, const struct object *o, struct object_symbols symbols)
{
	for (size_t i = 0; i < symbols.n; i++) {
		const struct object_symbol *s = &symbols.v[i];

		/* Both ends: a symbol's size may lie. */
		if ((s->type == STT_FUNC || s->type == STT_GNU_IFUNC) && s->section != SHN_UNDEF && s->size && s->size <= UINT64_MAX - s->value &&
		    object_is_code(o, s->value) && object_is_code(o, s->value + s->size - 1))
			vec_push(&ranges->r, ((struct range){ s->value, s->value + s->size }));
	}
	free(symbols.v);
}

uint64_t covered_bytes(const struct object *o)
{
	struct ranges ranges = {{0}};
	struct frames frames;
	uint64_t bytes = 0, at = 0;

	frames_read(&frames, o);
	for (size_t i = 0; i < frames.fde_count; i++)
		vec_push(&ranges.r, ((struct range){ frames.fdes[i].start, frames.fdes[i].start + frames.fdes[i].size }));
	frames_free(&frames);
	add_symbols(&ranges, o, object_dynsyms(o));
	add_symbols(&ranges, o, object_symtab(o));
	if (ranges.r.n)
		qsort(ranges.r.v, ranges.r.n, sizeof *ranges.r.v, by_start);
	for (size_t i = 0; i < ranges.r.n; i++) {
		struct range r = ranges.r.v[i];

		if (r.end <= at)
			continue;
		bytes += r.end - (r.start > at ? r.start : at);
		at = r.end;
	}
	vec_free(&ranges.r);
	return bytes;
}
