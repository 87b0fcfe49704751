/* image-headers.c - ELF structures in the object's class and byte order; the grown program header table. */
#include "tools/so-gen/image-state.h"
#include <stdlib.h>

uint8_t *image_put(const struct object *o, uint8_t *p, uint64_t value, unsigned bytes)
{
	bool big = o->eh.e_ident[EI_DATA] == ELFDATA2MSB;

	for (unsigned i = 0; i < bytes; i++)
		p[big ? bytes - 1 - i : i] = value >> 8 * i;
	return p + bytes;
}

void image_put_phdr(const struct object *o, uint8_t *p, const GElf_Phdr *h)
{
	bool wide = image_is_wide(o);
	unsigned w = wide ? 8 : 4;

	p = image_put(o, p, h->p_type, 4);
	if (wide)
		p = image_put(o, p, h->p_flags, 4);
	p = image_put(o, p, h->p_offset, w);
	p = image_put(o, p, h->p_vaddr, w);
	p = image_put(o, p, h->p_paddr, w);
	p = image_put(o, p, h->p_filesz, w);
	p = image_put(o, p, h->p_memsz, w);
	if (!wide)
		p = image_put(o, p, h->p_flags, 4);
	image_put(o, p, h->p_align, w);
}

void image_put_shdr(const struct object *o, uint8_t *p, const GElf_Shdr *h)
{
	unsigned w = image_is_wide(o) ? 8 : 4;

	p = image_put(o, p, h->sh_name, 4);
	p = image_put(o, p, h->sh_type, 4);
	p = image_put(o, p, h->sh_flags, w);
	p = image_put(o, p, h->sh_addr, w);
	p = image_put(o, p, h->sh_offset, w);
	p = image_put(o, p, h->sh_size, w);
	p = image_put(o, p, h->sh_link, 4);
	p = image_put(o, p, h->sh_info, 4);
	p = image_put(o, p, h->sh_addralign, w);
	image_put(o, p, h->sh_entsize, w);
}

static GElf_Phdr segment_row(const struct image *img, int where)
{
	static const uint32_t flags[] = { [IMAGE_RW] = PF_R | PF_W, [IMAGE_R] = PF_R, [IMAGE_X] = PF_R | PF_X };
	const struct new_segment *g = &img->state->segments[where];

	return (GElf_Phdr){ .p_type = PT_LOAD, .p_flags = flags[where], .p_offset = g->offset, .p_vaddr = g->address,
	                    .p_paddr = g->address, .p_filesz = g->filesz, .p_memsz = g->memsz, .p_align = image_page(img) };
}

static void adjust_row(const struct image *img, size_t i, GElf_Phdr *p)
{
	const struct image_state *st = img->state;
	const struct image_section *hdr = st->eh_frame_hdr;
	uint64_t grown = st->first_end - p->p_offset;
	const struct old_section *old;

	if (i == st->first && grown > p->p_filesz) {
		p->p_filesz = p->p_memsz = grown;
	} else if (p->p_type == PT_GNU_EH_FRAME && hdr) {
		p->p_offset = hdr->offset;
		p->p_vaddr = p->p_paddr = hdr->address;
		p->p_filesz = p->p_memsz = hdr->size;
		p->p_align = hdr->align;
	} else if (p->p_type != PT_LOAD && p->p_filesz && (old = image_touched(img, p->p_vaddr))) {
		uint64_t shift = image_shift(img, p->p_vaddr);

		p->p_offset = old->moved ? old->moved->offset + (p->p_vaddr + shift - old->moved->address) : p->p_offset + shift;
		p->p_vaddr += shift;
		p->p_paddr += shift;
	}
}

/* The new rows stand behind the last old PT_LOAD: the loader wants them ascending. */
void image_write_phdrs(struct image *img)
{
	const struct object *o = img->o;
	const struct image_state *st = img->state;
	size_t last = 0, given_up = 0, phdr = o->phnum, n = 0;
	GElf_Phdr *rows = xcalloc(o->phnum + IMAGE_SEGMENTS, sizeof *rows);

	for (size_t i = 0; i < o->phnum; i++)
		if (o->phdrs[i].p_type == PT_LOAD)
			last = i;
	for (size_t i = 0; i < o->phnum; i++) {
		if (o->phdrs[i].p_type == PT_NULL && given_up < st->nulls) {
			given_up++;
			continue;
		}
		if (o->phdrs[i].p_type == PT_PHDR)
			phdr = n;
		rows[n] = o->phdrs[i];
		adjust_row(img, i, &rows[n++]);
		for (int w = 0; i == last && w < IMAGE_SEGMENTS; w++)
			if (st->segments[w].used)
				rows[n++] = segment_row(img, w);
	}
	if (phdr < o->phnum)
		rows[phdr].p_filesz = rows[phdr].p_memsz = n * o->eh.e_phentsize;
	for (size_t i = 0; i < n; i++)
		image_put_phdr(o, img->bytes + o->eh.e_phoff + i * o->eh.e_phentsize, &rows[i]);
	image_put(o, img->bytes + (image_is_wide(o) ? 56 : 44), n, 2);
	free(rows);
}
