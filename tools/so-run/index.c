/* index.c - reads profiled objects and compares their originals with what they were. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/counters.h"
#include "lib/base/msg.h"
#include "lib/base/out.h"
#include "lib/elf/object.h"
#include "tools/so-run/index.h"

struct entries { VEC(struct run_entry) v; };
struct builder {
	const char *directory;
	const struct run_index *old;	/* NULL: none */
	struct entries entries;
	VEC(char) strings;		/* offsets count from its start until all entries are known */
};

static int64_t nanoseconds(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint32_t add_string(struct builder *b, const char *s)
{
	size_t at = b->strings.n, n = strlen(s) + 1;

	vec_reserve(&b->strings, at + n);
	memcpy(b->strings.v + at, s, n);
	b->strings.n += n;
	return (uint32_t)at;
}

/* With slashes before it: more of them mean the same. */
static void add_twin(struct builder *b, struct run_entry *e, const char *name, const char *original)
{
	size_t n = strlen(b->directory) + 1 + strlen(name), longest = strlen(original);
	char *path;

	e->slashes = (uint32_t)(longest >= n ? longest - n + 1 : 1);
	path = xasprintf("%*s/%s", (int)(e->slashes + strlen(b->directory)), b->directory, name);
	memset(path, '/', e->slashes);
	e->twin = add_string(b, path) + e->slashes;
	free(path);
}

/* What the index knew of the file, if that has not changed. */
static const struct run_entry *known(const struct builder *b, const char *name, const struct stat *st)
{
	for (uint32_t i = 0; b->old && i < b->old->entries; i++) {
		const struct run_entry *e = &run_entries(b->old)[i];
		const char *slash = strrchr(run_string(b->old, e->twin), '/');

		if (e->twin_ino == st->st_ino && e->twin_size == (uint64_t)st->st_size && e->twin_mtime == nanoseconds(st->st_mtim) && slash &&
		    !strcmp(slash + 1, name))
			return e;
	}
	return NULL;
}

static void fill(struct run_entry *e, const struct stat *original, const struct stat *twin)
{
	e->dev = original->st_dev;
	e->ino = original->st_ino;
	e->size = (uint64_t)original->st_size;
	e->mtime = nanoseconds(original->st_mtim);
	e->ctime = nanoseconds(original->st_ctim);
	e->twin_ino = twin->st_ino;
	e->twin_size = (uint64_t)twin->st_size;
	e->twin_mtime = nanoseconds(twin->st_mtim);
}

/* Why the profiled object does not stand for what its original is now, or NULL. */
static const char *compare(const struct object_info *info, const struct stat *original, const struct stat *twin)
{
	struct object o;
	const uint8_t *id;
	unsigned char digest[16];
	unsigned n;
	const char *why = NULL;

	if (nanoseconds(twin->st_mtim) < nanoseconds(original->st_mtim))
		return "its profiled object is older than it";
	if ((uint64_t)original->st_size != info->size || object_open(&o, info->path))
		return "it has changed since it was profiled";
	id = object_build_id(&o, &n);
	if (n != info->build_id_size || (n && memcmp(id, info->build_id, n)))
		why = "it has changed since it was profiled";
	/* What was put there later, with an old time, can be another file with the same build-id. */
	if (!why && (!n || nanoseconds(twin->st_mtim) < nanoseconds(original->st_ctim))) {
		object_digest(&o, digest);
		if (memcmp(digest, info->digest, sizeof digest))
			why = "it has changed since it was profiled";
	}
	object_close(&o);
	return why;
}

/* The profiled object has the same. */
static uint64_t tls_bytes(const struct object *o)
{
	for (size_t i = 0; i < o->phnum; i++)
		if (o->phdrs[i].p_type == PT_TLS && o->phdrs[i].p_memsz < 1 << 20 && o->phdrs[i].p_align < 1 << 16)
			return o->phdrs[i].p_memsz + o->phdrs[i].p_align;
	return 0;
}

static void add(struct builder *b, const struct object *o, const struct object_info *info, const char *name, const struct stat *twin)
{
	struct run_entry e = {0};
	struct stat original;
	const char *why;

	if (!info->path || stat(info->path, &original))
		return;
	fill(&e, &original, twin);
	e.tls = tls_bytes(o);
	why = compare(info, &original, twin);
	e.original = add_string(b, info->path);
	add_twin(b, &e, name, info->path);
	e.why = why ? add_string(b, why) : 0;
	e.flags = info->is_app ? RUN_APP : 0;
	vec_push(&b->entries.v, e);
}

/* False: it has to be looked at again. */
static bool add_known(struct builder *b, const struct run_entry *old, const char *name)
{
	struct run_entry e = *old;
	struct stat original;

	if (stat(run_string(b->old, old->original), &original) || original.st_dev != old->dev || original.st_ino != old->ino ||
	    (uint64_t)original.st_size != old->size || nanoseconds(original.st_mtim) != old->mtime || nanoseconds(original.st_ctim) != old->ctime)
		return false;
	e.original = add_string(b, run_string(b->old, old->original));
	add_twin(b, &e, name, run_string(b->old, old->original));
	e.why = old->why ? add_string(b, run_string(b->old, old->why)) : 0;
	vec_push(&b->entries.v, e);
	return true;
}

static void add_profiled(struct builder *b, const struct object *o, const char *name, const struct stat *st)
{
	const struct object_section *s = object_section(o, SECTION_INFO);
	struct stream_reader *r;
	FILE *f;

	if (!s || s->h.sh_type == SHT_NOBITS || !s->h.sh_size || s->h.sh_offset > o->size || s->h.sh_size > o->size - s->h.sh_offset)
		return;
	f = fmemopen((void *)(uintptr_t)(o->image + s->h.sh_offset), s->h.sh_size, "rb");
	if (!f)
		msg_die(o->path, "cannot read it:");
	r = xcalloc(1, sizeof *r);
	stream_reader_init(r, f, o->path, STREAM_RELOCATIONS);
	if (stream_next(r) == STREAM_OBJECT)
		add(b, o, &r->object, name, st);
	stream_reader_free(r);
	free(r);
	fclose(f);
}

static bool is_elf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[SELFMAG];
	bool is = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic && !memcmp(magic, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return is;
}

static void look_at(struct builder *b, const char *name)
{
	char *path = xasprintf("%s/%s", b->directory, name);
	const struct run_entry *old;
	struct object o;
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode) && !access(path, R_OK)) {
		old = known(b, name, &st);
		if (!(old && add_known(b, old, name)) && is_elf(path) && !object_open(&o, path)) {
			if (object_is_profiled(&o))
				add_profiled(b, &o, name, &st);
			object_close(&o);
		}
	}
	free(path);
}

