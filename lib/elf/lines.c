/* lines.c - names and source lines over libdwfl. */
#include <elfutils/libdwfl.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/mem.h"
#include "lib/elf/lines.h"

struct lines {
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;			/* libdwfl's address - link-time address */
	VEC(const char *) files;	/* pointers into libdw's tables */
	uint32_t *slots;		/* hash of names: file number + 1 */
	size_t slot_count;
};

static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debuginfo_path,
};

struct lines *lines_open(const char *path, const char **why)
{
	struct lines *l = xcalloc(1, sizeof *l);

	l->dwfl = dwfl_begin(&callbacks);
	if (l->dwfl)
		l->module = dwfl_report_offline(l->dwfl, "", path, -1);
	if (!l->module || dwfl_report_end(l->dwfl, NULL, NULL) || !dwfl_module_getelf(l->module, &l->bias)) {
		*why = dwfl_errmsg(-1);
		if (!*why)
			*why = "cannot be read by libdwfl";
		lines_close(l);
		return NULL;
	}
	return l;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	if (l->dwfl)
		dwfl_end(l->dwfl);
	vec_free(&l->files);
	free(l->slots);
	free(l);
}

const char *lines_debug_path(const struct lines *l)
{
	const char *main_file = NULL, *debug_file = NULL;
	GElf_Addr bias;

	dwfl_module_getdwarf(l->module, &bias);
	dwfl_module_info(l->module, NULL, NULL, NULL, NULL, NULL, &main_file, &debug_file);
	return debug_file && (!main_file || strcmp(main_file, debug_file)) ? debug_file : NULL;
}

static bool is_function(const GElf_Sym *sym, GElf_Word shndx)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (shndx == SHN_UNDEF || shndx == SHN_ABS || shndx == SHN_COMMON)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && GELF_ST_BIND(sym->st_info) != STB_LOCAL);
}

struct lines_symbols lines_symbols(struct lines *l)
{
	VEC(struct lines_symbol) found = {0};
	int n = dwfl_module_getsymtab(l->module);
	unsigned unit = 0;

	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		GElf_Word shndx;
		GElf_Addr bias;
		Elf *elf;
		const char *name = dwfl_module_getsym_info(l->module, i, &sym, &address, &shndx, &elf, &bias);

		if (!name)
			continue;
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			unit++;
		if (!*name || !is_function(&sym, shndx))
			continue;
		vec_push(&found, ((struct lines_symbol){
			.name = name, .value = address - l->bias, .size = sym.st_size,
			.unit = GELF_ST_BIND(sym.st_info) == STB_LOCAL ? unit : 0,
			.type = GELF_ST_TYPE(sym.st_info), .bind = GELF_ST_BIND(sym.st_info),
		}));
	}
	return (struct lines_symbols){ found.v, found.n };
}

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

static void grow_slots(struct lines *l)
{
	free(l->slots);
	l->slot_count = l->slot_count ? l->slot_count * 2 : 256;
	l->slots = xcalloc(l->slot_count, sizeof *l->slots);
	for (size_t i = 0; i < l->files.n; i++) {
		size_t at = hash(l->files.v[i]) & (l->slot_count - 1);

		while (l->slots[at])
			at = (at + 1) & (l->slot_count - 1);
		l->slots[at] = (uint32_t)i + 1;
	}
}

static unsigned file_number(struct lines *l, const char *name)
{
	size_t at;

	if (l->files.n * 2 >= l->slot_count)
		grow_slots(l);
	for (at = hash(name) & (l->slot_count - 1); l->slots[at]; at = (at + 1) & (l->slot_count - 1))
		if (!strcmp(l->files.v[l->slots[at] - 1], name))
			return l->slots[at] - 1;
	vec_push(&l->files, name);
	l->slots[at] = (uint32_t)l->files.n;
	return (unsigned)l->files.n - 1;
}

struct range { Dwarf_Addr start, end; };

