/* process.c - the order of glibc's elf/rtld.c and elf/dl-deps.c: the program, what is preloaded, then breadth-first what they need. */
#include "tools/so-input/process.h"
#include "lib/base/msg.h"
#include "tools/so-input/search.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static char *absolute(const char *path)
{
	char *cwd, *all;

	if (*path == '/' || !(cwd = getcwd(NULL, 0)))
		return xstrdup(path);
	while (path[0] == '.' && path[1] == '/')
		path += 1 + strspn(path + 1, "/");
	all = xasprintf("%s/%s", strcmp(cwd, "/") ? cwd : "", path);
	free(cwd);
	return all;
}

static char *directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? xstrdup("/") : xasprintf("%.*s", (int)(slash - path), path);
}

static const char *keep(struct process *p, const char *s)
{
	return arena_strdup(&p->arena, s);
}

static const char *keep_format(struct process *p, const char *a, const char *b)
{
	char *s = xasprintf("%s%s", a, b);
	const char *kept = keep(p, s);

	free(s);
	return kept;
}

static void free_map(struct map *m)
{
	object_close(&m->object);
	free(m->path);
	free(m->origin);
	vec_free(&m->names);
	free(m);
}

/* Opens the file as a map of its own.  NULL with *fault set when it cannot be. */
static struct map *new_map(const char *path, const char **fault)
{
	struct map *m = xcalloc(1, sizeof *m);
	struct stat st;

	*fault = object_open(&m->object, path);
	if (*fault || stat(path, &st)) {
		if (!*fault)
			*fault = "vanished";
		free(m);
		return NULL;
	}
	m->path = absolute(path);
	m->origin = directory(m->path);
	m->dev = st.st_dev;
	m->ino = st.st_ino;
	return m;
}

/* The kernel hands such a program to the loader with the sign that the environment is not to be trusted. */
static bool is_secure(const char *path)
{
	struct stat st;
	struct statvfs fs;

	if (stat(path, &st) || statvfs(path, &fs) || fs.f_flag & ST_NOSUID)
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != getuid()) || (st.st_mode & S_ISGID && st.st_gid != getgid()) ||
	       (getuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

static const char *interpreter_name(const struct object *o)
{
	for (size_t i = 0; i < o->phnum; i++) {
		const GElf_Phdr *h = &o->phdrs[i];

		if (h->p_type == PT_INTERP && h->p_filesz && !o->image[h->p_offset + h->p_filesz - 1])
			return (const char *)o->image + h->p_offset;
	}
	return NULL;
}

static void classify(struct process *p, const char *interpreter)
{
	const struct object *o = &p->maps.v[0]->object;
	const GElf_Dyn *flags = object_dyn(o, DT_FLAGS_1);
	bool pie = flags && flags->d_un.d_val & DF_1_PIE;

	/* libc has an interpreter, so that it can be run, and old PIEs have no flag. */
	p->is_program = o->eh.e_type == ET_EXEC || pie || (interpreter && !object_soname(o));
	p->is_static = p->is_program && !interpreter && !object_dyn(o, DT_NEEDED);
}

static bool is_alike(const struct object *a, const struct object *b)
{
	return a->eh.e_machine == b->eh.e_machine && a->eh.e_ident[EI_CLASS] == b->eh.e_ident[EI_CLASS] &&
	       a->eh.e_ident[EI_DATA] == b->eh.e_ident[EI_DATA];
}

/* NULL when it was found, else why not. */
static const char *open_interpreter(struct process *p, const char *asked)
{
	struct map *app = p->maps.v[0], *m = NULL;
	const char *fault = "not found";
	char *path;
	int fd = root_open(p->root, asked, &path);

	if (fd >= 0) {
		close(fd);
		m = new_map(path, &fault);
	}
	free(path);
	if (m && !is_alike(&m->object, &app->object)) {
		free_map(m);
		return "is for another machine";
	}
	if (!m)
		return fault;
	m->name = keep(p, asked);
	m->found = "path";
	m->why = keep_format(p, "interpreter of ", base_name(app->path));
	m->is_loader = true;
	vec_push(&m->names, m->name);
	p->interpreter = m;
	return NULL;
}

/* Fault in words, or NULL.  Whatever loads a shared object is there before it: without one in it, the machine's usual one. */
static const char *find_interpreter(struct process *p, const char *name)
{
	static char text[200];
	const char *fault = open_interpreter(p, name ? name : p->machine.interpreter);

	if (!fault || !name)
		return NULL;
	snprintf(text, sizeof text, "its interpreter, %.100s, %s%s", name, fault, p->root->dir ? "" : " (a program of another machine needs --sysroot)");
	return text;
}

const char *process_open(struct process *p, const char *path, const struct root *root)
{
	const char *fault, *interpreter;
	char *real = realpath(path, NULL);
	struct map *app = new_map(real ? real : path, &fault);

	free(real);
	memset(p, 0, sizeof *p);
	p->root = root;
	if (!app)
		return fault;
	vec_push(&p->maps, app);
	interpreter = interpreter_name(&app->object);
	classify(p, interpreter);
	app->name = object_soname(&app->object) && !p->is_program ? object_soname(&app->object) : base_name(app->path);
	app->found = "path";
	app->why = p->is_program ? "app" : "given";
	app->reachable = !p->is_program;
	machine_find(&p->machine, &app->object, root, &p->arena);
	cache_open(&p->cache, root, app->object.eh.e_ident[EI_DATA] == ELFDATA2MSB);
	p->is_secure = !root->dir && p->is_program && is_secure(app->path);
	if (!root->dir && !p->is_secure)
		p->library_path = getenv("LD_LIBRARY_PATH");
	fault = p->is_static ? NULL : find_interpreter(p, interpreter);
	if (fault)
		process_close(p);
	return fault;
}

static bool has_string(const struct strings *s, const char *x)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->v[i], x))
			return true;
	return false;
}

