/* image-state.h - what image.c, image-plan.c, image-room.c and image-write.c share. */
#ifndef SO_GEN_IMAGE_STATE_H
#define SO_GEN_IMAGE_STATE_H
#include "tools/so-gen/image.h"

enum { IMAGE_SEGMENTS = 3 };

/* What becomes of a section of the original. */
enum old_fate {
	OLD_DROPPED,
	OLD_KEPT,			/* in memory, where it was */
	OLD_SLID,			/* in memory, state.slide bytes further */
	OLD_MOVED,			/* in memory, in the new R segment */
	OLD_LOOSE,			/* not in memory: behind the segments */
};
struct old_section {
	enum old_fate fate;
	uint16_t index;			/* in the new file; 0: dropped */
	struct image_section *moved;
	uint8_t *own;			/* loose sections that are edited: a copy, to be freed */
	uint64_t offset, size;		/* loose sections: in the new file */
	size_t gone;			/* local symbols that left a .symtab */
};
struct new_segment { uint64_t address, offset, filesz, memsz; bool used; };

struct image_state {
	struct old_section *old;	/* as many as o->shnum */
	size_t first;			/* the PT_LOAD that has the program headers */
	uint64_t first_end;		/* end of its bytes in the new file */
	size_t nulls;			/* PT_NULL rows that are given up */
	uint64_t old_end, new_end, room_end;	/* addresses: end of the old table, of the grown one, of all that moved into its way */
	uint64_t slide;
	uint64_t touched_lo, touched_hi;	/* old addresses of moved and slid sections lie in here */
	uint64_t file_end, memory_end;	/* of the original's segments */
	char *strings;			/* appended to .dynstr */
	size_t strings_size;
	size_t dynamic;			/* the PT_DYNAMIC row */
	struct new_segment segments[IMAGE_SEGMENTS];
	const struct image_section *eh_frame_hdr;
	uint16_t indices;		/* given out so far */
	bool stamped;
	uint8_t build_id[32];
	unsigned build_id_size;
};

/* The fault in words, kept in a buffer of the thread. */
const char *image_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline uint64_t image_up(uint64_t value, uint64_t align)
{
	return align > 1 ? (value + align - 1) / align * align : value;
}
static inline bool image_is_wide(const struct object *o)
{
	return o->eh.e_ident[EI_CLASS] == ELFCLASS64;
}
/* Writes a word in the object's byte order, returns the place behind it. */
uint8_t *image_put(const struct object *o, uint8_t *p, uint64_t value, unsigned bytes);
void image_put_phdr(const struct object *o, uint8_t *p, const GElf_Phdr *h);
void image_put_shdr(const struct object *o, uint8_t *p, const GElf_Shdr *h);

/* How far the byte at this address of the original went (moved sections: after image_layout). */
uint64_t image_shift(const struct image *img, uint64_t address);
/* The section of the original, slid or moved, that has the address, or NULL. */
struct old_section *image_touched(const struct image *img, uint64_t address);

/* image-room.c: decides what slides and what moves so that the table can grow.  NULL or the reason of a refusal. */
const char *image_make_room(struct image *img);
/* image-dynamic.c: */
uint8_t *image_dynamic_entry(struct image *img, size_t i);	/* NULL: beyond the section */
/* Looks for strings with $ORIGIN; makes state.strings and points the entries at them. */
const char *image_expand_origin(struct image *img, const char *origin);
/* Adjusts the entries that point into moved sections. */
void image_move_pointers(struct image *img);
/* image-symbols.c: gives symbols of all tables the new section numbers, and those of moved sections their values. */
void image_renumber_symbols(struct image *img);
/* Takes the symbols of dropped sections out of the copy of a .symtab, and counts the local ones. */
void image_compact_symtab(struct image *img, size_t section);

/* image-headers.c: the grown program header table, into the image's bytes. */
void image_write_phdrs(struct image *img);
/* image-sections.c: what the file ends with. */
struct image_tail {
	VEC(GElf_Shdr) rows;
	VEC(char) names;
	uint64_t names_at, rows_at;
	uint8_t *table;
	size_t table_size;
};
/* Places loose sections, makes the section headers, and names them in the ELF header. */
void image_make_tail(struct image *img, struct image_tail *t);
void image_free_tail(struct image_tail *t);
#endif
