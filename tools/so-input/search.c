/* search.c - the search of glibc's elf/dl-load.c: RPATH, LD_LIBRARY_PATH, RUNPATH, the cache, the default directories. */
#include "tools/so-input/search.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The length of token NAME at s (behind the $), 0 when something else stands there. */
static size_t token(const char *s, const char *name)
{
	bool braced = *s == '{';
	size_t n = strlen(name);

	s += braced;
	if (strncmp(s, name, n))
		return 0;
	if (braced)
		return s[n] == '}' ? n + 2 : 0;
	return isalnum((unsigned char)s[n]) || s[n] == '_' ? 0 : n;
}

char *search_expand(const struct process *p, const struct map *m, const char *s)
{
	const char *const names[] = { "ORIGIN", "LIB", "PLATFORM" };
	const char *const values[] = { m->origin, p->machine.lib, p->machine.platform };
	VEC(char) out = {0};

	while (*s) {
		size_t n = 0;

		for (int i = 0; *s == '$' && i < 3 && !n; i++) {
			n = token(s + 1, names[i]);
			if (n && !values[i]) {
				vec_free(&out);
				return NULL;
			}
			for (const char *v = values[i]; n && *v; v++)
				vec_push(&out, *v);
		}
		if (!n)
			vec_push(&out, *s);
		s += n + 1;
	}
	vec_push(&out, 0);
	return out.v;
}

/* True: not one for this program, the search goes on.  What glibc takes for a fault goes to hit->fault. */
static bool is_foreign(const struct process *p, int fd, struct hit *hit)
{
	const struct object *app = &p->maps.v[0]->object;
	unsigned char h[sizeof(Elf64_Ehdr)];
	ssize_t n = pread(fd, h, sizeof h, 0);
	size_t want = app->eh.e_ident[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);

	if (n < 0)
		hit->fault = strerror(errno);
	else if (n >= SELFMAG && memcmp(h, ELFMAG, SELFMAG))
		hit->fault = "not an ELF file";
	else if (n > EI_CLASS && h[EI_CLASS] != app->eh.e_ident[EI_CLASS])
		return true;
	else if ((size_t)n < want)
		hit->fault = "truncated: less than an ELF header";
	else
		return h[EI_DATA] != app->eh.e_ident[EI_DATA] || object_word(app, h + 18, 2) != app->eh.e_machine;
	return false;
}

/* Takes the file if it is there and for this machine.  True: the search is over. */
static bool try(const struct process *p, char *formed, const char *found, struct hit *hit)
{
	int fd = root_open(p->root, formed, &hit->path);

	if (fd < 0 || is_foreign(p, fd, hit)) {
		if (fd >= 0)
			close(fd);
		free(hit->path);
		hit->path = NULL;
		free(formed);
		return false;
	}
	hit->fd = fd;
	hit->found = found;
	hit->formed = formed;
	return true;
}

static bool try_directory(const struct process *p, const char *dir, const char *name, const char *found, struct hit *hit)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	for (size_t i = 0; i < p->machine.subdirs.n; i++) {
		const char *sub = p->machine.subdirs.v[i], *slash = n && dir[n - 1] == '/' ? "" : "/";

		if (try(p, xasprintf("%.*s%s%s%s%s", (int)n, dir, slash, sub, *sub ? "/" : "", name), found, hit))
			return true;
	}
	return false;
}

/* Each directory of a list; an empty element is the working directory. */
static bool try_list(const struct process *p, const struct map *m, const char *list, const char *separators, const char *name,
                     const char *found, struct hit *hit)
{
	bool done = false;

	if (!list || !*list)
		return false;
	for (;; list++) {
		size_t n = strcspn(list, separators);
		char *element = xasprintf("%.*s", (int)n, list), *dir = search_expand(p, m, n ? element : ".");

		if (dir && *dir)
			done = try_directory(p, dir, name, found, hit);
		free(dir);
		free(element);
		list += n;
		if (done || !*list)
			return done;
	}
}

static const char *runpath(const struct map *m)
{
	const GElf_Dyn *d = object_dyn(&m->object, DT_RUNPATH);

	return d ? object_dynstr(&m->object, d->d_un.d_val) : NULL;
}

/* A RUNPATH hides the RPATH beside it. */
static const char *rpath(const struct map *m)
{
	const GElf_Dyn *d = object_dyn(&m->object, DT_RPATH);

	return d && !object_dyn(&m->object, DT_RUNPATH) ? object_dynstr(&m->object, d->d_un.d_val) : NULL;
}

/* The RPATH of who needs it, of who needed that, and so on up; the program's in any case. */
static bool try_rpaths(const struct process *p, const struct map *from, const char *name, struct hit *hit)
{
	const struct map *main = p->maps.v[0];
	bool did_main = false;

	if (object_dyn(&from->object, DT_RUNPATH))
		return false;
	for (const struct map *m = from; m; m = m->requester) {
		if (try_list(p, m, rpath(m), ":", name, "RPATH", hit))
			return true;
		did_main |= m == main;
	}
	return !did_main && try_list(p, main, rpath(main), ":", name, "RPATH", hit);
}

static bool in_default(const struct process *p, const char *path)
{
	for (size_t i = 0; i < p->machine.defaults.n; i++) {
		size_t n = strlen(p->machine.defaults.v[i]);

		if (!strncmp(path, p->machine.defaults.v[i], n) && path[n] == '/')
			return true;
	}
	return false;
}

static bool try_system(const struct process *p, const struct map *from, const char *name, struct hit *hit)
{
	const GElf_Dyn *flags = object_dyn(&from->object, DT_FLAGS_1);
	bool no_default = flags && flags->d_un.d_val & DF_1_NODEFLIB;
	const char *cached = cache_find(&p->cache, &p->machine, name);

	if (cached && !(no_default && in_default(p, cached)) && try(p, xstrdup(cached), "cache", hit))
		return true;
	for (size_t i = 0; !no_default && i < p->machine.defaults.n; i++)
		if (try_directory(p, p->machine.defaults.v[i], name, "default", hit))
			return true;
	return false;
}

static bool try_path(const struct process *p, const struct map *from, const char *name, struct hit *hit)
{
	char *path = search_expand(p, from, name);

	return path && *path && try(p, path, "path", hit);
}

void search(const struct process *p, const struct map *from, const char *name, struct hit *hit)
{
	memset(hit, 0, sizeof *hit);
	hit->fd = -1;
	if (strchr(name, '/')) {
		try_path(p, from, name, hit);
		return;
	}
	if (!try_rpaths(p, from, name, hit) &&
	    !try_list(p, p->maps.v[0], p->library_path, ":;", name, "LD_LIBRARY_PATH", hit) &&
	    !try_list(p, from, runpath(from), ":", name, "RUNPATH", hit))
		try_system(p, from, name, hit);
}
