/* notes.c - the notes of an object: its build-id, and whether it is profiled already. */
#include "formats/counters.h"
#include "lib/elf/object.h"
#include <string.h>

struct wanted { const char *owner; uint32_t type; };

/* Walks the notes in [offset, offset + size), which lie in the file.  Descriptor of the wanted one, or NULL. */
static const uint8_t *walk(const struct object *o, uint64_t offset, uint64_t size, uint64_t align, const struct wanted *w, unsigned *n)
{
	const uint8_t *p = o->image + offset;
	size_t owner = strlen(w->owner) + 1;

	/* Other alignments than 8 mean 4: gelf_getnote and the loader do the same. */
	align = align == 8 ? 8 : 4;
	while (size >= 12) {
		uint64_t namesz = object_word(o, p, 4), descsz = object_word(o, p + 4, 4);
		uint64_t desc = (12 + namesz + align - 1) & -align, next = (desc + descsz + align - 1) & -align;

		if (desc > size || descsz > size - desc)
			return NULL;
		if (object_word(o, p + 8, 4) == w->type && namesz == owner && !memcmp(p + 12, w->owner, owner)) {
			*n = descsz;
			return p + desc;
		}
		if (next > size)
			return NULL;
		p += next;
		size -= next;
	}
	return NULL;
}

static const uint8_t *find(const struct object *o, const struct wanted *w, unsigned *n)
{
	const uint8_t *desc;

	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *p = &o->phdrs[i];

		if (p->p_type == PT_NOTE && (desc = walk(o, p->p_offset, p->p_filesz, p->p_align, w, n)))
			return desc;
	}
	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;

		/* Our own is not of the type of notes: eu-elflint knows no owner of that name. */
		if ((h->sh_type == SHT_NOTE || (h->sh_type == SHT_PROGBITS && !strcmp(o->sections[i].name, SECTION_NOTE)))
		    && (desc = walk(o, h->sh_offset, h->sh_size, h->sh_addralign, w, n)))
			return desc;
	}
	return NULL;
}

const uint8_t *object_build_id(const struct object *o, unsigned *n)
{
	static const struct wanted gnu = { "GNU", NT_GNU_BUILD_ID };
	const uint8_t *id;

	*n = 0;
	id = find(o, &gnu, n);
	if (*n > OBJECT_BUILD_ID_MAX)
		*n = OBJECT_BUILD_ID_MAX;
	return id;
}

bool object_is_profiled(const struct object *o)
{
	static const struct wanted ours = { SOPROF_NOTE_OWNER, SOPROF_NOTE_TYPE };
	unsigned n;

	return find(o, &ours, &n) != NULL;
}
