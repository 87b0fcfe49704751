/* map-dump - print any stream, any counter file, any profiled object's map table. */
#include "lib/base/msg.h"
#include "lib/base/opt.h"
#include "lib/base/out.h"
#include "tools/map-dump/dump.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool as_json, summary, all;
static const char *output;

static const struct opt options[] = {
	{ 'a', "all", OPT_FLAG, &all, NULL, "print counters that are 0, too" },
	{ 'j', "json", OPT_FLAG, &as_json, NULL, "print JSON, one object a line" },
	{ 'o', "output", OPT_VALUE, &output, "FILE", "write to FILE" },
	{ 's', "summary", OPT_FLAG, &summary, NULL, "print no rows" },
	{ 0, NULL, OPT_FLAG, NULL, NULL, NULL }
};

static const struct opt_tool tool = {
	.name = "map-dump",
	.usage = "[-ajsqv] [-o FILE] [FILE...]",
	.what = "Print streams, counter files and the map tables of profiled objects.",
	.options = options,
};

/* What a file is shows in its first byte: an array of two, COUNTERS_MAGIC, ELFMAG. */
static void dump_open(struct dump *d, FILE *f, const char *path, const char *name)
{
	int first = getc(f);

	if (first == EOF && ferror(f)) {
		msg_error(name, "cannot read:");
		return;
	}
	if (first != EOF)
		ungetc(first, f);
	if (first == EOF || first == 0x82)
		dump_stream(d, f, name);
	else if (first == 's')
		dump_counters(d, f, name);
	else if (first == 0x7f && path)
		dump_object(d, path, name);
	else if (first == 0x7f)
		msg_error(name, "a profiled object is read by its name only");
	else
		msg_error(name, "byte 0: neither a stream nor a counter file nor a profiled object");
}

/* A FIFO without a writer is waited for, as cat does; a directory is told as such by the read. */
static void dump(struct dump *d, const char *path)
{
	FILE *f;

	if (!strcmp(path, "-")) {
		dump_open(d, stdin, NULL, "standard input");
		return;
	}
	f = fopen(path, "re");
	if (!f) {
		msg_error(path, "cannot open:");
		return;
	}
	dump_open(d, f, path, path);
	fclose(f);
}

int main(int argc, char **argv)
{
	int at = opt_parse(&tool, argc, argv);
	struct out o;
	struct dump d;

	if (!out_open(&o, output, 0666))
		return 1;
	d = (struct dump){ .to = o.f, .json = { .f = o.f }, .as_json = as_json, .summary = summary, .all = all };
	if (at == argc)
		dump(&d, "-");
	for (; at < argc; at++)
		dump(&d, argv[at]);
	/* Half a dump is worth printing, not worth keeping. */
	if (msg_status() && o.temporary)
		out_abandon(&o);
	else
		out_commit(&o);
	return msg_status();
}
