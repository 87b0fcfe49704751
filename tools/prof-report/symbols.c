/* symbols.c - names for addresses in the objects that a process had mapped. */
#include "tools/prof-report/symbols.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/msg.h"
#include "tools/prof-report/view.h"

struct module_file {
	const char *path;
	bool usable;
	struct object object;
	struct lines *lines;
	struct functions functions;
};

void modules_add(struct modules *m, struct module new)
{
	size_t n = 0;

	for (size_t i = 0; i < m->v.n; i++)
		if (m->v.v[i].end <= new.start || m->v.v[i].start >= new.end)
			m->v.v[n++] = m->v.v[i];
	m->v.n = n;
	vec_push(&m->v, new);
}

/* The file's size, then the build-id in words. */
static const char *changed(const struct object *o, const struct numbers *identity)
{
	static const char *const why = "it has changed since the run";
	unsigned n;
	const uint8_t *id = object_build_id(o, &n);

	if (identity->n && identity->v[0] && (uint64_t)identity->v[0] != o->size)
		return why;
	for (size_t i = 0; i + 1 < identity->n && 4 * i + 4 <= n; i++) {
		const uint8_t *p = id + 4 * i;

		if (identity->v[i + 1] != (int64_t)((uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]))
			return why;
	}
	return NULL;
}

static struct module_file *open_file(struct modules *m, const struct module *module)
{
	struct module_file *f;
	const char *why, *none;

	for (size_t i = 0; i < m->files.n; i++)
		if (!strcmp(m->files.v[i]->path, module->path))
			return m->files.v[i];
	f = xcalloc(1, sizeof *f);
	f->path = module->path;
	vec_push(&m->files, f);
	if (module->path[0] != '/')
		return f;
	why = object_open(&f->object, module->path);
	if (!why && (why = changed(&f->object, &module->identity)))
		object_close(&f->object);
	if (why) {
		msg_warn(module->path, "no names of functions in it: %s", why);
		return f;
	}
	f->usable = true;
	f->lines = lines_open(module->path, &none);
	functions_find(&f->functions, &f->object, f->lines);
	return f;
}

bool modules_name(struct modules *m, uint64_t address, const char **function, const char **object)
{
	for (size_t i = m->v.n; i-- > 0;) {
		struct module *module = &m->v.v[i];
		uint32_t at;

		if (address < module->start || address >= module->end)
			continue;
		*object = base_name(module->path);
		*function = NULL;
		if (!module->file)
			module->file = open_file(m, module);
		if (!module->file->usable)
			return true;
		at = functions_at(&module->file->functions, address - module->bias);
		if (at != NO_FUNCTION)
			*function = module->file->functions.v.v[at].name;
		return true;
	}
	return false;
}

void modules_free(struct modules *m)
{
	for (size_t i = 0; i < m->files.n; i++) {
		if (m->files.v[i]->usable) {
			functions_free(&m->files.v[i]->functions);
			if (m->files.v[i]->lines)
				lines_close(m->files.v[i]->lines);
			object_close(&m->files.v[i]->object);
		}
		free(m->files.v[i]);
	}
	vec_free(&m->files);
	vec_free(&m->v);
}
