/* forks.c - which is told by names: of counter files, and of functions that programs import. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/mem.h"
#include "tools/count-extract/forks.h"

#define LIBC "libc.so."

/* .PID of OBJECT.PID.N, with both points: NULL, not such a name. */
static const char *process_part(const char *name, size_t *n)
{
	size_t at = counter_object(name);

	*n = at ? strcspn(name + at + 1, ".") + 2 : 0;
	return at ? name + at : NULL;
}

/* Is there a counter file OBJECT.PID.N?  process: .PID. */
static bool has_file(const struct listing *l, const char *object, int length, const char *process, int n)
{
	char *wanted = xasprintf("%.*s%.*s", length, object, n, process);
	bool has = false;

	for (size_t i = listing_find(l, wanted); i < l->files.n && !has && !strncmp(l->files.v[i].name, wanted, strlen(wanted)); i++)
		has = !l->files.v[i].is_elf && counter_object(l->files.v[i].name) == (size_t)length;
	free(wanted);
	return has;
}

/* Where the files of the next object begin: '/' follows '.'. */
static size_t behind_object(const struct listing *l, const char *object, int length)
{
	char *next = xasprintf("%.*s/", length, object);
	size_t i = listing_find(l, next);

	free(next);
	return i;
}

static bool has_libc(const struct listing *l, const char *name)
{
	size_t n, length;
	const char *process = process_part(name, &n);

	for (size_t i = listing_find(l, LIBC); process && i < l->files.n && !strncmp(l->files.v[i].name, LIBC, strlen(LIBC));) {
		const char *libc = l->files.v[i].name;

		length = counter_object(libc);
		if (length && has_file(l, libc, (int)length, process, (int)n))
			return true;
		i = length ? behind_object(l, libc, (int)length) : i + 1;
	}
	return !process;
}

static bool imports_fork(const struct object *o)
{
	static const char *const names[] = { "fork", "_Fork", "clone", "daemon", "forkpty", "syscall" };
	struct object_symbols symbols = object_dynsyms(o);
	bool imports = false;

	for (size_t i = 0; i < symbols.n && !imports; i++)
		for (size_t k = 0; k < sizeof names / sizeof *names; k++)
			imports |= symbols.v[i].section == SHN_UNDEF && !strcmp(symbols.v[i].name, names[k]);
	free(symbols.v);
	return imports;
}

/* Most files of an object come from one program. */
static bool program_imports_fork(const char *path)
{
	static char last[sizeof ((struct counters_header *)NULL)->executable];
	static bool imports;
	struct object o;

	if (strcmp(path, last)) {
		memcpy(last, path, strlen(path) + 1);
		imports = false;
		if (!object_open(&o, path)) {
			imports = imports_fork(&o);
			object_close(&o);
		}
	}
	return imports;
}

bool forks_unseen(const struct profiled *p, const struct listing *l, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct counters_header h;
	int fd;
	bool sound;

	if (!strncmp(p->header.object, LIBC, strlen(LIBC)) || has_libc(l, slash ? slash + 1 : path))
		return false;
	if (imports_fork(&p->o))
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	sound = fd >= 0 && !counters_read_header(fd, &h);
	if (fd >= 0)
		close(fd);
	return sound && memchr(h.executable, 0, sizeof h.executable) && program_imports_fork(h.executable);
}
