/* unwind-check.c - drives unwind_build over a real object with a map that is easily inverted: every old byte becomes FACTOR
   new ones.  Writes the sections as an ELF file of their own, for readelf and test/oracle/unwind.py to read.
   unwind-check [-a] [-t] OBJECT FACTOR OUT; prints what was moved and what was refused.  -a: with adjustments; -t: with times.
   unwind-check -d OBJECT: prints what frames_read found. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tools/so-gen/unwind.h"

enum { TEXT = 0x40000000, EH_FRAME = 0x20000000, EH_FRAME_HDR = 0x30000000, EXCEPT = 0x38000000 };

struct stretch {
	const struct object *o;
	const struct frames *f;
	uint64_t low, factor;
	bool *moved;
	size_t calls;
};

static bool place(void *context, uint64_t old, uint64_t *to)
{
	struct stretch *s = context;

	s->calls++;
	*to = (old - s->low) * s->factor;
	return true;
}

static bool range(void *context, uint64_t start, uint64_t size, uint64_t *to, uint64_t *to_size)
{
	struct stretch *s = context;
	const struct frame_fde *d = frames_find(s->f, start);

	*to = (start - s->low) * s->factor;
	*to_size = size * s->factor;
	return d && s->moved[d - s->f->fdes];
}

/* 128 bytes further at each multiple of 16, back three bytes later. */
static bool adjust(void *context, uint64_t from, uint64_t before, uint64_t *to, int64_t *delta)
{
	uint64_t phase = from % 16;

	(void)context;
	*to = phase == 0 ? from : phase <= 3 ? from + 3 - phase : from + 16 - phase;
	*delta = *to % 16 ? 0 : 128;
	return *to < before;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void add_section(Elf *e, size_t name, uint64_t address, uint32_t type, uint64_t flags, void *bytes, size_t size)
{
	Elf_Scn *s = elf_newscn(e);
	Elf_Data *d = elf_newdata(s);
	GElf_Shdr h;

	d->d_buf = bytes;
	d->d_size = size;
	d->d_type = ELF_T_BYTE;
	d->d_align = 8;
	gelf_getshdr(s, &h);
	h.sh_name = (uint32_t)name;
	h.sh_type = type;
	h.sh_flags = flags;
	h.sh_addr = address;
	h.sh_addralign = 8;
	gelf_update_shdr(s, &h);
}

static bool write_elf(const struct unwind *u, const struct object *o, const char *path)
{
	static char names[] = "\0.eh_frame\0.eh_frame_hdr\0.gcc_except_table\0.shstrtab";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
	Elf *e = elf_begin(fd, ELF_C_WRITE, NULL);
	GElf_Ehdr eh;
	bool ok;

	if (!e || !gelf_newehdr(e, o->eh.e_ident[EI_CLASS]))
		return false;
	gelf_getehdr(e, &eh);
	eh.e_ident[EI_DATA] = o->eh.e_ident[EI_DATA];
	eh.e_type = ET_DYN;
	eh.e_machine = o->eh.e_machine;
	eh.e_version = EV_CURRENT;
	eh.e_shstrndx = 4;
	gelf_update_ehdr(e, &eh);
	add_section(e, 1, EH_FRAME, SHT_PROGBITS, SHF_ALLOC, u->eh_frame, u->eh_frame_size);
	add_section(e, 11, EH_FRAME_HDR, SHT_PROGBITS, SHF_ALLOC, u->eh_frame_hdr, u->eh_frame_hdr_size);
	add_section(e, 25, EXCEPT, SHT_PROGBITS, SHF_ALLOC, u->except, u->except_size);
	add_section(e, 43, 0, SHT_STRTAB, 0, names, sizeof names);
	ok = elf_update(e, ELF_C_WRITE) >= 0;
	elf_end(e);
	return close(fd) == 0 && ok;
}

static void choose(struct stretch *s)
{
	s->moved = calloc(s->f->fde_count + 1, sizeof *s->moved);
	for (size_t i = 0; i < s->f->fde_count; i++) {
		const char *why = unwind_movable(s->o, s->f, &s->f->fdes[i]);

		s->moved[i] = !why;
		if (why)
			printf("refused %lx: %s\n", (unsigned long)s->f->fdes[i].start, why);
	}
}

static int dump(const char *path)
{
	struct object o;
	struct frames f;
	const char *fault = object_open(&o, path);

	if (fault) {
		printf("%s\n", fault);
		return 1;
	}
	frames_read(&f, &o);
	for (size_t i = 0; i < f.fde_count; i++)
		printf("%016lx..%016lx\n", (unsigned long)f.fdes[i].start, (unsigned long)(f.fdes[i].start + f.fdes[i].size));
	printf("cies %zu others %zu rejected %zu", f.cie_count, f.other_count, f.rejected);
	if (f.fault)
		printf(": first %s at %lx", f.fault, (unsigned long)f.fault_at);
	putchar('\n');
	frames_free(&f);
	object_close(&o);
	return 0;
}

int main(int argc, char **argv)
{
	static const uint8_t extra_insns[] = { 0x46, 0x0e, 0x10 };
	struct unwind_extra extra = { .size = 16, .insns = extra_insns, .insns_size = sizeof extra_insns };
	struct stretch s = { 0 };
	struct unwind_map map = { &s, place, range, NULL };
	struct object o;
	struct frames f;
	struct unwind u;
	const char *fault;
	bool timed = false;
	double t[4];
	int c;

	while ((c = getopt(argc, argv, "adt")) != -1) {
		if (c == 'd')
			return dump(argv[optind]);
		if (c == 'a')
			map.adjust = adjust;
		timed |= c == 't';
	}
	argv += optind;
	if (argc - optind < 3 || (fault = object_open(&o, argv[0]))) {
		fprintf(stderr, "unwind-check: cannot open\n");
		return 2;
	}
	t[0] = now();
	frames_read(&f, &o);
	t[1] = now();
	s.o = &o;
	s.f = &f;
	s.low = f.fde_count ? f.fdes[0].start : 0;
	s.factor = strtoull(argv[1], NULL, 0);
	choose(&s);
	if (f.fde_count)
		extra.to = (f.fdes[f.fde_count - 1].start + f.fdes[f.fde_count - 1].size - s.low) * s.factor;
	t[2] = now();
	fault = unwind_build(&u, &o, &f, &map, &extra, 1);
	if (!fault && !unwind_place(&u, TEXT, EH_FRAME, EH_FRAME_HDR, EXCEPT))
		fault = "out of reach";
	t[3] = now();
	if (timed)
		printf("read %.3f s, movable %.3f s, build and place %.3f s, %zu calls of place\n", t[1] - t[0], t[2] - t[1], t[3] - t[2], s.calls);
	printf("low %lx fdes %zu others %zu rejected %zu moved %zu\n", (unsigned long)s.low, f.fde_count, f.other_count, f.rejected, u.moved);
	if (fault)
		printf("fault: %s at %lx\n", fault, (unsigned long)u.fault_at);
	if (!fault && !write_elf(&u, &o, argv[2]))
		fault = "cannot write";
	unwind_free(&u);
	frames_free(&f);
	object_close(&o);
	free(s.moved);
	return fault != NULL;
}
