/* image-room.c - room for three more program headers behind the table: what stands there slides or moves (docs/layout.md). */
#include "tools/so-gen/image-state.h"
#include <stdlib.h>
#include <string.h>

enum { SHT_MIPS_FLAGS = 0x7000002a };	/* SHT_MIPS_ABIFLAGS, which not every elf.h has */
enum can { CAN_STAY, CAN_MOVE, CAN_SLIDE };

struct place { uint64_t address; size_t section; };

/* The sections behind the table, by address. */
struct run {
	VEC(struct place) sections;
	uint64_t occupied;		/* up to here the addresses are taken by the table and what slid */
	uint64_t align;
	size_t first;			/* of those that slide; 0: none yet */
	const char *stuck;		/* what can neither slide nor move */
};

static enum can ability(const struct object *o, const struct object_section *s)
{
	if (!strcmp(s->name, ".interp"))
		return CAN_SLIDE;
	switch (s->h.sh_type) {
	case SHT_NOTE:
		return CAN_SLIDE;
	case SHT_MIPS_REGINFO: case SHT_MIPS_FLAGS:
		return o->eh.e_machine == EM_MIPS ? CAN_SLIDE : CAN_STAY;
	case SHT_HASH: case SHT_GNU_HASH: case SHT_DYNSYM:
	case SHT_GNU_versym: case SHT_GNU_verdef: case SHT_GNU_verneed:
		return CAN_MOVE;
	case SHT_STRTAB:
		return !strcmp(s->name, ".dynstr") ? CAN_MOVE : CAN_STAY;
	}
	return CAN_STAY;
}

static int by_address(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->section < y->section ? -1 : x->section > y->section;
}

static const char *collect(struct image *img, struct run *run)
{
	const struct object *o = img->o;
	const GElf_Phdr *first = &o->phdrs[img->state->first];

	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;
		uint64_t in = h->sh_addr - first->p_vaddr;

		if (!(h->sh_flags & SHF_ALLOC) || h->sh_type == SHT_NOBITS || !h->sh_size || in >= first->p_filesz)
			continue;
		if (h->sh_size > first->p_filesz - in || h->sh_offset - first->p_offset != in)
			return image_fault("section %s is not where its segment is", o->sections[i].name);
		if (h->sh_addralign & (h->sh_addralign - 1) || h->sh_addralign > 4096) {
			if (ability(o, &o->sections[i]) != CAN_STAY)
				return image_fault("section %s has an unlikely alignment", o->sections[i].name);
		}
		/* Some linkers make the headers a section. */
		if (h->sh_addr >= img->state->old_end)
			vec_push(&run->sections, ((struct place){ h->sh_addr, i }));
	}
	if (run->sections.n)
		qsort(run->sections.v, run->sections.n, sizeof *run->sections.v, by_address);
	return NULL;
}

/* The largest alignment of the section and of the program headers that describe it. */
static uint64_t alignment(const struct object *o, const GElf_Shdr *h)
{
	uint64_t align = h->sh_addralign ? h->sh_addralign : 1;

	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *p = &o->phdrs[i];

		if (p->p_type != PT_LOAD && h->sh_addr - p->p_vaddr < p->p_filesz && p->p_align > align && p->p_align <= 64 &&
		    !(p->p_align & (p->p_align - 1)))
			align = p->p_align;
	}
	return align;
}

/* True when a program header describes this section and what lies directly before it, which slid: they go together. */
static bool continues_group(const struct image *img, const GElf_Shdr *h)
{
	for (size_t i = 0; i < img->o->phnum; i++) {
		const GElf_Phdr *p = &img->o->phdrs[i];

		if (p->p_type != PT_LOAD && p->p_type != PT_PHDR && p->p_vaddr < h->sh_addr && h->sh_addr - p->p_vaddr < p->p_filesz &&
		    image_touched(img, p->p_vaddr))
			return true;
	}
	return false;
}

static void slide(struct image *img, struct run *run, size_t i)
{
	const GElf_Shdr *h = &img->o->sections[i].h;
	uint64_t align = alignment(img->o, h), start;

	if (!run->first)
		run->first = i;
	if (align > run->align)
		run->align = align;
	start = img->o->sections[run->first].h.sh_addr;
	img->state->slide = image_up(img->state->new_end - start, run->align);
	run->occupied = h->sh_addr + h->sh_size + img->state->slide;
	img->state->old[i].fate = OLD_SLID;
}

/* Walks the sections from the table on until the next one is out of the way.  May notes slide, or must they move? */
static bool try(struct image *img, struct run *run, bool may_slide)
{
	struct image_state *st = img->state;

	run->occupied = st->new_end;
	run->align = 1;
	run->first = 0;
	st->slide = 0;
	for (size_t k = 0; k < run->sections.n; k++)
		st->old[run->sections.v[k].section].fate = OLD_KEPT;
	for (size_t k = 0; k < run->sections.n; k++) {
		size_t i = run->sections.v[k].section;
		const struct object_section *s = &img->o->sections[i];
		enum can can = ability(img->o, s);

		if (s->h.sh_addr >= run->occupied && !continues_group(img, &s->h))
			return true;
		if (can == CAN_STAY) {
			run->stuck = s->name;
			return false;
		}
		if (can == CAN_SLIDE && may_slide)
			slide(img, run, i);
		else
			st->old[i].fate = OLD_MOVED;
	}
	return true;
}

