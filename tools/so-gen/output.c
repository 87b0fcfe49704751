/* output.c - the new sections and the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "formats/relocations.h"
#include "lib/base/msg.h"
#include "lib/base/out.h"
#include "tools/so-gen/gen.h"

/* Where the first constructor of the object is: the stub takes its place and goes on to it. */
static void find_init(struct gen *g)
{
	const GElf_Dyn *init = object_dyn(&g->o, DT_INIT), *array = object_dyn(&g->o, DT_INIT_ARRAY), *size = object_dyn(&g->o, DT_INIT_ARRAYSZ);
	if (g->options->identity)
		return;
	if (init) {
		g->init_next = init->d_un.d_ptr;
		return;
	}
	for (size_t i = 0; array && size && size->d_un.d_val >= g->c.m->word && i < g->relocs.n; i++)
		if (g->relocs.v[i].offset == array->d_un.d_ptr && g->relocs.v[i].type == g->c.m->relative) {
			g->init_slot = array->d_un.d_ptr;
			g->init_next = (uint64_t)g->relocs.v[i].addend;
		}
	/* Such a program has no C library's start-up code, which would call its constructors. */
	if (g->info->is_app && !array && !g->c.m->through_gp) {
		g->init_at_entry = true;
		g->init_next = g->o.eh.e_entry;
	}
}

static uint32_t take(struct gen *g, uint32_t size, uint32_t align)
{
	uint32_t at = (g->code_size + align - 1) & ~(align - 1);
	g->code_size = at + size;
	return at;
}

static void place_stubs(struct gen *g)
{
	const struct machine *m = g->c.m;
	uint32_t springs = 0, forks = 0;
	for (size_t i = 0; i < g->springs.n; i++)
		springs += gen_spring_size(g, g->springs.v[i]) + (g->options->identity ? 0 : g->blocks.v[gen_block_at(g, g->springs.v[i])].inserted);
	for (size_t i = 0; i < g->blocks.n; i++)
		forks += (g->blocks.v[i].flags & BLOCK_FORK) != 0;
	g->code_size = g->text_size;
	g->spring_stubs = take(g, springs, 16);
	if (g->options->identity)
		return;
	g->fork_stubs = take(g, forks * m->fork_stub_size, 16);
	g->fork_common = take(g, m->fork_common_size, 16);
	g->init_stub = take(g, m->init_stub_size, 16);
	g->blob = take(g, m->runtime->size, 16);
}

/* The original's map and what stayed, with the reasons: for count-extract. */
static void write_info(struct gen *g, char **bytes, size_t *size)
{
	FILE *f = open_memstream(bytes, size);
	struct stream_writer *w = xcalloc(1, sizeof *w);
	if (!f)
		msg_die(NULL, "out of memory");
	stream_begin(w, STREAM_RELOCATIONS, f, "memory");
	struct object_info info = *g->info;
	info.blocks = g->counted;
	info.text_bytes = g->moved_bytes + g->kept_bytes;
	stream_object(w, &info);
	for (size_t i = 0; i < g->c.ranges.n; i++) {
		const struct code_range *r = &g->c.ranges.v[i];
		if (!r->why)
			continue;
		struct stream_row row = { .type = REL_NOT_MOVED, .address = r->start, .information = r->end - r->start };
		row.details = (struct row_details){ .present = true, .kind = code_range_kinds[r->kind], .why = r->why };
		stream_row(w, &row);
	}
	for (size_t i = 0; i < g->rows->entries.n; i++)
		if (gen_block_at(g, g->rows->entries.v[i].at) != CODE_NONE)
			stream_row3(w, REL_PROLOGUE, g->rows->entries.v[i].at, 0);
	stream_object_end(w);
	stream_finish(w);
	fclose(f);
	free(w);
}

static void note(const struct gen *g, struct image_section *s, const uint8_t *id, unsigned n)
{
	gen_put(g, s->bytes, sizeof SOPROF_NOTE_OWNER, 4);
	gen_put(g, s->bytes + 4, 4 + n, 4);
	gen_put(g, s->bytes + 8, SOPROF_NOTE_TYPE, 4);
	memcpy(s->bytes + 12, SOPROF_NOTE_OWNER, sizeof SOPROF_NOTE_OWNER);
	gen_put(g, s->bytes + 20, SOPROF_NOTE_VERSION, 4);
	if (n)
		memcpy(s->bytes + 24, id, n);
}

