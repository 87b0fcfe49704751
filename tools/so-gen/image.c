/* image.c - a new object's sections, their places, and edits of the original's bytes. */
#include "tools/so-gen/image-state.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const char *image_fault(const char *format, ...)
{
	static _Thread_local char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	return text;
}

void image_free(struct image *img)
{
	struct image_state *st = img->state;

	for (size_t i = 0; st && st->old && i < img->o->shnum; i++)
		free(st->old[i].own);
	if (st) {
		free(st->old);
		free(st->strings);
	}
	free(st);
	for (size_t i = 0; i < img->sections.n; i++) {
		free(img->sections.v[i]->bytes);
		free(img->sections.v[i]);
	}
	vec_free(&img->sections);
	if (img->bytes)
		munmap(img->bytes, img->size);
	memset(img, 0, sizeof *img);
}

uint64_t image_page(const struct image *img)
{
	switch (img->o->eh.e_machine) {
	case EM_386: case EM_X86_64: return 4096;
	}
	return 65536;
}

struct image_section *image_add(struct image *img, enum image_where where, const char *name, uint32_t type, uint64_t size, uint64_t align)
{
	struct image_section *s = xcalloc(1, sizeof *s);

	*s = (struct image_section){ .where = where, .name = name, .type = type, .size = size, .align = align ? align : 1,
	                             .index = img->state->indices++ };
	if (type != SHT_NOBITS)
		s->bytes = xcalloc(1, size ? size : 1);
	vec_push(&img->sections, s);
	return s;
}

static uint64_t widest(const struct image *img, enum image_where where, bool *any)
{
	uint64_t align = 1;

	*any = false;
	for (size_t i = 0; i < img->sections.n; i++) {
		const struct image_section *s = img->sections.v[i];

		if (s->where != where)
			continue;
		*any = true;
		if (s->align > align)
			align = s->align;
	}
	return align;
}

/* Gives places behind the segment's start to its sections: first those with bytes in the file, then the others. */
static void place_sections(struct image *img, enum image_where where)
{
	struct new_segment *g = &img->state->segments[where];

	for (int nobits = 0; nobits < 2; nobits++)
		for (size_t i = 0; i < img->sections.n; i++) {
			struct image_section *s = img->sections.v[i];

			if (s->where != where || (s->type == SHT_NOBITS) != nobits)
				continue;
			g->memsz = image_up(g->memsz, s->align);
			s->address = g->address + g->memsz;
			s->offset = g->offset + (nobits ? g->filesz : g->memsz);
			g->memsz += s->size;
			if (!nobits)
				g->filesz = g->memsz;
		}
}

/* eu-elflint takes a NOBITS section for the part of an earlier segment whose bss, were it in the file, would reach over it:
   where that costs little, the new segments begin behind such a place. */
static uint64_t first_offset(const struct image *img)
{
	uint64_t behind = img->state->file_end;

	for (size_t i = 0; i < img->o->phnum; i++) {
		const GElf_Phdr *p = &img->o->phdrs[i];

		if (p->p_type == PT_LOAD && p->p_memsz - p->p_filesz <= 128 << 10 && p->p_offset + p->p_memsz > behind)
			behind = p->p_offset + p->p_memsz;
	}
	return behind;
}

const char *image_layout(struct image *img)
{
	struct image_state *st = img->state;
	uint64_t page = image_page(img), offset = first_offset(img), address = st->memory_end;

	for (int w = 0; w < IMAGE_SEGMENTS; w++) {
		struct new_segment *g = &st->segments[w];
		uint64_t align = widest(img, w, &g->used);

		if (!g->used)
			continue;
		if (align > page)
			return image_fault("a section wants an alignment of %llu, above the page's", (unsigned long long)align);
		/* Nobody's last bytes share a page of the file with code, but 64 KiB of nothing are not worth it. */
		g->offset = image_up(offset, align > 4096 ? align : 4096);
		g->address = image_up(address, page) + g->offset % page;
		g->filesz = g->memsz = 0;
		place_sections(img, w);
		offset = g->offset + g->filesz;
		address = g->address + g->memsz;
	}
	if (!image_is_wide(img->o) && (address > UINT32_MAX || offset > INT32_MAX))
		return "too large: the new segments do not fit into 32-bit addresses";
	image_move_pointers(img);
	image_renumber_symbols(img);
	return NULL;
}

struct old_section *image_touched(const struct image *img, uint64_t address)
{
	const struct image_state *st = img->state;

	if (address < st->touched_lo || address >= st->touched_hi)
		return NULL;
	for (size_t i = 1; i < img->o->shnum; i++) {
		const GElf_Shdr *h = &img->o->sections[i].h;
		struct old_section *old = &st->old[i];

		if ((old->fate == OLD_SLID || old->fate == OLD_MOVED) && address - h->sh_addr < h->sh_size)
			return old;
	}
	return NULL;
}

uint64_t image_shift(const struct image *img, uint64_t address)
{
	const struct old_section *old = image_touched(img, address);

	if (!old)
		return 0;
	return old->fate == OLD_SLID ? img->state->slide
	                             : old->moved->address - img->o->sections[old - img->state->old].h.sh_addr;
}

uint8_t *image_at(struct image *img, uint64_t address, size_t len)
{
	const struct old_section *old = image_touched(img, address);

	if (old) {
		const GElf_Shdr *h = &img->o->sections[old - img->state->old].h;

		if (len > h->sh_size - (address - h->sh_addr))
			return NULL;
		if (old->fate == OLD_MOVED)
			return old->moved->bytes + (address - h->sh_addr);
		return img->bytes + h->sh_offset + (address - h->sh_addr) + img->state->slide;
	}
	const uint8_t *p = object_at(img->o, address, len);

	return p ? img->bytes + (p - img->o->image) : NULL;
}

void image_eh_frame(struct image *img, const struct image_section *hdr)
{
	img->state->eh_frame_hdr = hdr;
}

void image_entry(struct image *img, uint64_t address)
{
	/* e_entry stands at the same place in both classes. */
	image_put(img->o, img->bytes + 24, address, image_is_wide(img->o) ? 8 : 4);
}
