/* opt.c - the options every filter has, over getopt_long. */
#include "lib/base/opt.h"
#include "lib/base/mem.h"
#include "lib/base/msg.h"
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* getopt_long's values: a row of the tool's table is ROW + its index, the common ones come after their letters. */
enum { VERSION = 256, ROW };

static const struct opt common[] = {
	{ 'h', "help", OPT_FLAG, NULL, NULL, "print this and exit" },
	{ 0, "version", OPT_FLAG, NULL, NULL, "print the version and exit" },
	{ 'v', NULL, OPT_FLAG, NULL, NULL, "say more" },
	{ 'q', NULL, OPT_FLAG, NULL, NULL, "say errors only" },
	{ 0, NULL, OPT_FLAG, NULL, NULL, NULL }
};

static bool is_end(const struct opt *o)
{
	return !o->letter && !o->name;
}

void opt_usage(const struct opt_tool *tool, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", tool->name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\nusage: %s %s\n", tool->name, tool->usage);
	exit(2);
}

/* Ends the tool after text on standard output, which may be a full disk. */
static _Noreturn void finish_output(void)
{
	if (fflush(stdout) || ferror(stdout))
		msg_die("standard output", "cannot write:");
	exit(0);
}

static void help_rows(const struct opt *o)
{
	for (; !is_end(o); o++) {
		char left[80];
		int n = 0;

		if (o->letter)
			n += snprintf(left + n, sizeof left - (size_t)n, "-%c%s", o->letter, o->name ? ", " : "");
		else
			n += snprintf(left + n, sizeof left - (size_t)n, "    ");
		if (o->name)
			n += snprintf(left + n, sizeof left - (size_t)n, "--%s", o->name);
		if (o->arg && n < (int)sizeof left)
			snprintf(left + n, sizeof left - (size_t)n, "%c%s", o->name ? '=' : ' ', o->arg);
		printf("  %-26s %s\n", left, o->help);
	}
}

static _Noreturn void help(const struct opt_tool *tool)
{
	printf("usage: %s %s\n%s\n\n", tool->name, tool->usage, tool->what);
	if (tool->options)
		help_rows(tool->options);
	help_rows(common);
	finish_output();
}

static void set(const struct opt *o)
{
	struct opt_list *list = o->to;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)o->to = true;
		break;
	case OPT_VALUE:
		*(const char **)o->to = optarg;
		break;
	case OPT_LIST:
		list->v = xrealloc(list->v, ((size_t)list->n + 1) * sizeof *list->v);
		list->v[list->n++] = optarg;
		break;
	}
}

struct getopt_tables { struct option *longs; char *shorts; size_t n_long, n_short; };

static void add(struct getopt_tables *g, const struct opt *o, int value)
{
	int has_arg = o->kind == OPT_FLAG ? no_argument : required_argument;

	if (o->name)
		g->longs[g->n_long++] = (struct option){ o->name, has_arg, NULL, value };
	if (o->letter) {
		g->shorts[g->n_short++] = o->letter;
		if (has_arg == required_argument)
			g->shorts[g->n_short++] = ':';
	}
}

static int count(const struct opt *o)
{
	int n = 0;

	while (o && !is_end(&o[n]))
		n++;
	return n;
}

static struct getopt_tables tables(const struct opt_tool *tool, int rows)
{
	struct getopt_tables g = { 0 };
	size_t most = (size_t)rows + sizeof common / sizeof *common;

	g.longs = xcalloc(most + 1, sizeof *g.longs);
	g.shorts = xcalloc(2 * most + 3, 1);
	if (tool->stop_at_operand)
		g.shorts[g.n_short++] = '+';
	g.shorts[g.n_short++] = ':';
	for (int i = 0; i < rows; i++)
		add(&g, &tool->options[i], ROW + i);
	for (const struct opt *o = common; !is_end(o); o++)
		add(&g, o, o->letter ? o->letter : VERSION);
	return g;
}

static const struct opt *row_of(const struct opt_tool *tool, int rows, int value)
{
	if (value >= ROW)
		return value < ROW + rows ? &tool->options[value - ROW] : NULL;
	for (int i = 0; i < rows; i++)
		if (value && tool->options[i].letter == value)
			return &tool->options[i];
	return NULL;
}

static _Noreturn void refuse(const struct opt_tool *tool, int value, char **argv)
{
	const char *word = argv[optind - 1];

	if (value == ':' && !strncmp(word, "--", 2))
		opt_usage(tool, "%s needs a value", word);
	if (value == ':')
		opt_usage(tool, "-%c needs a value", optopt);
	if (optopt && optopt < VERSION)
		opt_usage(tool, "no option -%c", optopt);
	opt_usage(tool, optopt ? "%s takes no value" : "no option %s, or not the whole of one", word);
}

int opt_parse(const struct opt_tool *tool, int argc, char **argv)
{
	int rows = count(tool->options), value;
	struct getopt_tables g = tables(tool, rows);

	msg_init(tool->name);
	opterr = optind = 0;
	while ((value = getopt_long(argc, argv, g.shorts, g.longs, NULL)) != -1) {
		const struct opt *o = row_of(tool, rows, value);

		if (value == '?' || value == ':')
			refuse(tool, value, argv);
		if (o) {
			set(o);
		} else if (value == 'h') {
			help(tool);
		} else if (value == 'v') {
			msg_level = 2;
		} else if (value == 'q') {
			msg_level = 0;
		} else {
			printf("%s (soprof) " SOPROF_VERSION "\n", tool->name);
			finish_output();
		}
	}
	free(g.longs);
	free(g.shorts);
	return optind;
}
