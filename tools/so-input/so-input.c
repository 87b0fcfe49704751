/* so-input.c - lists the shared objects that programs reference, as a "so-list" stream. */
#include "lib/base/msg.h"
#include "lib/base/opt.h"
#include "lib/base/out.h"
#include "formats/stream.h"
#include "tools/so-input/process.h"
#include "tools/so-input/script.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *sysroot;
static bool with_app;
static struct opt_list also, from, only, except;

static const struct opt options[] = {
	{ 'o', "output", OPT_VALUE, &output, "FILE", "write the list to FILE" },
	{ 0, "sysroot", OPT_VALUE, &sysroot, "DIR", "the programs run in a tree that lies in DIR" },
	{ 0, "with-app", OPT_FLAG, &with_app, NULL, "list the programs themselves too" },
	{ 0, "also", OPT_LIST, &also, "FILE", "also what dlopen(FILE) would load (may be repeated)" },
	{ 0, "from", OPT_LIST, &from, "FILE", "also each object of a list that so-run made, and nothing that these need (may be repeated)" },
	{ 0, "only", OPT_LIST, &only, "GLOB", "list only objects whose path, name or base name matches (may be repeated)" },
	{ 0, "except", OPT_LIST, &except, "GLOB", "leave out objects that match (may be repeated)" },
	{ 0, NULL, OPT_FLAG, NULL, NULL, NULL }
};
static const struct opt_tool tool = {
	.name = "so-input",
	.usage = "[-qv] [-o FILE] [--with-app] [--also FILE] [--from FILE] [--only GLOB] [--except GLOB] [--sysroot DIR] [APP...]",
	.what = "List the shared objects that programs reference, as the loader will find them.",
	.options = options,
};

/* A file is listed once, whichever programs need it. */
struct entry { struct object_info info; dev_t dev; ino_t ino; };
struct list { VEC(struct entry) entries; struct arena arena; };

static bool matches(const struct opt_list *globs, const char *path, const char *name)
{
	for (int i = 0; i < globs->n; i++)
		if (!fnmatch(globs->v[i], path, 0) || !fnmatch(globs->v[i], name, 0) || !fnmatch(globs->v[i], base_name(path), 0))
			return true;
	return false;
}

/* Objects that are found by a path have no name that is searched. */
static const char *listed_name(const struct map *m)
{
	return base_name(m->name);
}

static bool is_wanted(const struct map *m)
{
	const char *name = listed_name(m);

	return (!only.n || matches(&only, m->path, name)) && !matches(&except, m->path, name);
}

/* True when the file is in the list.  It is reachable when every program that needs it reaches it. */
static bool is_listed(struct list *l, const struct map *m)
{
	for (size_t i = 0; i < l->entries.n; i++) {
		struct entry *e = &l->entries.v[i];

		if (e->dev != m->dev || e->ino != m->ino)
			continue;
		if (strcmp(e->info.name, listed_name(m)))
			msg_detail(m->path, "listed as %s, searched as %s too", e->info.name, listed_name(m));
		e->info.reachable &= m->reachable;
		return true;
	}
	return false;
}

static const char *machine_name(struct arena *a, unsigned machine)
{
	char *other = xasprintf("em-%u", machine);
	const char *name = machine == EM_X86_64 ? "x86_64" : machine == EM_MIPS ? "mips" : machine == EM_AARCH64 ? "aarch64" : other;

	name = arena_strdup(a, name);
	free(other);
	return name;
}

static void add(struct list *l, const struct process *p, const struct map *m)
{
	struct entry e = { .dev = m->dev, .ino = m->ino };
	struct object_info *info = &e.info;
	const struct object *o = &m->object;
	const uint8_t *id;

	if (!is_wanted(m) || is_listed(l, m))
		return;
	if (object_is_profiled(o)) {
		msg_error(m->path, "already profiled");
		return;
	}
	info->path = arena_strdup(&l->arena, m->path);
	info->name = arena_strdup(&l->arena, listed_name(m));
	info->soname = object_soname(o) ? arena_strdup(&l->arena, object_soname(o)) : NULL;
	info->machine = machine_name(&l->arena, o->eh.e_machine);
	info->why = arena_strdup(&l->arena, m->why);
	info->found = m->found;
	info->is_app = m == p->maps.v[0] && p->is_program;
	info->skip = m->is_loader ? "the loader itself" : info->is_app && p->is_static ? "static" : NULL;
	info->reachable = m->reachable && !info->skip;
	info->elf_class = o->eh.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	info->big_endian = o->eh.e_ident[EI_DATA] == ELFDATA2MSB;
	info->size = o->size;
	object_digest(o, info->digest);
	id = object_build_id(o, &info->build_id_size);
	memcpy(info->build_id, id ? id : info->build_id, info->build_id_size);
	vec_push(&l->entries, e);
}