static void cover(uint8_t *map, uint64_t size, uint64_t base, uint64_t at, uint64_t len)
{
	uint64_t end = at > UINT64_MAX - len ? UINT64_MAX : at + len;

	if (at < base)
		at = base;
	if (end > base + size)
		end = base + size;
	if (at < end)
		memset(map + (at - base), 1, end - at);
}

/* What linkers leave between sections, and patchelf where it took one away. */
static bool is_filler(uint8_t byte)
{
	return byte == 0 || byte == 'X' || byte == 'Z';
}

/* Bytes in the way that belong to no section are somebody's: better not to clear them. */
static const char *check_gaps(const struct image *img)
{
	const struct object *o = img->o;
	const struct image_state *st = img->state;
	const GElf_Phdr *first = &o->phdrs[st->first];
	uint64_t base = st->old_end - first->p_vaddr + first->p_offset, size = st->room_end - st->old_end;
	uint8_t *covered = xcalloc(1, size + 1);
	const char *why = NULL;

	for (size_t i = 1; i < o->shnum; i++)
		if (o->sections[i].h.sh_type != SHT_NOBITS)
			cover(covered, size, base, o->sections[i].h.sh_offset, o->sections[i].h.sh_size);
	cover(covered, size, base, o->eh.e_shoff, o->shnum * o->eh.e_shentsize);
	for (uint64_t i = 0; i < size && !why; i++)
		if (!covered[i] && base + i < o->size && !is_filler(o->image[base + i]))
			why = image_fault("bytes of no section directly behind the program headers, at 0x%llx", (unsigned long long)(base + i));
	free(covered);
	return why;
}

/* The table, or what slid, may reach beyond the first segment's bytes: makes it longer where nothing is in the way. */
static const char *grow_first(struct image *img)
{
	const struct object *o = img->o;
	struct image_state *st = img->state;
	const GElf_Phdr *first = &o->phdrs[st->first];
	uint64_t want = st->room_end - first->p_vaddr, page = first->p_align > 4096 ? first->p_align : 4096;

	st->first_end = first->p_offset + first->p_filesz;
	if (want <= first->p_filesz)
		return NULL;
	if (first->p_memsz > first->p_filesz)
		return "the segment with the program headers cannot grow: its bss follows";
	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *p = &o->phdrs[i];

		if (p->p_type != PT_LOAD || i == st->first)
			continue;
		if (p->p_vaddr > first->p_vaddr && p->p_vaddr / page * page < image_up(first->p_vaddr + want, page))
			return "the segment with the program headers cannot grow: the next one follows in memory";
		if (p->p_filesz && p->p_offset + p->p_filesz > st->first_end && p->p_offset < first->p_offset + want)
			return "the segment with the program headers cannot grow: the next one follows in the file";
	}
	st->first_end = first->p_offset + want;
	return st->first_end <= img->size ? NULL : "the segment with the program headers cannot grow: the file ends";
}

/* A .dynstr that gets longer moves, wherever it stands. */
static const char *move_strings(struct image *img)
{
	const GElf_Dyn *strtab = object_dyn(img->o, DT_STRTAB);

	if (!img->state->strings_size)
		return NULL;
	for (size_t i = 1; i < img->o->shnum; i++) {
		const GElf_Shdr *h = &img->o->sections[i].h;

		if (h->sh_type != SHT_STRTAB || !(h->sh_flags & SHF_ALLOC) || !strtab || h->sh_addr != strtab->d_un.d_ptr)
			continue;
		if (h->sh_size < img->o->strsz || !object_at(img->o, h->sh_addr, h->sh_size))
			break;
		img->state->old[i].fate = OLD_MOVED;
		return NULL;
	}
	return "$ORIGIN cannot be expanded: no section holds the dynamic strings";
}

static void note_touched(struct image *img)
{
	struct image_state *st = img->state;

	st->touched_lo = UINT64_MAX;
	for (size_t i = 1; i < img->o->shnum; i++) {
		const GElf_Shdr *h = &img->o->sections[i].h;

		if (st->old[i].fate != OLD_SLID && st->old[i].fate != OLD_MOVED)
			continue;
		if (h->sh_addr < st->touched_lo)
			st->touched_lo = h->sh_addr;
		if (h->sh_addr + h->sh_size > st->touched_hi)
			st->touched_hi = h->sh_addr + h->sh_size;
	}
}

const char *image_make_room(struct image *img)
{
	struct image_state *st = img->state;
	struct run run = { 0 };
	const char *why = collect(img, &run);

	/* While sections are looked at, any address may be a touched one. */
	st->touched_hi = UINT64_MAX;
	if (!why && !try(img, &run, true) && !try(img, &run, false))
		why = image_fault("section %s, directly behind the program headers, cannot be moved", run.stuck);
	st->touched_hi = 0;
	if (!why) {
		st->room_end = run.occupied;
		why = check_gaps(img);
	}
	if (!why)
		why = grow_first(img);
	if (!why)
		why = move_strings(img);
	if (!why)
		note_touched(img);
	vec_free(&run.sections);
	return why;
}
