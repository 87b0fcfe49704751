/* image-plan.c - decides what becomes of each part of the original, and brings its bytes to where they will be. */
#include "tools/so-gen/image-state.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The object's own mapping must stay as it is, so the file is mapped once more: whoever replaced it meanwhile is found out. */
static const char *map_again(struct image *img)
{
	const struct object *o = img->o;
	int fd = open(o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *map = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &st) && (uint64_t)st.st_size == o->size)
		map = mmap(NULL, o->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return "the file cannot be read again, or was replaced";
	img->bytes = map;
	img->size = o->size;
	for (size_t at = 0, n; at < o->size; at += n) {
		n = o->size - at < MEM_SLICE ? o->size - at : MEM_SLICE;
		if (memcmp(img->bytes + at, o->image + at, n))
			return "the file was replaced while it was read";
		mem_forget(img->bytes + at, n);
		mem_forget(o->image + at, n);
	}
	return NULL;
}

/* The first address that is surely nobody's.  What is to be read-only after relocation may reach over its segment's end, to the
   next page, and empty sections may stand behind it. */
static uint64_t end_of_memory(const struct object *o)
{
	uint64_t end = 0, limit;

	for (size_t i = 0; i < o->phnum; i++)
		if (o->phdrs[i].p_type == PT_LOAD)
			end = o->phdrs[i].p_vaddr + o->phdrs[i].p_memsz;
	limit = end + (1 << 24);
	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *p = &o->phdrs[i];

		if (p->p_type == PT_GNU_RELRO && p->p_vaddr < limit && p->p_memsz < limit - p->p_vaddr && p->p_vaddr + p->p_memsz > end)
			end = p->p_vaddr + p->p_memsz;
	}
	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;

		if (h->sh_flags & SHF_ALLOC && !(h->sh_flags & SHF_TLS) && h->sh_addr < limit && h->sh_size < limit - h->sh_addr &&
		    h->sh_addr + h->sh_size > end)
			end = h->sh_addr + h->sh_size;
	}
	return end;
}

static const char *find_segments(struct image *img)
{
	const struct object *o = img->o;
	struct image_state *st = img->state;
	uint64_t table = o->phnum * o->eh.e_phentsize;
	bool first = false, dynamic = false;

	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *p = &o->phdrs[i];

		if (p->p_type == PT_NULL && st->nulls < IMAGE_SEGMENTS)
			st->nulls++;
		if (p->p_type == PT_DYNAMIC && !dynamic)
			dynamic = true, st->dynamic = i;
		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_offset <= o->eh.e_phoff && o->eh.e_phoff - p->p_offset + table <= p->p_filesz && !first)
			first = true, st->first = i;
		if (p->p_offset + p->p_filesz > st->file_end)
			st->file_end = p->p_offset + p->p_filesz;
	}
	st->memory_end = end_of_memory(o);
	if (!dynamic || !o->dynamic)
		return "static: no dynamic section";
	if (!first)
		return "no loaded segment holds the program headers";
	if (st->memory_end > (uint64_t)1 << 62)
		return "its addresses leave no room for more segments";
	st->old_end = o->phdrs[st->first].p_vaddr + (o->eh.e_phoff - o->phdrs[st->first].p_offset) + table;
	st->new_end = st->old_end + (IMAGE_SEGMENTS - st->nulls) * o->eh.e_phentsize;
	return NULL;
}

static bool is_kept_loose(const struct object *o, size_t i)
{
	if (o->sections[i].h.sh_type == SHT_SYMTAB || !strcmp(o->sections[i].name, ".comment"))
		return true;
	for (size_t k = 1; k < o->shnum; k++)
		if (o->sections[k].h.sh_type == SHT_SYMTAB && o->sections[k].h.sh_link == i)
			return true;
	return false;
}

static bool is_program(const struct object *o)
{
	for (size_t i = 0; i < o->phnum; i++)
		if (o->phdrs[i].p_type == PT_INTERP)
			return true;
	return o->eh.e_type == ET_EXEC;
}

/* What compilers and linkers leave for debuggers and each other. */
static bool is_for_tools(const struct object_section *s)
{
	static const char *const names[] = { ".comment", ".debug", ".zdebug", ".gnu", ".note", ".stab", ".line", ".mdebug", ".pdr", ".llvm", ".GCC", ".deplibs" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(s->name, names[i], strlen(names[i])))
			return true;
	return s->h.sh_type != SHT_PROGBITS;
}

/* Where the last byte ends that a header tells of. */
static uint64_t end_of_file(const struct object *o)
{
	uint64_t end = o->eh.e_shoff + o->shnum * o->eh.e_shentsize;

	for (size_t i = 0; i < o->phnum; i++)
		if (o->phdrs[i].p_offset < o->size && o->phdrs[i].p_offset + o->phdrs[i].p_filesz > end)
			end = o->phdrs[i].p_offset + o->phdrs[i].p_filesz;
	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;

		if (h->sh_type != SHT_NOBITS && h->sh_offset < o->size && h->sh_offset + h->sh_size > end)
			end = h->sh_offset + h->sh_size;
	}
	return end;
}

/* A program may carry data that it reads from its own file: an archive behind its end, a section for it.  In a new file that would
   be gone, or stand elsewhere. */
static const char *own_data(const struct object *o)
{
	uint64_t at = end_of_file(o);

	for (size_t i = 1; i < o->shnum && is_program(o); i++) {
		const struct object_section *s = &o->sections[i];

		if (!(s->h.sh_flags & SHF_ALLOC) && s->h.sh_size && !is_for_tools(s))
			return image_fault("it may read data from its own file: section %.80s", s->name);
	}
	while (at < o->size && !o->image[at])
		at++;
	return at < o->size && is_program(o) ? image_fault("it may read data from its own file: %llu bytes behind its end", (unsigned long long)(o->size - at)) : NULL;
}

