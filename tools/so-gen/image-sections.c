/* image-sections.c - the section headers of the new file, and where what is not loaded stands. */
#include "tools/so-gen/image-state.h"
#include <stdlib.h>
#include <string.h>

/* Sections whose places in the file are not bound to addresses. */
static uint64_t place_loose(struct image *img, uint64_t at)
{
	const struct object *o = img->o;

	for (size_t i = 1; i < o->shnum; i++) {
		struct old_section *old = &img->state->old[i];
		uint64_t align = o->sections[i].h.sh_addralign;

		if (old->fate != OLD_LOOSE)
			continue;
		at = image_up(at, align <= 64 ? align : 64);
		old->offset = at;
		at += old->size;
	}
	return at;
}

static uint32_t add_name(struct image_tail *t, const char *name)
{
	size_t at = t->names.n, len = strlen(name) + 1;

	vec_reserve(&t->names, at + len);
	memcpy(t->names.v + at, name, len);
	t->names.n += len;
	return at;
}

static uint32_t new_index(const struct image *img, uint32_t old)
{
	return old < img->o->shnum ? img->state->old[old].index : 0;
}

static bool is_unwinding(const char *name)
{
	return !strcmp(name, ".eh_frame") || !strcmp(name, ".eh_frame_hdr") || !strcmp(name, ".gcc_except_table");
}

static void add_old_row(struct image *img, struct image_tail *t, size_t i)
{
	const struct object_section *s = &img->o->sections[i];
	const struct old_section *old = &img->state->old[i];
	GElf_Shdr h = s->h;

	if (img->state->eh_frame_hdr && is_unwinding(s->name)) {
		char *name = xasprintf(".soprof.old_%s", s->name + 1);

		h.sh_name = add_name(t, name);
		h.sh_type = SHT_PROGBITS;
		free(name);
	} else {
		h.sh_name = add_name(t, s->name);
	}
	h.sh_link = new_index(img, h.sh_link);
	if (h.sh_type == SHT_REL || h.sh_type == SHT_RELA || h.sh_flags & SHF_INFO_LINK)
		h.sh_info = new_index(img, h.sh_info);
	else if (h.sh_type == SHT_SYMTAB)
		h.sh_info -= old->gone;
	if (old->fate == OLD_SLID) {
		h.sh_addr += img->state->slide;
		h.sh_offset += img->state->slide;
	} else if (old->fate == OLD_MOVED) {
		h.sh_addr = old->moved->address;
		h.sh_offset = old->moved->offset;
		h.sh_size = old->moved->size;
	} else if (old->fate == OLD_LOOSE) {
		h.sh_offset = old->offset;
		h.sh_size = old->size;
	}
	vec_push(&t->rows, h);
}

static void add_new_row(struct image *img, struct image_tail *t, const struct image_section *s)
{
	static const uint64_t flags[] = { [IMAGE_RW] = SHF_WRITE, [IMAGE_R] = 0, [IMAGE_X] = SHF_EXECINSTR };
	GElf_Shdr h = { .sh_name = add_name(t, s->name), .sh_type = s->type, .sh_flags = SHF_ALLOC | flags[s->where],
	                .sh_addr = s->address, .sh_offset = s->offset, .sh_size = s->size, .sh_link = new_index(img, s->link_old),
	                .sh_addralign = s->align, .sh_entsize = s->entsize };

	vec_push(&t->rows, h);
}

static bool is_moved(const struct image *img, const struct image_section *s)
{
	for (size_t i = 1; i < img->o->shnum; i++)
		if (img->state->old[i].moved == s)
			return true;
	return false;
}

static void add_rows(struct image *img, struct image_tail *t)
{
	const struct object *o = img->o;

	vec_push(&t->rows, (GElf_Shdr){ 0 });
	add_name(t, "");
	for (size_t i = 1; i < o->shnum; i++)
		if (img->state->old[i].fate != OLD_DROPPED)
			add_old_row(img, t, i);
	for (size_t i = 0; i < img->sections.n; i++)
		if (!is_moved(img, img->sections.v[i]))
			add_new_row(img, t, img->sections.v[i]);
}

static uint64_t end_of_segments(const struct image *img)
{
	uint64_t end = img->state->file_end;

	for (int w = 0; w < IMAGE_SEGMENTS; w++) {
		const struct new_segment *g = &img->state->segments[w];

		if (g->used && g->filesz)
			end = g->offset + g->filesz;
	}
	return end;
}

static void write_ehdr(struct image *img, const struct image_tail *t)
{
	const struct object *o = img->o;
	bool wide = image_is_wide(o);

	image_put(o, img->bytes + (wide ? 40 : 32), t->rows_at, wide ? 8 : 4);
	image_put(o, img->bytes + (wide ? 60 : 48), t->rows.n, 2);
	image_put(o, img->bytes + (wide ? 62 : 50), t->rows.n - 1, 2);
}

void image_make_tail(struct image *img, struct image_tail *t)
{
	const struct object *o = img->o;
	GElf_Shdr names = { .sh_type = SHT_STRTAB, .sh_addralign = 1 };

	memset(t, 0, sizeof *t);
	for (size_t i = 1; i < o->shnum; i++)
		if (img->state->old[i].own)
			image_compact_symtab(img, i);
	t->names_at = place_loose(img, end_of_segments(img));
	add_rows(img, t);
	names.sh_name = add_name(t, ".shstrtab");
	names.sh_offset = t->names_at;
	names.sh_size = t->names.n;
	vec_push(&t->rows, names);
	t->rows_at = image_up(t->names_at + t->names.n, 8);
	t->table_size = t->rows.n * o->eh.e_shentsize;
	t->table = xmalloc(t->table_size);
	for (size_t i = 0; i < t->rows.n; i++)
		image_put_shdr(o, t->table + i * o->eh.e_shentsize, &t->rows.v[i]);
	write_ehdr(img, t);
}

void image_free_tail(struct image_tail *t)
{
	vec_free(&t->rows);
	vec_free(&t->names);
	free(t->table);
}
