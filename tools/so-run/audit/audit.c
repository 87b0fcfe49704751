/* audit.c - in every process of a run: has the loader take profiled objects for their originals.

   The loader shows each file that it is about to try.  A file that is an original in the index (the same device, inode, size and
   time) is answered with its profiled object; the link map keeps the original's path, so that dladdr and whoever looks for files
   beside the object find what they would have found.  A name with a slash is shown once, before the search; there the answer becomes
   the link map's name, and is put right when the map is made.  Names without a slash are left to the loader's own search.

   No libc, no data that needs relocations, no dependency: this object lies in a namespace of its own, with nothing else in it. */
#include <link.h>
#define RUN_NO_LIBC
#include "formats/run.h"
#include "runtime/text.h"
#include "tools/so-run/audit/bind.h"
#include "tools/so-run/audit/kernel.h"
#include "tools/so-run/audit/links.h"
#include "tools/so-run/audit/notes.h"
#include "tools/so-run/audit/stack.h"

#define EXPORT __attribute__((visibility("default")))
enum { PATH_LONGEST = 4096, RLIMIT_AS = 9, COUNTERS_PAGE = 4096 };

static struct stack stack;
static struct notes notes;
static const struct run_index *index_;
static char executable[PATH_LONGEST];		/* the original of the program; "" when that is not known */
static char loader[PATH_LONGEST];
static bool program_is_profiled;

/* What the loader was answered last, and what it asked. */
static char asked[PATH_LONGEST], answered[2 * PATH_LONGEST];
static char expanded[2 * PATH_LONGEST];

static const struct run_entry *entries(void)
{
	return run_entries(index_);
}

static const char *string(uint32_t offset)
{
	return run_string(index_, offset);
}

static bool same(const char *a, const char *b)
{
	size_t n = text_length(a, PATH_LONGEST);

	return n == text_length(b, PATH_LONGEST) && !memcmp(a, b, n);
}

static void copy(char *to, const char *from, size_t size)
{
	size_t n = text_length(from, size);

	memcpy(to, from, n < size ? n : 0);
	to[n < size ? n : 0] = 0;
}

static bool begins(const char *s, const char *with)
{
	size_t n = text_length(with, PATH_LONGEST);

	return text_length(s, n) == n && !memcmp(s, with, n);
}

static char *unconst(const char *s)
{
	return (char *)(uintptr_t)s;
}

static bool open_index(const char *run)
{
	char path[PATH_LONGEST];
	size_t n = text_length(run, sizeof path), size = 0;

	if (n + sizeof "/" RUN_INDEX > sizeof path)
		return false;
	memcpy(path, run, n);
	memcpy(path + n, "/" RUN_INDEX, sizeof "/" RUN_INDEX);
	index_ = (const void *)kernel_map(path, &size);
	return index_ && run_index_is_sound(index_, size);
}

