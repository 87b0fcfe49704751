/* script.c - runs a script as the program luajit does: the same messages, the same status, the same table arg. */
#include "tools/trace-run/script.h"
#include <luajit-2.1/lauxlib.h>
#include <luajit-2.1/lualib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "luajit";
static lua_State *interrupted;

static void say(const char *text)
{
	fprintf(stderr, "%s: %s\n", program, text);
	fflush(stderr);
}

static int report(lua_State *L, int status)
{
	if (status && !lua_isnil(L, -1)) {
		const char *text = lua_tostring(L, -1);

		say(text ? text : "(error object is not a string)");
		lua_pop(L, 1);
	}
	return status;
}

static void on_hook(lua_State *L, lua_Debug *ar)
{
	(void)ar;
	lua_sethook(L, NULL, 0, 0);
	luaL_where(L, 0);
	lua_pushfstring(L, "%sinterrupted!", lua_tostring(L, -1));
	lua_error(L);
}

/* A second SIGINT before the hook ran ends the process. */
static void on_interrupt(int number)
{
	signal(number, SIG_DFL);
	lua_sethook(interrupted, on_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

static int traceback(lua_State *L)
{
	if (!lua_isstring(L, 1)) {
		if (lua_isnoneornil(L, 1) || !luaL_callmeta(L, 1, "__tostring") || !lua_isstring(L, -1))
			return 1;
		lua_remove(L, 1);
	}
	luaL_traceback(L, L, lua_tostring(L, 1), 1);
	return 1;
}

static int call(lua_State *L, int arguments, int results)
{
	int base = lua_gettop(L) - arguments, status;

	lua_pushcfunction(L, traceback);
	lua_insert(L, base);
	signal(SIGINT, on_interrupt);
	status = lua_pcall(L, arguments, results, base);
	signal(SIGINT, SIG_DFL);
	lua_remove(L, base);
	if (status)
		lua_gc(L, LUA_GCCOLLECT, 0);
	return status;
}

/* arg[0] is the script, arg[-1] the program's name. */
static void make_arg(lua_State *L, char **words)
{
	int n = 0;

	while (words[n])
		n++;
	lua_createtable(L, n, 2);
	lua_pushstring(L, program);
	lua_rawseti(L, -2, -1);
	for (int i = 0; i < n; i++) {
		lua_pushstring(L, words[i]);
		lua_rawseti(L, -2, i);
	}
	lua_setglobal(L, "arg");
}

static int run_init(lua_State *L)
{
	const char *text = getenv("LUA_INIT");
	int status;

	if (!text)
		return 0;
	if (*text == '@')
		status = luaL_loadfile(L, text + 1);
	else
		status = luaL_loadbuffer(L, text, strlen(text), "=LUA_INIT");
	return report(L, status ? status : call(L, 0, 0));
}

static int load_module(lua_State *L)
{
	lua_getglobal(L, "require");
	lua_pushliteral(L, "jit.");
	lua_pushvalue(L, -3);
	lua_concat(L, 2);
	if (lua_pcall(L, 1, 1, 0)) {
		const char *text = lua_tostring(L, -1);

		if (!text || strncmp(text, "module ", 7))
			return report(L, 1);
	} else {
		lua_getfield(L, -1, "start");
		if (!lua_isnil(L, -1)) {
			lua_remove(L, -2);
			return 0;
		}
	}
	say("unknown luaJIT command or jit.* modules not installed");
	return 1;
}

static int call_with(lua_State *L, const char *words)
{
	int n = 0;

	while (words && *words) {
		size_t length = strcspn(words, ",");

		n++;
		if (length)
			lua_pushlstring(L, words, length);
		else
			lua_pushnil(L);
		words += length;
		if (*words == ',' && !*++words)
			lua_pushnil(L), n++;
	}
	return report(L, lua_pcall(L, n, 0, 0));
}

static void push_module(lua_State *L, const char *name)
{
	lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
	lua_getfield(L, -1, name);
	lua_remove(L, -2);
}

/* -j COMMAND: a function of jit, else of a module jit.COMMAND. */
static int command(lua_State *L, const char *text)
{
	const char *equals = strchr(text, '=');

	lua_pushlstring(L, text, equals ? (size_t)(equals - text) : strlen(text));
	push_module(L, "jit");
	lua_pushvalue(L, -2);
	lua_gettable(L, -2);
	if (lua_isfunction(L, -1)) {
		lua_remove(L, -2);
	} else {
		lua_pop(L, 2);
		if (load_module(L))
			return 1;
	}
	lua_remove(L, -2);
	return call_with(L, equals ? equals + 1 : NULL);
}

static int optimize(lua_State *L, const char *text)
{
	push_module(L, "jit.opt");
	lua_getfield(L, -1, "start");
	lua_remove(L, -2);
	return call_with(L, text);
}

static int run_options(lua_State *L, const struct script *s)
{
	int status = 0;

	for (int i = 0; i < s->n_options && !status; i++)
		status = s->options[i].letter == 'j' ? command(L, s->options[i].text) : optimize(L, s->options[i].text);
	return status;
}

/* The arguments are those in arg: LUA_INIT may have changed them. */
static int push_arguments(lua_State *L)
{
	int n = 0;

	lua_getglobal(L, "arg");
	if (lua_istable(L, -1)) {
		do {
			n++;
			lua_rawgeti(L, -n, n);
		} while (!lua_isnil(L, -1));
		lua_pop(L, 1);
		lua_remove(L, -n);
		return n - 1;
	}
	lua_pop(L, 1);
	return 0;
}

static int run(lua_State *L, struct script *s)
{
	int status = luaL_loadfile(L, s->path);

	if (!status) {
		s->ran = true;
		if (s->loaded)
			s->loaded(L);
		status = call(L, push_arguments(L), LUA_MULTRET);
	}
	return report(L, status);
}

struct main { struct script *script; int status; };

static int in_vm(lua_State *L)
{
	struct main *m = lua_touserdata(L, 1);

	lua_gc(L, LUA_GCSTOP, 0);
	luaL_openlibs(L);
	lua_gc(L, LUA_GCRESTART, -1);
	make_arg(L, m->script->words);
	m->script->ready(L);
	m->status = run_init(L);
	if (!m->status)
		m->status = run_options(L, m->script);
	if (!m->status)
		m->status = run(L, m->script);
	return 0;
}

int script_run(lua_State *L, struct script *s)
{
	struct main m = { s, 0 };
	int status;

	interrupted = L;
	status = lua_cpcall(L, in_vm, &m);
	report(L, status);
	return status || m.status > 0;
}