/* Of two for one original: one that can be used, then the younger. */
static int by_original(const void *pa, const void *pb)
{
	const struct run_entry *a = pa, *b = pb;

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	if (!a->why != !b->why)
		return a->why ? 1 : -1;
	return a->twin_mtime > b->twin_mtime ? -1 : a->twin_mtime < b->twin_mtime;
}

static void sort(struct entries *e)
{
	size_t n = 0;

	if (e->v.n)
		qsort(e->v.v, e->v.n, sizeof *e->v.v, by_original);
	for (size_t i = 0; i < e->v.n; i++)
		if (!n || e->v.v[n - 1].dev != e->v.v[i].dev || e->v.v[n - 1].ino != e->v.v[i].ino)
			e->v.v[n++] = e->v.v[i];
	e->v.n = n;
}

static void build(struct builder *b, struct index *x)
{
	struct run_index h = { .magic = RUN_MAGIC, .version = RUN_VERSION, .entries = (uint32_t)b->entries.v.n };
	size_t table = b->entries.v.n * sizeof(struct run_entry), strings = sizeof h + table;
	char *bytes;

	h.size = (uint32_t)(strings + b->strings.n);
	bytes = xcalloc(1, h.size);
	h.directory = (uint32_t)strings;
	for (size_t i = 0; i < b->entries.v.n; i++) {
		struct run_entry *e = &b->entries.v.v[i];

		e->original += (uint32_t)strings;
		e->twin += (uint32_t)strings;
		e->why += e->why ? (uint32_t)strings : 0;
	}
	memcpy(bytes, &h, sizeof h);
	if (table)
		memcpy(bytes + sizeof h, b->entries.v.v, table);
	memcpy(bytes + strings, b->strings.v, b->strings.n);
	x->x = (const void *)bytes;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In an order that does not depend on the directory's, so that equal indexes have equal bytes. */
static bool look_at_all(struct builder *b)
{
	VEC(char *) names = {0};
	DIR *d = opendir(b->directory);

	if (!d) {
		msg_error(b->directory, "cannot open:");
		return false;
	}
	for (struct dirent *entry; (entry = readdir(d));)
		if (entry->d_name[0] != '.' && entry->d_type != DT_DIR)
			vec_push(&names, xstrdup(entry->d_name));
	closedir(d);
	if (names.n)
		qsort(names.v, names.n, sizeof *names.v, by_text);
	for (size_t i = 0; i < names.n; i++) {
		look_at(b, names.v[i]);
		free(names.v[i]);
	}
	vec_free(&names);
	return true;
}

bool index_make(struct index *x, const char *directory)
{
	struct builder b = { .directory = directory };
	char *slashed = xasprintf("%s/", directory), *path = xasprintf("%s/%s", directory, RUN_INDEX);
	bool good;

	b.old = run_index_map(directory);
	add_string(&b, slashed);
	good = look_at_all(&b);
	sort(&b.entries);
	build(&b, x);
	x->kept = b.old && b.old->size == x->x->size && !memcmp(b.old, x->x, x->x->size);
	if (good && !x->kept && !access(directory, W_OK))
		x->kept = out_file(path, x->x, x->x->size, 0644);
	run_index_unmap(b.old);
	vec_free(&b.entries.v);
	vec_free(&b.strings);
	free(slashed);
	free(path);
	return good;
}

const struct run_entry *index_find(const struct index *x, const struct stat *st)
{
	const struct run_entry *e = run_entries(x->x);

	for (uint32_t i = 0; i < x->x->entries; i++)
		if (e[i].dev == st->st_dev && e[i].ino == st->st_ino)
			return &e[i];
	return NULL;
}
