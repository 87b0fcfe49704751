/* image-symbols.c - .dynsym and .symtab of the new file. */
#include "tools/so-gen/image-state.h"
#include <string.h>

/* A symbol of a section that is dropped: no object with this number in use gets here. */
enum { GONE = SHN_XINDEX };

struct symbol_form { unsigned size, word, value, bytes, info, shndx; };

/* Where the fields stand: value and size differ in width and place between the classes. */
static struct symbol_form form(const struct object *o)
{
	if (image_is_wide(o))
		return (struct symbol_form){ .size = 24, .word = 8, .value = 8, .bytes = 16, .info = 4, .shndx = 6 };
	return (struct symbol_form){ .size = 16, .word = 4, .value = 4, .bytes = 8, .info = 12, .shndx = 14 };
}

static void edit(const struct object *o, uint8_t *p, uint64_t value, uint16_t section, uint64_t size)
{
	struct symbol_form f = form(o);

	image_put(o, p + f.value, value, f.word);
	image_put(o, p + f.shndx, section, 2);
	if (size != ~UINT64_C(0))
		image_put(o, p + f.bytes, size, f.word);
}

void image_dynsym(struct image *img, size_t index, uint64_t value, uint16_t section, uint64_t size)
{
	const GElf_Dyn *symtab = object_dyn(img->o, DT_SYMTAB);
	unsigned each = form(img->o).size;
	uint8_t *p = symtab ? image_at(img, symtab->d_un.d_ptr + index * each, each) : NULL;

	if (p)
		edit(img->o, p, value, section, size);
}

void image_symtab(struct image *img, size_t index, uint64_t value, uint16_t section, uint64_t size)
{
	const struct object *o = img->o;

	for (size_t i = 1; i < o->shnum; i++) {
		struct old_section *old = &img->state->old[i];

		if (!old->own)
			continue;
		if (index < old->size / form(o).size)
			edit(o, old->own + index * form(o).size, value, section, size);
		return;
	}
}

static void renumber(struct image *img, uint8_t *p, uint64_t size)
{
	const struct object *o = img->o;
	struct symbol_form f = form(o);

	for (uint64_t n = size / f.size; n-- > 0; p += f.size) {
		uint16_t section = object_word(o, p + f.shndx, 2);
		const struct old_section *old;
		uint64_t value;

		if (section == SHN_UNDEF || section >= o->shnum)
			continue;
		old = &img->state->old[section];
		if (old->index != section)
			image_put(o, p + f.shndx, old->index ? old->index : GONE, 2);
		if ((old->fate != OLD_SLID && old->fate != OLD_MOVED) || GELF_ST_TYPE(p[f.info]) == STT_TLS)
			continue;
		value = object_word(o, p + f.value, f.word);
		image_put(o, p + f.value, value + image_shift(img, o->sections[section].h.sh_addr), f.word);
	}
}

void image_renumber_symbols(struct image *img)
{
	const struct object *o = img->o;

	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;
		struct old_section *old = &img->state->old[i];
		uint8_t *p = old->own;

		if (h->sh_type == SHT_DYNSYM && h->sh_flags & SHF_ALLOC)
			p = image_at(img, h->sh_addr, h->sh_size);
		if (p)
			renumber(img, p, h->sh_size);
	}
}

void image_compact_symtab(struct image *img, size_t section)
{
	const struct object *o = img->o;
	struct old_section *old = &img->state->old[section];
	struct symbol_form f = form(o);
	uint64_t n = old->size / f.size, locals = o->sections[section].h.sh_info, kept = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint8_t *p = old->own + i * f.size;

		if (object_word(o, p + f.shndx, 2) == GONE) {
			old->gone += i < locals;
			continue;
		}
		if (kept != i)
			memcpy(old->own + kept * f.size, p, f.size);
		kept++;
	}
	old->size = kept * f.size;
}
