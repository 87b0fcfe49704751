/* opt.h - the options every filter has, from one table a tool. */
#ifndef BASE_OPT_H
#define BASE_OPT_H
#include <stdbool.h>

#define SOPROF_VERSION "0.1"

enum opt_kind { OPT_FLAG, OPT_VALUE, OPT_LIST };

/* One row of a tool's option table; a row with name and letter empty ends it.
   OPT_FLAG sets *(bool *)to, OPT_VALUE *(const char **)to, OPT_LIST appends to a struct opt_list. */
struct opt {
	char letter;			/* 0: none */
	const char *name;		/* the long name, without dashes; NULL: none */
	enum opt_kind kind;
	void *to;
	const char *arg;		/* what the value is called in the help */
	const char *help;
};
struct opt_list { const char **v; int n; };

struct opt_tool {
	const char *name, *usage, *what;	/* "so-gen", "[-v] -o DIR [FILE]", one line on what it does */
	const struct opt *options;
	bool stop_at_operand;		/* operands end the options (a program and its arguments follow) */
};

/* Parses argv with -h/--help, --version, -v and -q added to the tool's table; calls msg_init.
   Returns the index of the first operand in argv (operands are moved behind the options). Help and version exit with 0, a usage error with 2. */
int opt_parse(const struct opt_tool *tool, int argc, char **argv);
/* Prints the usage line on standard error, with a reason, and exits with 2. */
_Noreturn void opt_usage(const struct opt_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
