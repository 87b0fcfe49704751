/* reloc-extract.c - reads a list of objects, writes each object's relocation table. */
#include <stdlib.h>
#include <string.h>
#include "lib/base/msg.h"
#include "lib/base/opt.h"
#include "lib/base/out.h"
#include "tools/reloc-extract/extract.h"

static void report(const struct extract *x)
{
	uint64_t moved = 0, kept = 0;
	for (size_t i = 0; i < x->c.ranges.n; i++) {
		const struct code_range *r = &x->c.ranges.v[i];
		*(r->why ? &kept : &moved) += r->end - r->start;
		if (r->why)
			msg_detail(x->o.path, "0x%x+%u stays: %s", r->start, r->end - r->start, r->why);
	}
	msg_detail(x->o.path, "%llu bytes of code may move, %llu stay; %zu jump tables", (unsigned long long)moved, (unsigned long long)kept, x->tables.n);
}

static void object(const struct object_info *info, struct stream_writer *w)
{
	struct extract x;
	memset(&x, 0, sizeof x);
	const char *fault = object_open_listed(&x.o, info);
	if (fault) {
		msg_error(info->path, "%s", fault);
		return;
	}
	fault = extract_object(&x);
	if (fault) {
		msg_error(info->path, "not profiled: %s", fault);
	} else {
		report(&x);
		stream_object(w, info);
		extract_rows(&x, w);
		stream_object_end(w);
	}
	extract_free(&x);
	object_close(&x.o);
}

/* False: the list or the output is at fault, which was said. */
static bool pass(FILE *from, const char *from_name, FILE *to, const char *to_name)
{
	struct stream_reader *r = xcalloc(1, sizeof *r);
	struct stream_writer *w = xcalloc(1, sizeof *w);
	enum stream_event e;
	stream_reader_init(r, from, from_name, STREAM_SO_LIST);
	stream_begin(w, STREAM_RELOCATIONS, to, to_name);
	while ((e = stream_next(r)) > STREAM_DONE)
		if (e == STREAM_OBJECT_END && !r->object.skip)
			object(&r->object, w);
	bool good = stream_finish(w) && e == STREAM_DONE;
	stream_reader_free(r);
	free(r);
	free(w);
	return good;
}

int main(int argc, char **argv)
{
	const char *to = NULL;
	const struct opt options[] = {
		{ 'o', "output", OPT_VALUE, &to, "FILE", "write to FILE (default: standard output)" },
		{ 0 },
	};
	const struct opt_tool tool = { "reloc-extract", "[-qv] [-o FILE] [LIST]", "extract the relocation table of each object in a list that so-input wrote", options, false };
	int first = opt_parse(&tool, argc, argv);
	if (argc - first > 1)
		opt_usage(&tool, "one list at a time");
	const char *from = first < argc && strcmp(argv[first], "-") ? argv[first] : NULL;
	FILE *f = from ? fopen(from, "rb") : stdin;
	if (!f)
		msg_die(from, "cannot open:");
	struct out out;
	if (!out_open(&out, to, 0666) || out_is_terminal(&out))
		return 1;
	if (!pass(f, from ? from : "standard input", out.f, to ? to : "standard output")) {
		out_abandon(&out);
		return 1;
	}
	return out_commit(&out) ? msg_status() : 1;
}
