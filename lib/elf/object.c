/* object.c - opening an ELF object: headers, sections and the dynamic section, each number checked against the file. */
#include "lib/elf/object.h"
#include "lib/base/msg.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static _Thread_local char fault_text[200];

__attribute__((format(printf, 1, 2)))
static const char *fault(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(fault_text, sizeof fault_text, format, ap);
	va_end(ap);
	return fault_text;
}

static bool in_file(const struct object *o, uint64_t offset, uint64_t len)
{
	return offset <= o->size && len <= o->size - offset;
}

static bool is_64(const struct object *o)
{
	return o->eh.e_ident[EI_CLASS] == ELFCLASS64;
}

static const char *map_file(struct object *o, const char *path)
{
	struct stat st;
	void *map;
	/* O_NONBLOCK: a FIFO without a writer must not hold us up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return fault("%s", strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
		close(fd);
		return S_ISDIR(st.st_mode) ? "a directory" : S_ISREG(st.st_mode) ? "not an ELF file: empty" : "not a regular file";
	}
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return fault("%s", strerror(errno));
	o->image = map;
	o->size = st.st_size;
	o->path = arena_strdup(&o->arena, path);
	return NULL;
}

static const char *check_type(const struct object *o)
{
	switch (o->eh.e_type) {
	case ET_EXEC: case ET_DYN: return NULL;
	case ET_REL: return "a relocatable object, neither a program nor a shared object";
	case ET_CORE: return "a core file, neither a program nor a shared object";
	}
	return fault("file type %u, neither a program nor a shared object", o->eh.e_type);
}

/* The header is read by ourselves: what libelf makes of a bad one it does not say. */
static const char *read_header(struct object *o)
{
	const uint8_t *p = o->image;
	GElf_Ehdr *h = &o->eh;
	unsigned w;

	if (o->size < SELFMAG || memcmp(p, ELFMAG, SELFMAG))
		return "not an ELF file";
	if (o->size < sizeof(Elf32_Ehdr))
		return fault("truncated: %zu bytes are less than an ELF header", o->size);
	memcpy(h->e_ident, p, EI_NIDENT);
	if (h->e_ident[EI_CLASS] != ELFCLASS32 && h->e_ident[EI_CLASS] != ELFCLASS64)
		return fault("ELF header: invalid class %u", h->e_ident[EI_CLASS]);
	if (h->e_ident[EI_DATA] != ELFDATA2LSB && h->e_ident[EI_DATA] != ELFDATA2MSB)
		return fault("ELF header: invalid data encoding %u", h->e_ident[EI_DATA]);
	if (is_64(o) && o->size < sizeof(Elf64_Ehdr))
		return fault("truncated: %zu bytes are less than an ELF header", o->size);
	h->e_type = object_word(o, p + 16, 2);
	h->e_machine = object_word(o, p + 18, 2);
	h->e_version = object_word(o, p + 20, 4);
	if (h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return fault("ELF header: unknown version %u", h->e_version);
	w = is_64(o) ? 8 : 4;
	p += 24;
	h->e_entry = object_word(o, p, w);
	h->e_phoff = object_word(o, p + w, w);
	h->e_shoff = object_word(o, p + 2 * w, w);
	p += 3 * w;
	h->e_flags = object_word(o, p, 4);
	h->e_ehsize = object_word(o, p + 4, 2);
	h->e_phentsize = object_word(o, p + 6, 2);
	h->e_phnum = object_word(o, p + 8, 2);
	h->e_shentsize = object_word(o, p + 10, 2);
	h->e_shnum = object_word(o, p + 12, 2);
	h->e_shstrndx = object_word(o, p + 14, 2);
	return check_type(o);
}

/* Finds the real numbers of program and section headers (large ones stand in section 0) and checks both tables' places. */
static const char *check_tables(struct object *o, size_t *phnum, size_t *shnum, size_t *shstrndx)
{
	const GElf_Ehdr *h = &o->eh;
	size_t phsize = is_64(o) ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	size_t shsize = is_64(o) ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

	*phnum = h->e_phnum;
	*shnum = h->e_shoff ? h->e_shnum : 0;
	*shstrndx = h->e_shstrndx;
	if (h->e_shoff) {
		const uint8_t *null;

		if (h->e_shentsize != shsize)
			return fault("section headers: wrong entry size %u", h->e_shentsize);
		if (!in_file(o, h->e_shoff, shsize))
			return fault("truncated: section headers at 0x%" PRIx64 " lie outside the file", h->e_shoff);
		null = o->image + h->e_shoff;
		if (!h->e_shnum)
			*shnum = object_word(o, null + (is_64(o) ? 32 : 20), is_64(o) ? 8 : 4);
		if (h->e_shstrndx == SHN_XINDEX)
			*shstrndx = object_word(o, null + (is_64(o) ? 40 : 24), 4);
		if (h->e_phnum == PN_XNUM)
			*phnum = object_word(o, null + (is_64(o) ? 44 : 28), 4);
		if (*shnum > (o->size - h->e_shoff) / shsize)
			return fault("truncated: %zu section headers at 0x%" PRIx64 " lie outside the file", *shnum, h->e_shoff);
	}
	if (!*phnum)
		return "no program headers";
	if (h->e_phentsize != phsize)
		return fault("program headers: wrong entry size %u", h->e_phentsize);
	if (h->e_phoff > o->size || *phnum > (o->size - h->e_phoff) / phsize)
		return fault("truncated: %zu program headers at 0x%" PRIx64 " lie outside the file", *phnum, h->e_phoff);
	return NULL;
}

static const char *check_segment(const struct object *o, size_t i, const GElf_Phdr **before)
{
	const GElf_Phdr *p = &o->phdrs[i];
	uint64_t limit = is_64(o) ? UINT64_MAX : UINT64_C(1) << 32;

	if (p->p_type != PT_LOAD && p->p_type != PT_DYNAMIC && p->p_type != PT_INTERP && p->p_type != PT_NOTE)
		return NULL;
	if (!in_file(o, p->p_offset, p->p_filesz))
		return fault("truncated: program header %zu, offset 0x%" PRIx64 ", size 0x%" PRIx64 ", lies outside the file",
		             i, p->p_offset, p->p_filesz);
	if (p->p_type != PT_LOAD)
		return NULL;
	if (p->p_filesz > p->p_memsz)
		return fault("program header %zu: larger in the file than in memory", i);
	if (p->p_memsz > limit - p->p_vaddr)
		return fault("program header %zu: runs over the end of the address space", i);
	if (*before && p->p_vaddr < (*before)->p_vaddr + (*before)->p_memsz)
		return fault("program header %zu: overlaps the segment before it, or is out of order", i);
	*before = p;
	return NULL;
}

static const char *read_segments(struct object *o, size_t phnum)
{
	const GElf_Phdr *before = NULL;

	o->phdrs = arena_alloc(&o->arena, phnum * sizeof *o->phdrs);
	o->phnum = phnum;
	for (size_t i = 0; i < phnum; i++) {
		const char *why;

		if (!gelf_getphdr(o->elf, i, &o->phdrs[i]))
			return fault("program header %zu: %s", i, elf_errmsg(-1));
		why = check_segment(o, i, &before);
		if (why)
			return why;
	}
	return NULL;
}

/* A string table without the bytes behind its last NUL: what starts inside it ends inside it. */
static size_t terminated(const char *s, size_t n)
{
	while (n && s[n - 1])
		n--;
	return n;
}

static const char *check_section(const struct object *o, size_t i, const GElf_Shdr *h)
{
	size_t symsize = is_64(o) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

	if (h->sh_type == SHT_NOBITS || h->sh_type == SHT_NULL)
		return NULL;
	if (!in_file(o, h->sh_offset, h->sh_size))
		return fault("section %zu, offset 0x%" PRIx64 ", size 0x%" PRIx64 ", lies outside the file", i, h->sh_offset, h->sh_size);
	if ((h->sh_type == SHT_DYNSYM || h->sh_type == SHT_SYMTAB) && h->sh_entsize != symsize)
		return fault("section %zu: wrong entry size %" PRIu64, i, h->sh_entsize);
	return NULL;
}

static const char *read_sections(struct object *o, size_t shnum, size_t shstrndx)
{
	const char *names = NULL;
	size_t size = 0;

	o->sections = arena_alloc(&o->arena, (shnum + 1) * sizeof *o->sections);
	o->shnum = shnum;
	for (size_t i = 0; i < shnum; i++) {
		Elf_Scn *scn = elf_getscn(o->elf, i);
		const char *why;

		if (!scn || !gelf_getshdr(scn, &o->sections[i].h))
			return fault("section header %zu: %s", i, elf_errmsg(-1));
		why = check_section(o, i, &o->sections[i].h);
		if (why)
			return why;
	}
	if (shstrndx && shstrndx < shnum && o->sections[shstrndx].h.sh_type == SHT_STRTAB) {
		names = (const char *)o->image + o->sections[shstrndx].h.sh_offset;
		size = terminated(names, o->sections[shstrndx].h.sh_size);
	}
	for (size_t i = 0; i < shnum; i++)
		o->sections[i].name = o->sections[i].h.sh_name < size ? names + o->sections[i].h.sh_name : "";
	return NULL;
}

static const char *read_dynamic(struct object *o, const GElf_Phdr *p)
{
	unsigned w = is_64(o) ? 8 : 4;
	size_t max = p->p_filesz / (2 * w);
	const uint8_t *at = o->image + p->p_offset;

	/* The loader goes by the address, other tools by the offset. */
	if (object_offset(o, p->p_vaddr) != (int64_t)p->p_offset)
		return "dynamic section: not in a segment";
	o->dynamic = arena_alloc(&o->arena, max * sizeof *o->dynamic);
	for (size_t i = 0; i < max; i++, at += 2 * w) {
		int64_t tag = object_word(o, at, w);

		if (tag == DT_NULL)
			return NULL;
		o->dynamic[i].d_tag = w == 4 ? (int32_t)tag : tag;
		o->dynamic[i].d_un.d_val = object_word(o, at + w, w);
		o->dynnum = i + 1;
	}
	return "dynamic section: has no end";
}

static const char *check_dynamic_table(const struct object *o, const char *what, int64_t tag, int64_t size_tag,
                                       int64_t entry_tag, size_t entry)
{
	const GElf_Dyn *at = object_dyn(o, tag), *size = object_dyn(o, size_tag), *ent = object_dyn(o, entry_tag);

	if (!at || !size || !size->d_un.d_val)
		return NULL;
	if ((ent && ent->d_un.d_val != entry) || size->d_un.d_val % entry)
		return fault("dynamic section: wrong size of %s", what);
	if (!object_at(o, at->d_un.d_ptr, size->d_un.d_val))
		return fault("dynamic section: %s at 0x%" PRIx64 " lies outside the file", what, at->d_un.d_ptr);
	return NULL;
}

static const char *check_dynamic(struct object *o)
{
	size_t w = is_64(o) ? 8 : 4;
	const GElf_Dyn *str = object_dyn(o, DT_STRTAB), *strsz = object_dyn(o, DT_STRSZ), *plt = object_dyn(o, DT_PLTREL);
	const GElf_Dyn *sym = object_dyn(o, DT_SYMTAB), *syment = object_dyn(o, DT_SYMENT);
	const char *why = check_dynamic_table(o, "the string table", DT_STRTAB, DT_STRSZ, DT_NULL, 1);

	if (!why)
		why = check_dynamic_table(o, "DT_RELA", DT_RELA, DT_RELASZ, DT_RELAENT, 3 * w);
	if (!why)
		why = check_dynamic_table(o, "DT_REL", DT_REL, DT_RELSZ, DT_RELENT, 2 * w);
	if (!why)
		why = check_dynamic_table(o, "DT_RELR", DT_RELR, DT_RELRSZ, DT_RELRENT, w);
	if (!why)
		why = check_dynamic_table(o, "DT_JMPREL", DT_JMPREL, DT_PLTRELSZ, DT_NULL, plt && plt->d_un.d_val == DT_REL ? 2 * w : 3 * w);
	if (!why && syment && syment->d_un.d_val != (w == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)))
		why = "dynamic section: wrong size of symbols";
	if (!why && sym && object_offset(o, sym->d_un.d_ptr) < 0)
		why = fault("dynamic section: symbols at 0x%" PRIx64 " lie outside the file", sym->d_un.d_ptr);
	if (!why && str && strsz && strsz->d_un.d_val) {
		o->strtab = (const char *)object_at(o, str->d_un.d_ptr, strsz->d_un.d_val);
		o->strsz = terminated(o->strtab, strsz->d_un.d_val);
	}
	return why;
}

static const char *open_parts(struct object *o, const char *path)
{
	size_t phnum, shnum, shstrndx;
	const char *why = map_file(o, path);

	if (!why)
		why = read_header(o);
	if (!why)
		why = check_tables(o, &phnum, &shnum, &shstrndx);
	if (why)
		return why;
	elf_version(EV_CURRENT);
	/* libelf takes a char *, but writes only where it was asked to change something. */
	o->elf = elf_memory((char *)(uintptr_t)o->image, o->size);
	if (!o->elf || elf_kind(o->elf) != ELF_K_ELF)
		return fault("ELF header: %s", elf_errmsg(-1));
	why = read_segments(o, phnum);
	if (!why)
		why = read_sections(o, shnum, shstrndx);
	for (size_t i = 0; !why && i < phnum; i++)
		if (o->phdrs[i].p_type == PT_DYNAMIC && !o->dynamic)
			why = read_dynamic(o, &o->phdrs[i]);
	return why ? why : check_dynamic(o);
}

const char *object_open(struct object *o, const char *path)
{
	const char *why;

	memset(o, 0, sizeof *o);
	why = open_parts(o, path);
	if (why)
		object_close(o);
	return why;
}

void object_close(struct object *o)
{
	if (o->elf)
		elf_end(o->elf);
	if (o->image)
		munmap((void *)(uintptr_t)o->image, o->size);
	arena_free(&o->arena);
	memset(o, 0, sizeof *o);
}

bool object_is_listed(const struct object *o, const struct object_info *info)
{
	unsigned char digest[16];

	object_digest(o, digest);
	return o->size == info->size && !memcmp(digest, info->digest, sizeof digest);
}

const char *object_open_listed(struct object *o, const struct object_info *info)
{
	const char *why;

	memset(o, 0, sizeof *o);
	if (!info->path)
		return "the list names no file";
	why = object_open(o, info->path);
	if (why)
		return why;
	if (object_is_listed(o, info))
		return NULL;
	object_close(o);
	return "changed since the list was made";
}

void object_digest(const struct object *o, unsigned char digest[16])
{
	XXH128_canonical_t c;

	XXH3_state_t *state = XXH3_createState();
	if (!state)
		msg_die(o->path, "out of memory");
	XXH3_128bits_reset(state);
	for (size_t at = 0, n; at < o->size; at += n) {
		n = o->size - at < MEM_SLICE ? o->size - at : MEM_SLICE;
		XXH3_128bits_update(state, o->image + at, n);
		mem_forget(o->image + at, n);
	}
	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(state));
	XXH3_freeState(state);
	memcpy(digest, c.digest, 16);
}