static bool is_known_as(const struct map *m, const char *name)
{
	return has_string(&m->names, name) || (object_soname(&m->object) && !strcmp(object_soname(&m->object), name));
}

static struct map *find_loaded(const struct process *p, const char *name)
{
	for (size_t i = 0; i < p->maps.n; i++)
		if (is_known_as(p->maps.v[i], name))
			return p->maps.v[i];
	return p->interpreter && is_known_as(p->interpreter, name) ? p->interpreter : NULL;
}

/* The program's own file does not count: the kernel mapped it, the loader does not know its inode. */
static struct map *find_file(const struct process *p, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	for (size_t i = 1; i <= p->maps.n; i++) {
		struct map *m = i < p->maps.n ? p->maps.v[i] : p->interpreter;

		if (m && m->dev == st.st_dev && m->ino == st.st_ino)
			return m;
	}
	return NULL;
}

static void say_missing(struct process *p, const struct map *from, const char *name, const struct hit *hit, const char *fault)
{
	if (has_string(&p->missing, name))
		return;
	vec_push(&p->missing, keep(p, name));
	if (fault)
		msg_error(hit->path ? hit->path : name, "%s; needed by %s", fault, from->path);
	else
		msg_error(name, "not found; needed by %s", from->path);
}

/* A second name for a file: in out/ there will be only the first, and the loader would map both files. */
static void add_name(struct map *m, const char *name)
{
	vec_push(&m->names, name);
	if (!m->is_loader && m->reachable && !strchr(name, '/') && strcmp(name, m->name))
		msg_warn(m->path, "searched as %s and as %s: the profiled object needs a link of the second name", m->name, name);
}

static bool is_reachable(const struct process *p, const struct hit *hit)
{
	return !p->is_secure && strcmp(hit->found, "RPATH") && strcmp(hit->found, "path");
}

static struct map *add_map(struct process *p, const struct map *from, const char *name, const struct hit *hit, const char *why)
{
	const char *fault;
	struct map *m = new_map(hit->path, &fault);

