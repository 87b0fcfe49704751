/* frames.c - libFuzzer target: unwinding tables, read and moved.  Input: a byte of flags, then in little-endian words the
   address of the image that follows, the address of .eh_frame (or of its header) and its size.  Code: all below the image. */
#include <stdlib.h>
#include <string.h>
#include "tools/so-gen/unwind.h"

enum { CLASS32 = 1, BIG_ENDIAN_DATA = 2, HEADER = 4, MIPS = 8, ADJUST = 16, EXEC = 32 };

static bool place(void *context, uint64_t old, uint64_t *to)
{
	const struct frames *f = context;

	*to = 3 * (old - f->fdes[0].start);
	return old % 31 != 0;
}

static bool range(void *context, uint64_t start, uint64_t size, uint64_t *to, uint64_t *to_size)
{
	const struct frames *f = context;

	*to = 3 * (start - f->fdes[0].start);
	*to_size = 3 * size;
	return true;
}

static bool range_movable(void *context, uint64_t start, uint64_t size, uint64_t *to, uint64_t *to_size)
{
	return start % 5 && range(context, start, size, to, to_size);
}

static bool adjust(void *context, uint64_t from, uint64_t before, uint64_t *to, int64_t *delta)
{
	(void)context;
	*to = from + (from % 7 ? 3 : 400);
	*delta = (int64_t)(*to % 3) * 128;
	return *to < before;
}

static void move(const struct object *o, const struct frames *f, const struct unwind_map *map)
{
	struct unwind u;

	if (!unwind_build(&u, o, f, map, NULL, 0))
		unwind_place(&u, 0x100000000, 0x80000000, 0x90000000, 0xa0000000);
	unwind_free(&u);
}

static void try_frames(const struct object *o, bool adjusted)
{
	struct frames f;
	struct unwind_map map = { &f, place, range, adjusted ? adjust : NULL };
	uint64_t last = 0;

	frames_read(&f, o);
	for (size_t i = 0; i < f.fde_count; i++) {
		if (f.fdes[i].start < last || frames_find(&f, f.fdes[i].start) != &f.fdes[i])
			abort();
		last = f.fdes[i].start + f.fdes[i].size;
		unwind_movable(o, &f, &f.fdes[i]);
	}
	if (f.fde_count) {
		move(o, &f, &map);
		map.range = range_movable;
		move(o, &f, &map);
	}
	frames_free(&f);
}

static uint32_t word(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object_section sections[3] = { { "", { 0 } }, { ".text", { 0 } }, { ".eh_frame", { 0 } } };
	GElf_Phdr segments[3] = { { .p_type = PT_LOAD, .p_flags = PF_R | PF_X }, { .p_type = PT_LOAD, .p_flags = PF_R },
	                          { .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R } };
	struct object o = { .path = "fuzz", .phdrs = segments, .phnum = 2, .sections = sections, .shnum = 3 };
	uint32_t base, frame;

	if (size < 14)
		return 0;
	base = word(data + 1);
	frame = word(data + 5);
	o.eh.e_ident[EI_CLASS] = data[0] & CLASS32 ? ELFCLASS32 : ELFCLASS64;
	o.eh.e_ident[EI_DATA] = data[0] & BIG_ENDIAN_DATA ? ELFDATA2MSB : ELFDATA2LSB;
	o.eh.e_machine = data[0] & MIPS ? EM_MIPS : EM_X86_64;
	o.eh.e_type = data[0] & EXEC ? ET_EXEC : ET_DYN;
	o.size = size - 13;
	o.image = malloc(o.size);
	memcpy((void *)(uintptr_t)o.image, data + 13, o.size);
	segments[0].p_memsz = base;
	segments[1].p_vaddr = base;
	segments[1].p_filesz = segments[1].p_memsz = o.size;
	sections[1].h = (GElf_Shdr){ .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_size = base };
	sections[2].h = (GElf_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = frame, .sh_size = word(data + 9) };
	if (data[0] & HEADER) {
		segments[2].p_vaddr = frame;
		segments[2].p_filesz = sections[2].h.sh_size;
		o.phnum = 3;
		o.shnum = data[0] & 64 ? 0 : 2;
	}
	try_frames(&o, data[0] & ADJUST);
	free((void *)(uintptr_t)o.image);
	return 0;
}