uint64_t object_word(const struct object *o, const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	if (o->eh.e_ident[EI_DATA] == ELFDATA2MSB) {
		for (unsigned i = 0; i < bytes; i++)
			v = v << 8 | p[i];
		return v;
	}
	for (unsigned i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

const GElf_Phdr *object_segment(const struct object *o, uint64_t address)
{
	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *p = &o->phdrs[i];

		if (p->p_type == PT_LOAD && address - p->p_vaddr < p->p_memsz)
			return p;
	}
	return NULL;
}

const uint8_t *object_at(const struct object *o, uint64_t address, size_t len)
{
	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *p = &o->phdrs[i];
		uint64_t in = address - p->p_vaddr;

		if (p->p_type == PT_LOAD && in < p->p_filesz)
			return len <= p->p_filesz - in ? o->image + p->p_offset + in : NULL;
	}
	return NULL;
}

int64_t object_offset(const struct object *o, uint64_t address)
{
	const uint8_t *p = object_at(o, address, 1);

	return p ? p - o->image : -1;
}

bool object_section_is_plt(const struct object_section *s)
{
	return s && !strncmp(s->name, ".plt", 4);
}

const struct object_section *object_section_at(const struct object *o, uint64_t address)
{
	for (size_t i = 1; i < o->shnum; i++) {
		const GElf_Shdr *h = &o->sections[i].h;

		/* .tbss takes no memory: other sections have its addresses. */
		if (!(h->sh_flags & SHF_ALLOC) || (h->sh_flags & SHF_TLS && h->sh_type == SHT_NOBITS))
			continue;
		if (address - h->sh_addr < h->sh_size)
			return &o->sections[i];
	}
	return NULL;
}

bool object_is_code(const struct object *o, uint64_t address)
{
	const GElf_Phdr *p = object_segment(o, address);
	const struct object_section *s;

	if (!p || !(p->p_flags & PF_X))
		return false;
	if (!o->shnum)
		return true;
	s = object_section_at(o, address);
	return s && s->h.sh_flags & SHF_EXECINSTR;
}

const struct object_section *object_section(const struct object *o, const char *name)
{
	for (size_t i = 1; i < o->shnum; i++)
		if (!strcmp(o->sections[i].name, name))
			return &o->sections[i];
	return NULL;
}

const GElf_Dyn *object_dyn(const struct object *o, int64_t tag)
{
	for (size_t i = 0; i < o->dynnum; i++)
		if (o->dynamic[i].d_tag == tag)
			return &o->dynamic[i];
	return NULL;
}

const char *object_dynstr(const struct object *o, uint64_t offset)
{
	return offset < o->strsz ? o->strtab + offset : "";
}

const char *object_soname(const struct object *o)
{
	const GElf_Dyn *d = object_dyn(o, DT_SONAME);

	return d ? object_dynstr(o, d->d_un.d_val) : NULL;
}