	if (!m) {
		say_missing(p, from, name, hit, fault);
		return NULL;
	}
	m->name = name;
	m->found = hit->found;
	m->why = why;
	m->requester = from;
	m->reachable = is_reachable(p, hit);
	vec_push(&m->names, name);
	vec_push(&m->names, keep(p, hit->formed));
	vec_push(&p->maps, m);
	return m;
}

/* Maps what FROM calls NAME, unless it is there already. */
static void need(struct process *p, const struct map *from, const char *asked, const char *why, bool may_miss)
{
	char *expanded = strchr(asked, '$') ? search_expand(p, from, asked) : xstrdup(asked);
	const char *name = keep(p, expanded ? expanded : asked);
	struct map *there;
	struct hit hit;

	free(expanded);
	/* The program itself goes by the empty name. */
	if (!*name || find_loaded(p, name))
		return;
	search(p, from, name, &hit);
	if (hit.fault || hit.fd < 0) {
		if (!may_miss)
			say_missing(p, from, name, &hit, hit.fault);
	} else if ((there = find_file(p, hit.fd))) {
		add_name(there, name);
	} else {
		add_map(p, from, name, &hit, why);
	}
	if (hit.fd >= 0)
		close(hit.fd);
	free(hit.path);
	free(hit.formed);
}

static void load_needed(struct process *p, size_t first)
{
	/* p->maps.v moves as it grows; the maps stay. */
	for (size_t i = first; i < p->maps.n; i++) {
		const struct map *m = p->maps.v[i];
		const char *why = keep_format(p, "needed by ", base_name(m->path));

		for (size_t k = 0; k < m->object.dynnum; k++) {
			const GElf_Dyn *d = &m->object.dynamic[k];

			if (d->d_tag == DT_NEEDED || d->d_tag == DT_FILTER || d->d_tag == DT_AUXILIARY)
				need(p, m, object_dynstr(&m->object, d->d_un.d_val), why, d->d_tag == DT_AUXILIARY);
		}
	}
}

static void preload(struct process *p, const char *list, const char *separators, const char *why)
{
	while (*list) {
		size_t n = strcspn(list, separators);
		char *name = xasprintf("%.*s", (int)n, list);

		/* The loader only warns of missing ones, and the program runs: so do we. */
		if (n) {
			size_t before = p->maps.n;

			need(p, p->maps.v[0], name, why, true);
			if (p->maps.n == before && !find_loaded(p, name))
				msg_warn(name, "cannot be preloaded (%s)", why);
		}
		free(name);
		list += n + (list[n] != 0);
	}
}

static void preload_file(struct process *p)
{
	char *path, *line = NULL;
	size_t cap = 0;
	int fd = root_open(p->root, "/etc/ld.so.preload", &path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	free(path);
	while (f && getline(&line, &cap, f) >= 0) {
		line[strcspn(line, "#")] = 0;
		preload(p, line, ": \t\n", "preloaded by /etc/ld.so.preload");
	}
	free(line);
	if (f)
		fclose(f);
}

void process_load(struct process *p)
{
	const char *list = p->root->dir || p->is_secure ? NULL : getenv("LD_PRELOAD");

	if (p->is_static)
		return;
	if (p->is_program && list)
		preload(p, list, " :", "preloaded by LD_PRELOAD");
	if (p->is_program)
		preload_file(p);
	load_needed(p, 0);
}

void process_also(struct process *p, const char *name)
{
	size_t first = p->maps.n;

	need(p, p->maps.v[0], name, "also", false);
	load_needed(p, first);
}

void process_close(struct process *p)
{
	for (size_t i = 0; i < p->maps.n; i++)
		free_map(p->maps.v[i]);
	if (p->interpreter)
		free_map(p->interpreter);
	vec_free(&p->maps);
	vec_free(&p->missing);
	free(p->machine.defaults.v);
	free(p->machine.subdirs.v);
	cache_close(&p->cache);
	arena_free(&p->arena);
	memset(p, 0, sizeof *p);
}