const char *gen_sections(struct gen *g)
{
	struct image *img = &g->image;
	char *info = NULL;
	size_t info_size = 0;
	unsigned id_size = 0;
	uint32_t page = g->c.m->page;
	find_init(g);
	place_stubs(g);
	const char *fault = gen_unwind(g);
	if (fault)
		return fault;
	write_info(g, &info, &info_size);
	const uint8_t *id = object_build_id(&g->o, &id_size);
	if (!g->options->identity) {
		g->private_page = image_add(img, IMAGE_RW, SECTION_PRIVATE, SHT_PROGBITS, page, page);
		g->header = image_add(img, IMAGE_RW, SECTION_COUNTERS, SHT_PROGBITS, page, page);
		g->counters = image_add(img, IMAGE_RW, SECTION_COUNTS, SHT_NOBITS, (8 * (g->blocks.n + g->springs.n) + page - 1) & -(uint64_t)page, page);
	}
	g->note = image_add(img, IMAGE_R, SECTION_NOTE, SHT_PROGBITS, 24 + ((id_size + 3) & ~3u), 4);
	g->info_section = image_add(img, IMAGE_R, SECTION_INFO, SHT_PROGBITS, info_size, 1);
	if (g->unwind.eh_frame_size) {
		g->except = g->unwind.except_size ? image_add(img, IMAGE_R, ".gcc_except_table", SHT_PROGBITS, g->unwind.except_size, 4) : NULL;
		g->eh_frame_hdr = image_add(img, IMAGE_R, ".eh_frame_hdr", SHT_PROGBITS, g->unwind.eh_frame_hdr_size, 4);
		g->eh_frame = image_add(img, IMAGE_R, ".eh_frame", SHT_PROGBITS, g->unwind.eh_frame_size, 8);
	}
	g->text = image_add(img, IMAGE_X, SECTION_TEXT, SHT_PROGBITS, g->code_size, 64);
	if (g->c.m->through_gp)
		g->places = image_add(img, IMAGE_X, SECTION_PLACES, SHT_PROGBITS, g->c.hi - g->c.lo, 4);
	g->map = image_add(img, IMAGE_X, SECTION_MAP, SHT_PROGBITS, g->blocks.n * sizeof(struct map_row), 4);
	g->spring_section = image_add(img, IMAGE_X, SECTION_SPRINGS, SHT_PROGBITS, g->springs.n * 4, 4);
	fault = image_layout(img);
	memcpy(g->info_section->bytes, info, info_size);
	free(info);
	note(g, g->note, id, id_size);
	return fault;
}

static void write_map(struct gen *g)
{
	struct map_row *rows = (struct map_row *)g->map->bytes;
	for (size_t i = 0; i < g->blocks.n; i++) {
		const struct block *b = &g->blocks.v[i];
		bool uncounted = g->options->identity || !gen_counts(b);
		gen_put(g, &rows[i].old, b->old, 4);
		gen_put(g, &rows[i].new, g->text->address + b->new, 4);
		gen_put(g, &rows[i].size_flags, b->size | (b->flags & BLOCK_MARK ? MAP_MARK : 0) | (b->flags & BLOCK_SPLIT ? MAP_SPLIT : 0)
			| (uncounted ? MAP_UNCOUNTED : 0) | (b->flags & BLOCK_GOES_ON ? MAP_GOES_ON : 0) | (uint32_t)b->inserted << 24, 4);
	}
	for (size_t i = 0; i < g->springs.n; i++)
		gen_put(g, g->spring_section->bytes + 4 * i, g->springs.v[i], 4);
}

#define PUT(field, value) gen_put(g, &(field), (value), sizeof (field))

static void write_header(struct gen *g)
{
	struct counters_private *private_page = (struct counters_private *)g->private_page->bytes;
	struct counters_header *h = (struct counters_header *)g->header->bytes;
	unsigned n = 0;
	const uint8_t *id = object_build_id(&g->o, &n);
	memcpy(h->magic, COUNTERS_MAGIC, sizeof h->magic);
	PUT(h->version, COUNTERS_VERSION);
	PUT(h->header_size, g->c.m->page);
	PUT(h->page, g->c.m->page);
	PUT(h->flags, g->options->atomic ? COUNTERS_ATOMIC : 0);
	PUT(h->counters, g->blocks.n + g->springs.n);
	PUT(h->blocks, g->blocks.n);
	PUT(h->header_address, g->header->address);
	PUT(h->map_hash, XXH3_64bits(g->map->bytes, g->map->size));
	PUT(h->original_build_id_size, n);
	if (n)
		memcpy(h->original_build_id, id, n);
	snprintf(h->object, sizeof h->object, "%s", g->name);
	PUT(private_page->alive, 1);
	snprintf(private_page->directory, sizeof private_page->directory, "%s", g->options->directory);
}

bool gen_write(struct gen *g)
{
	g->name = gen_name(g);
	write_map(g);
	if (g->eh_frame) {
		if (!unwind_place(&g->unwind, g->text->address, g->eh_frame->address, g->eh_frame_hdr->address, g->except ? g->except->address : 0)) {
			msg_error(g->o.path, "unwinding tables are out of reach of new text");
			return false;
		}
		memcpy(g->eh_frame->bytes, g->unwind.eh_frame, g->eh_frame->size);
		memcpy(g->eh_frame_hdr->bytes, g->unwind.eh_frame_hdr, g->eh_frame_hdr->size);
		if (g->except)
			memcpy(g->except->bytes, g->unwind.except, g->except->size);
		image_eh_frame(&g->image, g->eh_frame_hdr);
	}
	uint8_t build_id[32] = { 0 };
	unsigned n = 0;
	if (!g->options->identity) {
		write_header(g);
		n = image_build_id(&g->image, build_id);
		struct counters_header *h = (struct counters_header *)g->header->bytes;
		memcpy(h->build_id, build_id, sizeof h->build_id);
		PUT(h->build_id_size, n);
	}
	char *path = xasprintf("%s/%s", g->options->directory, g->name);
	struct out out;
	bool good = out_open(&out, path, 0777);
	if (good && !(good = image_write(&g->image, out.f, build_id, &n)))
		out_abandon(&out);
	else if (good)
		good = out_commit(&out);
	free(path);
	return good;
}
