/* image-dynamic.c - edits of the dynamic section, which stays where it is. */
#include "tools/so-gen/image-state.h"
#include <stdlib.h>
#include <string.h>

static unsigned word(const struct object *o)
{
	return image_is_wide(o) ? 8 : 4;
}

uint8_t *image_dynamic_entry(struct image *img, size_t i)
{
	const GElf_Phdr *p = &img->o->phdrs[img->state->dynamic];
	size_t size = 2 * word(img->o);

	return i < p->p_filesz / size ? img->bytes + p->p_offset + i * size : NULL;
}

static int64_t tag_of(const struct object *o, const uint8_t *entry)
{
	uint64_t tag = object_word(o, entry, word(o));

	return image_is_wide(o) ? (int64_t)tag : (int32_t)tag;
}

static bool replace(struct image *img, int64_t tag, int64_t by, uint64_t value)
{
	const struct object *o = img->o;
	uint8_t *p;

	for (size_t i = 0; (p = image_dynamic_entry(img, i)) && tag_of(o, p) != DT_NULL; i++)
		if (tag_of(o, p) == tag) {
			image_put(o, image_put(o, p, by, word(o)), value, word(o));
			return true;
		}
	return false;
}

bool image_dynamic(struct image *img, int64_t tag, uint64_t value)
{
	const struct object *o = img->o;
	uint8_t *p, *next;
	size_t i = 0;

	if (replace(img, tag, tag, value))
		return true;
	while ((p = image_dynamic_entry(img, i)) && tag_of(o, p) != DT_NULL)
		i++;
	next = image_dynamic_entry(img, i + 1);
	if (p && next && tag_of(o, next) == DT_NULL) {
		image_put(o, image_put(o, p, tag, word(o)), value, word(o));
		return true;
	}
	return replace(img, DT_RELACOUNT, tag, value) || replace(img, DT_RELCOUNT, tag, value);
}

static bool is_pointer(int64_t tag)
{
	switch (tag) {
	case DT_HASH: case DT_GNU_HASH: case DT_SYMTAB: case DT_STRTAB:
	case DT_VERSYM: case DT_VERDEF: case DT_VERNEED:
		return true;
	}
	return false;
}

void image_move_pointers(struct image *img)
{
	const struct object *o = img->o;

	for (size_t i = 0; i < o->dynnum; i++) {
		uint64_t value = o->dynamic[i].d_un.d_val;

		if (is_pointer(o->dynamic[i].d_tag))
			image_dynamic(img, o->dynamic[i].d_tag, value + image_shift(img, value));
	}
	if (img->state->strings_size) {
		const struct old_section *old = image_touched(img, object_dyn(o, DT_STRTAB)->d_un.d_ptr);

		image_dynamic(img, DT_STRSZ, old->moved->size);
	}
}

/* The length of $ORIGIN or ${ORIGIN} at s, or 0. */
static size_t origin_at(const char *s)
{
	if (!strncmp(s, "$ORIGIN", 7))
		return 7;
	return !strncmp(s, "${ORIGIN}", 9) ? 9 : 0;
}

static char *expand(const char *s, const char *origin)
{
	char *out = xstrdup("");

	while (*s) {
		size_t skip = origin_at(s), len = 1;
		char *longer;

		while (!skip && s[len] && s[len] != '$')
			len++;
		longer = skip ? xasprintf("%s%s", out, origin) : xasprintf("%s%.*s", out, (int)len, s);
		free(out);
		out = longer;
		s += skip ? skip : len;
	}
	return out;
}

static bool has_origin(const char *s)
{
	while ((s = strchr(s, '$'))) {
		if (origin_at(s))
			return true;
		s++;
	}
	return false;
}

static bool is_path(int64_t tag)
{
	return tag == DT_RUNPATH || tag == DT_RPATH;
}

const char *image_expand_origin(struct image *img, const char *origin)
{
	const struct object *o = img->o;
	struct image_state *st = img->state;
	const GElf_Dyn *strsz = object_dyn(o, DT_STRSZ), *strtab = object_dyn(o, DT_STRTAB);
	const struct object_section *s = strtab ? object_section_at(o, strtab->d_un.d_ptr) : NULL;

	for (size_t i = 0; i < o->dynnum; i++) {
		int64_t tag = o->dynamic[i].d_tag;
		const char *value;
		char *new;
		size_t len;

		if (!is_path(tag) && tag != DT_NEEDED && tag != DT_AUXILIARY && tag != DT_FILTER)
			continue;
		value = object_dynstr(o, o->dynamic[i].d_un.d_val);
		if (!has_origin(value))
			continue;
		if (!strsz || !s)
			return "$ORIGIN cannot be expanded: no section holds the dynamic strings";
		if (is_path(tag) && strchr(origin, ':'))
			return image_fault("$ORIGIN cannot be expanded: there is a colon in %s", origin);
		new = expand(value, origin);
		len = strlen(new) + 1;
		st->strings = xrealloc(st->strings, st->strings_size + len);
		memcpy(st->strings + st->strings_size, new, len);
		free(new);
		image_put(o, image_dynamic_entry(img, i) + word(o), s->h.sh_size + st->strings_size, word(o));
		st->strings_size += len;
	}
	return NULL;
}