struct walk {
	struct lines *l;
	void (*row)(void *context, const struct lines_row *r);
	void *context;
	GElf_Addr shift;		/* link-time address - address in the line table */
	VEC(struct range) ranges;	/* of the unit, ascending */
	const char *last_name;
	unsigned last_file;
	size_t rows;
};

static int by_start(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void find_ranges(struct walk *w, Dwarf_Die *cu)
{
	Dwarf_Addr base, start, end;

	w->ranges.n = 0;
	for (ptrdiff_t at = 0; (at = dwarf_ranges(cu, at, &base, &start, &end)) > 0;)
		if (start < end)
			vec_push(&w->ranges, ((struct range){ start, end }));
	if (w->ranges.n)
		qsort(w->ranges.v, w->ranges.n, sizeof *w->ranges.v, by_start);
}

static void give_row(struct walk *w, Dwarf_Line *line, Dwarf_Addr start, Dwarf_Addr end)
{
	struct lines_row r = { .start = start + w->shift, .end = end + w->shift };
	const char *name = dwarf_linesrc(line, NULL, NULL);
	int number = 0;

	if (!name || dwarf_lineno(line, &number) || number <= 0)
		return;
	if (name != w->last_name) {
		w->last_name = name;
		w->last_file = file_number(w->l, name);
	}
	r.file = w->last_file;
	r.line = (unsigned)number;
	dwarf_linebeginstatement(line, &r.is_stmt);
	w->rows++;
	w->row(w->context, &r);
}

/* libdw sorts the rows of a unit by address, and one that ends a sequence before others of its address: an empty row at the
   very end of a function then seems to reach up to the unit's next function.  So rows count only within the unit's ranges. */
static void walk_unit(struct walk *w, Dwarf_Die *cu)
{
	Dwarf_Lines *table;
	size_t n, at = 0;

	if (dwarf_getsrclines(cu, &table, &n))
		return;
	find_ranges(w, cu);
	w->last_name = NULL;
	for (size_t i = 0; i + 1 < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(table, i), *next = dwarf_onesrcline(table, i + 1);
		Dwarf_Addr start, end;
		bool closes = false;

		if (dwarf_lineendsequence(line, &closes) || closes || dwarf_lineaddr(line, &start) || dwarf_lineaddr(next, &end) || end < start)
			continue;
		while (at < w->ranges.n && w->ranges.v[at].end <= start)
			at++;
		if (w->ranges.n && (at == w->ranges.n || start < w->ranges.v[at].start))
			continue;
		give_row(w, line, start, w->ranges.n && end > w->ranges.v[at].end ? w->ranges.v[at].end : end);
	}
}

size_t lines_rows(struct lines *l, void (*row)(void *context, const struct lines_row *r), void *context)
{
	struct walk w = { .l = l, .row = row, .context = context };
	Dwarf_Die *cu = NULL;
	Dwarf_Addr bias;

	/* A partial unit (dwz) refers to the table of a unit that is walked itself. */
	while ((cu = dwfl_module_nextcu(l->module, cu, &bias))) {
		w.shift = bias - l->bias;
		if (dwarf_tag(cu) != DW_TAG_partial_unit)
			walk_unit(&w, cu);
	}
	vec_free(&w.ranges);
	return w.rows;
}

const char *lines_file(const struct lines *l, unsigned file)
{
	return file < l->files.n ? l->files.v[file] : "";
}

unsigned lines_files(const struct lines *l)
{
	return (unsigned)l->files.n;
}

bool lines_at(struct lines *l, uint64_t address, const char **file, unsigned *line)
{
	Dwfl_Line *at = dwfl_module_getsrc(l->module, address + l->bias);
	int number = 0;

	*file = at ? dwfl_lineinfo(at, NULL, &number, NULL, NULL, NULL) : NULL;
	*line = number > 0 ? (unsigned)number : 0;
	return *file && *line;
}