static void collect(struct list *l, const struct process *p)
{
	for (size_t i = p->is_program && !with_app; i < p->maps.n; i++)
		add(l, p, p->maps.v[i]);
	/* A shared object that needs nothing says nothing about who will load it. */
	if (p->interpreter && (p->is_program || p->maps.n > 1))
		add(l, p, p->interpreter);
}

static void say_not_opened(const char *path, const char *fault)
{
	char *kept = xstrdup(fault), *program = script_interpreter(path);

	if (program)
		msg_error(path, "a script; give the program that runs it: %s", program);
	else
		msg_error(path, "%s", kept);
	free(program);
	free(kept);
}

static void list_app(struct list *l, const struct root *root, const char *name)
{
	char *path = find_program(name);
	struct process p;
	const char *fault = process_open(&p, path, root);

	if (fault) {
		say_not_opened(path, fault);
		free(path);
		return;
	}
	if (p.is_static)
		msg_note(path, "a static program: nothing to do");
	if (p.is_secure)
		msg_note(path, "runs with other rights than yours: the loader will ignore LD_LIBRARY_PATH");
	process_load(&p);
	for (int i = 0; i < also.n && !p.is_static; i++)
		process_also(&p, also.v[i]);
	collect(l, &p);
	process_close(&p);
	free(path);
}

static void list_loaded(struct list *l, const struct root *root, const char *path)
{
	struct process p;
	const char *fault = process_open(&p, path, root);

	if (fault) {
		msg_error(path, "%s", fault);
		return;
	}
	p.maps.v[0]->why = "loaded by a run";
	p.maps.v[0]->reachable = false;
	add(l, &p, p.maps.v[0]);
	process_close(&p);
}

/* Lines PATH TAB REASON, or paths alone.  The loader is in every such list. */
static void list_from(struct list *l, const struct root *root, const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "r") : stdin;
	char *line = NULL;
	size_t cap = 0;

	if (!f) {
		msg_error(name, "cannot open:");
		return;
	}
	while (getline(&line, &cap, f) > 0) {
		char *tab;

		line[strcspn(line, "\n")] = 0;
		tab = strchr(line, '\t');
		if (tab)
			*tab++ = 0;
		if (*line && !(tab && !strcmp(tab, "the loader itself")))
			list_loaded(l, root, line);
	}
	free(line);
	if (f != stdin)
		fclose(f);
}

static void write_list(const struct list *l, struct out *o)
{
	struct stream_writer w;

	stream_begin(&w, STREAM_SO_LIST, o->f, o->path ? o->path : "standard output");
	for (size_t i = 0; i < l->entries.n; i++) {
		stream_object(&w, &l->entries.v[i].info);
		stream_object_end(&w);
	}
	if (!stream_finish(&w))
		out_abandon(o);
	else
		out_commit(o);
}

int main(int argc, char **argv)
{
	int first = opt_parse(&tool, argc, argv);
	struct list list = {0};
	struct root root;
	struct out out;

	if (first == argc && !from.n)
		opt_usage(&tool, "no program given");
	if (root_init(&root, sysroot))
		msg_die(sysroot, "cannot be used as --sysroot:");
	if (!out_open(&out, output, 0666))
		return 1;
	if (out_is_terminal(&out)) {
		out_abandon(&out);
		return 1;
	}
	for (int i = first; i < argc; i++)
		list_app(&list, &root, argv[i]);
	for (int i = 0; i < from.n; i++)
		list_from(&list, &root, from.v[i]);
	write_list(&list, &out);
	vec_free(&list.entries);
	arena_free(&list.arena);
	root_close(&root);
	return msg_status();
}
