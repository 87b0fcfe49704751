/* image.h - the file of a profiled object: the original's segments at their addresses, three new ones behind them, the
   program headers grown in place (docs/layout.md).  Use: plan, add sections, lay out, fill in and patch, write. */
#ifndef SO_GEN_IMAGE_H
#define SO_GEN_IMAGE_H
#include <stdio.h>
#include "lib/elf/object.h"

enum image_where { IMAGE_RW, IMAGE_R, IMAGE_X };	/* the order of the new segments */

struct image_section {
	enum image_where where;
	const char *name;		/* not copied */
	uint32_t type;			/* SHT_PROGBITS, SHT_NOBITS (last in RW), SHT_NOTE ... */
	uint64_t size, align, entsize;
	uint32_t link_old;		/* section index in the original that sh_link names, or 0 */
	uint8_t *bytes;			/* size bytes, zeroed, allocated by image_add unless NOBITS; the caller fills them in */
	uint64_t address, offset;	/* after image_layout */
	uint16_t index;			/* of the section in the new file, known from image_add on */
};

struct image {
	const struct object *o;
	uint8_t *bytes;			/* a private copy of the original file's bytes, [0, size), to be patched before image_write */
	size_t size;
	VEC(struct image_section *) sections;	/* new ones, those that image_plan moved first, then in the order of image_add */
	struct image_state *state;	/* private to image*.c */
};

/* Decides how the program headers grow: which of .gnu.hash, .hash, .dynsym, .dynstr move to the new R segment, how far
   .interp and notes slide.  NULL, or why the object is refused, in words (valid until this thread plans or lays out again).
   Expands $ORIGIN in RUNPATH/RPATH to the original's directory.  Call image_free in either case. */
const char *image_plan(struct image *img, const struct object *o);
/* The same with the directory that $ORIGIN stands for: where the loader found the original, when o->path went through a link. */
const char *image_plan_from(struct image *img, const struct object *o, const char *origin);
void image_free(struct image *img);

/* Adds a section to a new segment; the pointer stays valid. Page alignment of a segment's start is the image's business. */
struct image_section *image_add(struct image *img, enum image_where where, const char *name, uint32_t type, uint64_t size, uint64_t align);
/* Gives addresses and file offsets to all new sections (those that image_plan moves included).  NULL or the fault. */
const char *image_layout(struct image *img);
/* The alignment of the new segments: 4096, or 65536 where kernels have such pages. */
uint64_t image_page(const struct image *img);

/* Edits, after image_layout: */
/* Where the bytes at link-time addresses [address, address + len) of the original are now, to be changed; NULL: not in the file. */
uint8_t *image_at(struct image *img, uint64_t address, size_t len);
/* Sets the dynamic entry of this tag; adds it when there is none and the section has room (a spare DT_NULL must stay as the end;
   without a spare one, DT_RELACOUNT or DT_RELCOUNT, which are only hints, makes way). */
bool image_dynamic(struct image *img, int64_t tag, uint64_t value);
/* Gives dynamic symbol number INDEX a new value and section (a new section's index), and size when SIZE is not ~0; same for .symtab. */
void image_dynsym(struct image *img, size_t index, uint64_t value, uint16_t section, uint64_t size);
void image_symtab(struct image *img, size_t index, uint64_t value, uint16_t section, uint64_t size);
/* Points PT_GNU_EH_FRAME at this section; renames the old .eh_frame, .eh_frame_hdr and .gcc_except_table out of the way. */
void image_eh_frame(struct image *img, const struct image_section *hdr);
/* e_entry of an executable. */
void image_entry(struct image *img, uint64_t address);

/* Gives the file a build-id of its own, a hash of the original's and of everything the file now holds, written over the note's
   descriptor, and returns its size (0: the original has none).  What is changed afterwards is not in the hash: this is for
   the places that hold the build-id itself. */
unsigned image_build_id(struct image *img, uint8_t build_id[32]);

/* The whole new file.  Drops .gnu_debuglink, .gnu_debugdata, .debug_* and other non-allocated sections but .comment, .symtab and
   .strtab; calls image_build_id unless that was done; *build_id gets it.  False after a message. */
bool image_write(struct image *img, FILE *f, uint8_t build_id[32], unsigned *build_id_size);
#endif
