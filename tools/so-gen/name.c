/* name.c - file names in the directory of profiled objects: the name that the loader searches, unless it stands for another
   original already, or names with a key are asked for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>
#include "tools/so-gen/gen.h"

enum { KEYED_MAX = sizeof ((struct counters_header *)0)->object - sizeof "~0123456789abcdef" };

/* The original that a profiled object says it stands for; the caller frees it.  NULL: it says none. */
static char *original_of(const struct object *o)
{
	const struct object_section *s = object_section(o, SECTION_INFO);
	struct stream_reader *r;
	char *path = NULL;
	FILE *f;
	if (!s || s->h.sh_type == SHT_NOBITS || !s->h.sh_size || s->h.sh_offset > o->size || s->h.sh_size > o->size - s->h.sh_offset)
		return NULL;
	f = fmemopen((void *)(uintptr_t)(o->image + s->h.sh_offset), s->h.sh_size, "rb");
	if (!f)
		return NULL;
	r = xcalloc(1, sizeof *r);
	stream_reader_init(r, f, o->path, STREAM_RELOCATIONS);
	if (stream_next(r) == STREAM_OBJECT && r->object.path)
		path = xstrdup(r->object.path);
	stream_reader_free(r);
	free(r);
	fclose(f);
	return path;
}

static bool is_other(const char *a, const char *b)
{
	struct stat sa, sb;
	return strcmp(a, b) && !stat(a, &sa) && !stat(b, &sb) && (sa.st_dev != sb.st_dev || sa.st_ino != sb.st_ino);
}

/* Whether the file there is the profiled object of another original, which is still there. */
static bool is_taken(const struct gen *g, const char *name)
{
	char *path = xasprintf("%s/%s", g->options->directory, name), *original = NULL;
	struct object o;
	bool taken = false;
	if (!object_open(&o, path)) {
		original = object_is_profiled(&o) ? original_of(&o) : NULL;
		taken = original && is_other(original, g->info->path);
		object_close(&o);
	}
	free(original);
	free(path);
	return taken;
}

/* A path alone names an original for as long as there is one file of it; a cache keeps several. */
static uint64_t key(const struct gen *g)
{
	const struct object_info *info = g->info;
	uint64_t seed = 0;
	if (g->options->keyed)
		seed = info->build_id_size ? XXH3_64bits(info->build_id, info->build_id_size) : XXH3_64bits(info->digest, sizeof info->digest);
	return XXH3_64bits_withSeed(info->path, strlen(info->path), seed);
}

char *gen_name(const struct gen *g)
{
	const char *slash = strrchr(g->info->name, '/'), *name = slash ? slash + 1 : g->info->name;
	if (!g->options->keyed && !is_taken(g, name))
		return xstrdup(name);
	return xasprintf("%.*s~%016" PRIx64, KEYED_MAX, name, key(g));
}