/* The entry whose original is the file, or NULL. */
static const struct run_entry *find(const char *path)
{
	struct stat st;
	uint32_t low = 0, high = index_->entries;

	if (!kernel_stat(path, &st))
		return NULL;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct run_entry *e = &entries()[middle];

		if (e->dev == st.st_dev && e->ino == st.st_ino)
			return e->size == (uint64_t)st.st_size && e->mtime == kernel_mtime(&st) ? e : NULL;
		if (e->dev < st.st_dev || (e->dev == st.st_dev && e->ino < st.st_ino))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Where the address space is limited a profiled object, two or three times as large, could be one too many. */
static bool has_room(const struct run_entry *e)
{
	uint64_t limit = kernel_limit(RLIMIT_AS), pages = 0;
	char text[32];
	long fd, n;

	if (limit == UINT64_MAX)
		return true;
	fd = sys_openat(AT_FDCWD, "/proc/self/statm", O_RDONLY, 0);
	if (fd < 0)
		return false;
	n = sys_read((int)fd, text, sizeof text);
	sys_close((int)fd);
	for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		pages = pages * 10 + (uint64_t)(text[i] - '0');
	return n > 0 && limit / 2 > pages * COUNTERS_PAGE && limit / 8 > e->twin_size;
}

/* The profiled object for a file, or NULL.  It may be out of reach of a process that changed its root or its rights. */
static const struct run_entry *find_usable(const char *path)
{
	const struct run_entry *e = find(path);

	return e && !e->why && has_room(e) && kernel_is_readable(string(e->twin)) ? e : NULL;
}

static const char *why_not(const char *path, Lmid_t lmid)
{
	const struct run_entry *e = find(path);

	if (!e)
		return "not among the profiled objects";
	if (e->why)
		return string(e->why);
	if (e->flags & RUN_LEFT_OUT)
		return "executables are left out";
	if (!has_room(e))
		return "the address space is limited";
	if (!kernel_is_readable(string(e->twin)))
		return "its profiled object cannot be read";
	return lmid == LM_ID_BASE ? "the loader did not show it" : "dlmopen by a path, in a call that the loader does not show";
}

/* The path that the program is known by, behind the run directory; where there is no room the index knows one, too. */
static char *with_original(const char *variable)
{
	static char text[2 * PATH_LONGEST + sizeof RUN_ORIGINAL];
	size_t n = text_length(variable, PATH_LONGEST);

	if (executable[0] != '/' || n == PATH_LONGEST)
		return unconst(variable);
	memcpy(text, variable, n);
	memcpy(text + n, RUN_ORIGINAL, sizeof RUN_ORIGINAL - 1);
	copy(text + n + sizeof RUN_ORIGINAL - 1, executable, PATH_LONGEST);
	return text;
}

/* A program that is an original is started anew as its profiled object: arguments, environment and everything else stay. */
static void become_profiled(const char *path, char **variable)
{
	const struct run_entry *e = find_usable(path);
	char *was = *variable;

	if (!e || !run_is_program(e))
		return;
	*variable = with_original(was);
	kernel_execve(string(e->twin), stack.argv, stack.environment);
	*variable = was;
}

/* Cuts off what with_original added; NULL: nothing. */
static const char *cut_original(char *run)
{
	for (; *run; run++)
		if (begins(run, RUN_ORIGINAL "/")) {
			*run = 0;
			return run + sizeof RUN_ORIGINAL - 1;
		}
	return NULL;
}

/* ORIGINAL: what the program was started as, when that is known. */
static void find_executable(char **variable, const char *original)
{
	const char *twin = NULL;
	const char *given = (const char *)stack_auxiliary(&stack, AUX_EXECFN);
	long n = sys_readlink("/proc/self/exe", executable, sizeof executable - 1);

	executable[n > 0 ? n : 0] = 0;
	become_profiled(n > 0 ? "/proc/self/exe" : given, variable);
	/* Valgrind tells the program's path, and opens a file of its own. */
	if (n > 0)
		become_profiled(executable, variable);
	else
		copy(executable, given, sizeof executable);
	for (uint32_t i = 0; i < index_->entries && !program_is_profiled; i++)
		if (entries()[i].flags & RUN_APP && same(string(entries()[i].twin), executable)) {
			program_is_profiled = true;
			twin = string(entries()[i].twin);
			copy(executable, original ? original : string(entries()[i].original), sizeof executable);
		}
	links_start(index_, twin, executable);
}

EXPORT unsigned la_version(unsigned version)
{
	const char *original;
	char *run, **variable;

	if (!version || !stack_find(&stack) || stack_auxiliary(&stack, AUX_SECURE))
		return 0;
	variable = stack_variable(&stack, "SOPROF_DIR", &run);
	if (!variable)
		return 0;
	original = cut_original(run);
	if (!open_index(run))
		return 0;
	notes_start(&notes, run);
	find_executable(variable, original);
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* The length of "$ORIGIN" at the start, or 0. */
static size_t origin_length(const char *name)
{
	return begins(name, "$ORIGIN/") ? 7 : begins(name, "${ORIGIN}/") ? 9 : 0;
}

/* The loader would take the profiled object's own directory. */
static const char *expand(const char *name, const struct link_map *from)
{
	size_t skip = origin_length(name), n;
	const char *path = from->l_name[0] ? from->l_name : executable;

	if (!skip)
		return name;
	for (n = text_length(path, PATH_LONGEST); n && path[n - 1] != '/'; n--)
		;
	if (!n || n + text_length(name + skip, PATH_LONGEST) >= sizeof expanded)
		return name;
	memcpy(expanded, path, n);
	copy(expanded + n, name + skip + 1, sizeof expanded - n);
	return expanded;
}

/* As long as what was asked for, so that there is room for it in the link map: more slashes mean the same. */
static char *padded(const char *twin, const char *name)
{
	size_t n = text_length(twin, PATH_LONGEST), want = text_length(name, PATH_LONGEST), pad = want > n ? want - n : 0;

	memset(answered, '/', pad);
	copy(answered + pad, twin, sizeof answered - pad);
	return answered;
}

static bool has_slash(const char *s)
{
	while (*s && *s != '/')
		s++;
	return *s;
}

static bool has_dollar(const char *s)
{
	while (*s && *s != '$')
		s++;
	return *s;
}

EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
	const struct run_entry *e;
	const char *path = name;

	if (!has_slash(name) || text_length(name, PATH_LONGEST) == PATH_LONGEST)
		return unconst(name);
	if (flag == LA_SER_ORIG)
		path = expand(name, (const struct link_map *)*cookie);
	e = find_usable(path);
	if (!e)
		return unconst(path);
	copy(asked, path, sizeof asked);
	if (flag == LA_SER_ORIG)
		return padded(string(e->twin), path);
	copy(answered, path, sizeof answered);
	return unconst(string(e->twin));
}

/* In the directory of profiled objects, that is found by LD_LIBRARY_PATH or LD_PRELOAD. */
static bool is_twin(const char *path)
{
	const char *directory = string(index_->directory);

	return begins(path, directory);
}

static void note(const struct link_map *map, Lmid_t lmid)
{
	const char *path = map->l_name;

	if (map->l_addr && map->l_addr == stack_auxiliary(&stack, AUX_BASE)) {
		copy(loader, path, sizeof loader);
		notes_add(&notes, path, "the loader itself");
	} else if (!*path) {
		if (!program_is_profiled)
			notes_add(&notes, executable, why_not(executable, lmid));
	} else if (has_slash(path) && !is_twin(path)) {	/* not the kernel's own, linux-vdso.so.1 */
		notes_add(&notes, path, why_not(path, lmid));
	}
}

/* What dlmopen opens by a path in another namespace is shown to no la_objsearch, so the call itself is bound to us.  We call the real
   one last, since it looks who calls it, and outside the loader's lock: so it is given a name that stays, and other threads may be
   here.  What it was called with is remembered for la_objopen; of two at once one may get the original's path instead. */
struct spelling { const struct run_entry *entry; char name[]; };
static void *(*real_dlmopen)(Lmid_t, const char *, int);
static const struct spelling *spelt;

static const struct spelling *remember(const struct run_entry *e, const char *name)
{
	static _Alignas(struct spelling) char room[1 << 16];
	static uint32_t used;
	size_t n = text_length(name, PATH_LONGEST) + 1, size = (sizeof(struct spelling) + n + 7) & ~(size_t)7;
	uint32_t at = __atomic_load_n(&used, __ATOMIC_RELAXED);
	struct spelling *s;

	do
		if (size > sizeof room - at)
			return NULL;
	while (!__atomic_compare_exchange_n(&used, &at, at + (uint32_t)size, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	s = (void *)(room + at);
	s->entry = e;
	memcpy(s->name, name, n);
	return s;
}

static void *our_dlmopen(Lmid_t lmid, const char *name, int mode)
{
	const struct run_entry *e = NULL;

	if (name && has_slash(name) && !has_dollar(name) && text_length(name, PATH_LONGEST) < PATH_LONGEST)
		e = find_usable(name);
	if (!e)
		return real_dlmopen(lmid, name, mode);
	__atomic_store_n(&spelt, same(name, string(e->original)) ? NULL : remember(e, name), __ATOMIC_RELEASE);
	return real_dlmopen(lmid, string(e->twin - e->slashes), mode);
}

static bool is_c_library(const struct link_map *map)
{
	const char *name = map->l_name;

	for (const char *s = name; *s; s++)
		if (*s == '/')
			name = s + 1;
	return begins(name, "libc.so.") || begins(name, "libdl.so.");
}

static void bind(const struct link_map *map)
{
	struct bind b;

	if (!bind_open(&b, map))
		return;
	bind_function(&b, "dlmopen", (uintptr_t)our_dlmopen, &real_dlmopen);
	links_bind(&b);
	bind_close(&b);
}

/* The entry whose profiled object our_dlmopen gave, or NULL. */
static const struct run_entry *given(const char *path)
{
	for (uint32_t i = 0; i < index_->entries && path[0] == '/' && path[1] == '/'; i++)
		if (same(string(entries()[i].twin - entries()[i].slashes), path))
			return &entries()[i];
	return NULL;
}

static bool put_name(struct link_map *map, const char *name)
{
	size_t n = text_length(name, PATH_LONGEST);
	bool fits = n <= text_length(map->l_name, sizeof answered);

	if (fits)
		memcpy(map->l_name, name, n + 1);
	return fits;
}

static void put_spelling(struct link_map *map, const struct run_entry *e)
{
	const struct spelling *s = __atomic_load_n(&spelt, __ATOMIC_ACQUIRE);

	if (!s || s->entry != e || !put_name(map, s->name))
		put_name(map, string(e->original));
}

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	const struct run_entry *e = given(map->l_name);

	*cookie = (uintptr_t)map;
	if (answered[0] && same(map->l_name, answered))
		put_name(map, asked);
	else if (e)
		put_spelling(map, e);
	else
		note(map, lmid);
	answered[0] = 0;
	if (lmid == LM_ID_BASE && is_c_library(map))
		bind(map);
	return 0;
}

EXPORT void la_preinit(uintptr_t *cookie)
{
	(void)cookie;
	notes_begin(&notes, loader);
}
