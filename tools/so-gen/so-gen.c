/* so-gen.c - reads relocation tables, writes for each object its profiled twin. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lib/base/msg.h"
#include "lib/base/opt.h"
#include "lib/base/out.h"
#include "tools/so-gen/gen.h"

static const char *build(struct gen *g)
{
	const char *fault = code_init(&g->c, &g->o);
	if (fault)
		return fault;
	if (g->c.gentle && g->options->atomic)
		return "--atomic: MIPS I has no atomic instructions";
	if (object_is_profiled(&g->o))
		return "it is a profiled object already";
	fault = image_plan(&g->image, &g->o);
	if (fault)
		return fault;
	frames_read(&g->f, &g->o);
	g->relocs = object_relocs(&g->o);
	if (g->c.m->through_gp)
		code_scan_words(&g->c, &g->relocs);
	g->dynsyms = object_dynsyms(&g->o);
	g->symtab = object_symtab(&g->o);
	fault = gen_blocks(g);
	if (fault)
		return fault;
	do {
		gen_liveness(g);
		gen_layout(g);
	} while (gen_keep_unwritable(g) && !(fault = gen_cut(g)));
	if (!fault)
		fault = gen_sections(g);
	if (!fault)
		fault = gen_emit(g);
	return fault ? fault : gen_patch(g);
}

static void gen_free(struct gen *g)
{
	code_free(&g->c);
	frames_free(&g->f);
	image_free(&g->image);
	unwind_free(&g->unwind);
	free(g->relocs.v);
	free(g->dynsyms.v);
	free(g->symtab.v);
	vec_free(&g->blocks);
	vec_free(&g->springs);
	free(g->is_block);
	free(g->rank);
	free(g->end_block);
	free(g->mapped);
	free(g->touched);
	free(g->entered);
	free(g->block_address);
	free(g->goes_on);
	free(g->linked);
	free(g->led);
	gen_registers_free(g);
	free(g->name);
}

static void object(const struct object_info *info, struct rows *rows, const struct gen_options *options)
{
	struct gen *g = xcalloc(1, sizeof *g);
	g->rows = rows;
	g->options = options;
	g->info = info;
	rows_sort(rows);
	const char *fault = object_open_listed(&g->o, info);
	if (fault) {
		msg_error(info->path, "%s", fault);
	} else {
		fault = build(g);
		if (fault)
			msg_error(info->path, "not profiled: %s", fault);
		else if (gen_write(g))
			gen_report(g);
		gen_free(g);
		object_close(&g->o);
	}
	free(g);
}

static bool read_stream(FILE *f, const char *name, const struct gen_options *options)
{
	struct stream_reader *r = xcalloc(1, sizeof *r);
	struct rows rows = { 0 };
	stream_reader_init(r, f, name, STREAM_RELOCATIONS);
	enum stream_event e;
	while ((e = stream_next(r)) > STREAM_DONE) {
		if (e == STREAM_ROW)
			rows_add(&rows, &r->row);
		if (e != STREAM_OBJECT_END)
			continue;
		object(&r->object, &rows, options);
		rows_free(&rows);
		memset(&rows, 0, sizeof rows);
	}
	rows_free(&rows);
	stream_reader_free(r);
	free(r);
	return e == STREAM_DONE;
}

int main(int argc, char **argv)
{
	struct gen_options options = { 0 };
	const char *to = NULL;
	const struct opt table[] = {
		{ 'o', "output", OPT_VALUE, &to, "DIR", "write profiled objects into DIR, made if it is missing; counter files go there too" },
		{ 0, "identity", OPT_FLAG, &options.identity, NULL, "move code without counting" },
		{ 0, "poison-old", OPT_FLAG, &options.poison, NULL, "fill moved old text with traps, to test that nothing runs there" },
		{ 0, "atomic", OPT_FLAG, &options.atomic, NULL, "count with atomic increments: exact with any number of threads" },
		{ 0, "keyed", OPT_FLAG, &options.keyed, NULL, "name each file NAME~KEY after its original's path and build-id or digest: for caches" },
		{ 0 },
	};
	const struct opt_tool tool = { "so-gen", "[-qv] [--identity] [--poison-old] [--atomic] [--keyed] -o DIR [TABLE]", "write the profiled object of each relocation table", table, false };
	int first = opt_parse(&tool, argc, argv);
	if (!to)
		opt_usage(&tool, "-o DIR is missing");
	if (argc - first > 1)
		opt_usage(&tool, "one table at a time");
	if (mkdir(to, 0777) && errno != EEXIST)
		msg_die(to, "cannot make the directory:");
	char *directory = realpath(to, NULL);
	struct stat st;
	if (!directory || stat(directory, &st) || !S_ISDIR(st.st_mode))
		msg_die(to, "not a directory");
	if (strlen(directory) >= sizeof ((struct counters_private *)0)->directory)
		msg_die(to, "the directory's name is too long");
	options.directory = directory;
	const char *from = first < argc && strcmp(argv[first], "-") ? argv[first] : NULL;
	FILE *f = from ? fopen(from, "rb") : stdin;
	if (!f)
		msg_die(from, "cannot open:");
	bool good = read_stream(f, from ? from : "standard input", &options);
	free(directory);
	return good ? msg_status() : 1;
}
