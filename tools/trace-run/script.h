/* script.h - runs a script as the program luajit does. */
#ifndef TRACE_RUN_SCRIPT_H
#define TRACE_RUN_SCRIPT_H
#include <luajit-2.1/lua.h>
#include <stdbool.h>

struct script {
	const char *path;		/* NULL: standard input */
	char **words;			/* NULL-terminated: the script's name as it was given, its arguments */
	const struct script_option { char letter; const char *text; } *options;	/* -O and -j, in their order */
	int n_options;
	void (*ready)(lua_State *L);	/* called when the libraries are open, before the first Lua code */
	void (*loaded)(lua_State *L);	/* the script's function is on top of the stack */
	bool ran;			/* out: it was loaded */
};

/* Runs it.  Returns the exit status: 0 or 1. */
int script_run(lua_State *L, struct script *s);
#endif
