/* gen.h - so-gen's steps for fuzz targets: everything but the choice of the output's name.  Built as
   image.h says, and with -Dmadvise=fuzz_no_advice. */
#include "test/fuzz/image.h"
#define main so_gen_main
#include "tools/so-gen/so-gen.c"
#undef main

/* Writes the twin into nothing.  NULL or the fault. */
static const char *make_twin(const char *path, struct rows *rows, unsigned how)
{
	struct gen_options options = { .identity = how & 1, .poison = how & 2, .atomic = how & 4, .directory = "/dev" };
	struct object_info info = { .path = path, .name = "null", .machine = "x86_64" };
	struct gen *g = xcalloc(1, sizeof *g);
	const char *fault;

	g->rows = rows;
	g->options = &options;
	g->info = &info;
	rows_sort(rows);
	fault = object_open(&g->o, path);
	if (!fault) {
		fault = build(g);
		if (!fault)
			gen_write(g);
		gen_free(g);
		object_close(&g->o);
	}
	free(g);
	return fault;
}