static const char *decide(struct image *img)
{
	const struct object *o = img->o;
	struct image_state *st = img->state;

	if (o->shnum < 2)
		return "no section headers";
	if (o->shnum >= SHN_LORESERVE - 256)
		return "too many sections";
	st->old = xcalloc(o->shnum, sizeof *st->old);
	st->indices = 1;
	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;

		if (h->sh_type == SHT_SYMTAB_SHNDX)
			return "too many sections";
		if (h->sh_flags & SHF_ALLOC)
			st->old[i].fate = OLD_KEPT;
		else if (h->sh_type != SHT_NULL && h->sh_type != SHT_NOBITS && is_kept_loose(o, i))
			st->old[i].fate = OLD_LOOSE;
		if (st->old[i].fate != OLD_DROPPED)
			st->old[i].index = st->indices++;
	}
	return NULL;
}

/* A program header that describes slid or moved bytes must describe nothing else. */
static const char *check_rows(const struct image *img)
{
	const struct object *o = img->o;

	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *p = &o->phdrs[i];
		const struct old_section *from, *to;

		if (p->p_type == PT_LOAD || p->p_type == PT_PHDR || p->p_type == PT_NULL || !p->p_filesz || !p->p_memsz)
			continue;
		from = image_touched(img, p->p_vaddr);
		to = image_touched(img, p->p_vaddr + p->p_filesz - 1);
		if ((from != NULL) != (to != NULL) || (from && from->fate != to->fate))
			return image_fault("program header %zu covers what moves and what stays", i);
		if (from && object_offset(o, p->p_vaddr) != (int64_t)p->p_offset)
			return image_fault("program header %zu: offset and address do not agree", i);
	}
	return NULL;
}

/* Takes the bytes of moved sections along; the slide is one memmove, so that gaps between notes keep their bytes. */
static void take_along(struct image *img)
{
	const struct object *o = img->o;
	struct image_state *st = img->state;
	const GElf_Phdr *first = &o->phdrs[st->first];
	uint64_t delta = first->p_offset - first->p_vaddr;

	for (size_t i = 1; i < o->shnum; i++) {
		const struct object_section *s = &o->sections[i];
		bool longer = st->strings_size && s->h.sh_addr == object_dyn(o, DT_STRTAB)->d_un.d_ptr;
		uint64_t extra = longer && s->h.sh_type == SHT_STRTAB ? st->strings_size : 0;
		struct image_section *m;
		uint16_t indices = st->indices;

		if (st->old[i].fate != OLD_MOVED)
			continue;
		m = image_add(img, IMAGE_R, s->name, s->h.sh_type, s->h.sh_size + extra, s->h.sh_addralign);
		st->indices = indices;
		m->index = st->old[i].index;
		m->entsize = s->h.sh_entsize;
		m->link_old = s->h.sh_link;
		memcpy(m->bytes, o->image + s->h.sh_offset, s->h.sh_size);
		if (extra)
			memcpy(m->bytes + s->h.sh_size, st->strings, extra);
		memset(img->bytes + s->h.sh_offset, 0, s->h.sh_size);
		st->old[i].moved = m;
	}
	memset(img->bytes + st->old_end + delta, 0, st->room_end - st->old_end);
	for (size_t i = 1; i < o->shnum; i++)
		if (st->old[i].fate == OLD_SLID)
			memcpy(img->bytes + o->sections[i].h.sh_offset + st->slide, o->image + o->sections[i].h.sh_offset,
			       o->sections[i].h.sh_size);
}

static void copy_symtabs(struct image *img)
{
	const struct object *o = img->o;

	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;
		struct old_section *old = &img->state->old[i];

		old->size = h->sh_size;
		if (old->fate != OLD_LOOSE || h->sh_type != SHT_SYMTAB)
			continue;
		old->own = xmalloc(h->sh_size + 1);
		memcpy(old->own, o->image + h->sh_offset, h->sh_size);
	}
}

const char *image_plan_from(struct image *img, const struct object *o, const char *origin)
{
	const char *why;

	*img = (struct image){ .o = o };
	img->state = xcalloc(1, sizeof *img->state);
	why = decide(img);
	if (!why)
		why = own_data(o);
	if (!why)
		why = find_segments(img);
	if (!why)
		why = map_again(img);
	if (!why)
		why = image_expand_origin(img, origin);
	if (!why)
		why = image_make_room(img);
	if (!why)
		why = check_rows(img);
	if (why)
		return why;
	if (img->state->first_end > img->state->file_end)
		img->state->file_end = img->state->first_end;
	take_along(img);
	copy_symtabs(img);
	return NULL;
}

/* The directory of the object as it was named, as the loader sees it: links are not followed. */
static char *directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) : 0;
	char *cwd, *dir;

	if (*path == '/')
		return len ? xasprintf("%.*s", len, path) : xstrdup("/");
	cwd = getcwd(NULL, 0);
	dir = len ? xasprintf("%s/%.*s", cwd ? cwd : "", len, path) : xstrdup(cwd ? cwd : "/");
	free(cwd);
	return dir;
}

const char *image_plan(struct image *img, const struct object *o)
{
	char *origin = directory(o->path);
	const char *why = image_plan_from(img, o, origin);

	free(origin);
	return why;
}
