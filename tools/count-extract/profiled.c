/* profiled.c - opens a profiled object and checks its parts against each other. */
#include <byteswap.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "formats/relocations.h"
#include "tools/count-extract/profiled.h"

static const uint8_t *section_bytes(const struct object *o, const char *name, size_t *size)
{
	const struct object_section *s = object_section(o, name);

	*size = 0;
	if (!s || s->h.sh_type == SHT_NOBITS || s->h.sh_offset > o->size || s->h.sh_size > o->size - s->h.sh_offset)
		return NULL;
	*size = s->h.sh_size;
	return o->image + s->h.sh_offset;
}

static bool is_foreign(const struct object *o)
{
	return (o->eh.e_ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER == __BIG_ENDIAN);
}

static void swap_header(struct counters_header *h)
{
	uint32_t *words[] = { &h->version, &h->header_size, &h->page, &h->flags, &h->original_build_id_size, &h->build_id_size,
			      &h->pid, &h->parent, &h->serial };
	uint64_t *longs[] = { &h->counters, &h->blocks, &h->map_hash, &h->header_address, &h->load_bias, &h->start_ns, &h->limit };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		*words[i] = bswap_32(*words[i]);
	for (size_t i = 0; i < sizeof longs / sizeof *longs; i++)
		*longs[i] = bswap_64(*longs[i]);
}

const char *counters_check_header(struct counters_header *h)
{
	static const char zeros[sizeof h->magic];

	if (!memcmp(h->magic, zeros, sizeof h->magic))
		return "not finished: its process was killed while making it, or is still at it";
	if (memcmp(h->magic, COUNTERS_MAGIC, sizeof h->magic))
		return "not a counter file";
	if (h->version == bswap_32(COUNTERS_VERSION))
		swap_header(h);
	if (h->version != COUNTERS_VERSION)
		return "a version of counters that this program does not read";
	if (h->header_size < sizeof *h || !h->page || h->header_size % h->page || h->blocks > h->counters || h->counters > UINT64_MAX / 64 ||
	    h->build_id_size > sizeof h->build_id || h->original_build_id_size > sizeof h->original_build_id)
		return "impossible sizes in the counter header";
	h->object[sizeof h->object - 1] = 0;
	h->executable[sizeof h->executable - 1] = 0;
	return NULL;
}

/* The header's and the map's numbers, and the map's rows: everything that is used as an index or an address later. */
static const char *check_map(const struct profiled *p, size_t map_size, size_t springs_size)
{
	uint64_t last = 0;

	if (map_size % sizeof(struct map_row) || map_size / sizeof(struct map_row) != p->header.blocks)
		return "the map table's size is not that of its counters";
	if (springs_size % 4 || springs_size / 4 != p->header.counters - p->header.blocks)
		return "the springboard table's size is not that of its counters";
	if (XXH3_64bits(p->map, map_size) != p->header.map_hash)
		return "the map table is not the one that its counters belong to";
	for (uint64_t i = 0; i < p->header.blocks; i++) {
		struct map_row row = profiled_row(p, i);

		if (row.old < last || !MAP_SIZE(&row))
			return "the map table is out of order";
		last = row.old;
	}
	return NULL;
}

static const char *copy(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

/* Reads .soprof.info to its end, so that its rows can be trusted later. */
static const char *read_info(struct profiled *p, const char *path)
{
	struct stream_reader r;
	enum stream_event event;
	unsigned objects = 0;
	char *name = xasprintf("%s: %s", path, SECTION_INFO);
	FILE *f = p->info_size ? fmemopen((void *)(uintptr_t)p->info, p->info_size, "rb") : NULL;

	if (!f) {
		free(name);
		return "it does not say what its original is";
	}
	stream_reader_init(&r, f, name, STREAM_RELOCATIONS);
	while ((event = stream_next(&r)) > STREAM_DONE)
		if (event == STREAM_OBJECT && !objects++) {
			p->original = r.object;
			p->original.path = copy(&p->arena, r.object.path);
			p->original.name = copy(&p->arena, r.object.name);
			p->original.soname = copy(&p->arena, r.object.soname);
			p->original.machine = copy(&p->arena, r.object.machine);
			p->original.why = copy(&p->arena, r.object.why);
			p->original.found = copy(&p->arena, r.object.found);
			p->original.skip = p->original.link_map = p->original.note = NULL;
		}
	stream_reader_free(&r);
	fclose(f);
	free(name);
	if (event != STREAM_DONE)
		return "what it says of its original cannot be read";
	return objects == 1 && p->original.path ? NULL : "it does not say what its original is";
}

static const char *open_parts(struct profiled *p)
{
	const struct object_section *counters = object_section(&p->o, SECTION_COUNTERS);
	size_t map_size, springs_size, header_size;
	const uint8_t *header;
	const char *why;

	p->map = section_bytes(&p->o, SECTION_MAP, &map_size);
	if (!object_section(&p->o, SECTION_MAP))
		return "";
	if (!p->map)
		return "the map table lies outside the file";
	header = section_bytes(&p->o, SECTION_COUNTERS, &header_size);
	if (counters && header_size < sizeof p->header)
		header = object_at(&p->o, counters->h.sh_addr, sizeof p->header);
	if (!header)
		return "it has no counter header";
	memcpy(&p->header, header, sizeof p->header);
	why = counters_check_header(&p->header);
	if (why)
		return why;
	p->springs = section_bytes(&p->o, SECTION_SPRINGS, &springs_size);
	p->info = section_bytes(&p->o, SECTION_INFO, &p->info_size);
	if (p->header.flags & COUNTERS_IDENTITY)
		return NULL;
	why = check_map(p, map_size, springs_size);
	return why ? why : read_info(p, p->o.path);
}

const char *profiled_open(struct profiled *p, const char *path)
{
	const char *why;

	memset(p, 0, sizeof *p);
	why = object_open(&p->o, path);
	if (why)
		return why;
	why = open_parts(p);
	if (why) {
		profiled_close(p);
		return why;
	}
	p->path = realpath(path, NULL);
	if (!(p->header.flags & COUNTERS_IDENTITY))
		p->sums = xcalloc(p->header.counters, sizeof *p->sums);
	return NULL;
}

void profiled_close(struct profiled *p)
{
	object_close(&p->o);
	arena_free(&p->arena);
	free(p->sums);
	free(p->read);
	free(p->look_note);
	free(p->path);
}

static uint32_t word_at(const struct profiled *p, const uint8_t *at)
{
	uint32_t w;

	memcpy(&w, at, sizeof w);
	return is_foreign(&p->o) ? bswap_32(w) : w;
}

struct map_row profiled_row(const struct profiled *p, uint64_t index)
{
	const uint8_t *at = p->map + index * sizeof(struct map_row);

	return (struct map_row){ word_at(p, at), word_at(p, at + 4), word_at(p, at + 8) };
}

uint64_t profiled_spring(const struct profiled *p, uint64_t index)
{
	return word_at(p, p->springs + index * 4);
}
