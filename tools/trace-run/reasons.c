/* reasons.c - why a trace was given up, in LuaJIT's own words.

   The words stand in LuaJIT's module jit.vmdef.  It is read in a VM of its own, so that the script finds its own VM as it left it. */
#include "tools/trace-run/reasons.h"
#include <luajit-2.1/lauxlib.h>
#include <luajit-2.1/lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/mem.h"
#include "tools/trace-run/vm.h"

enum { MOST = 1024, OPCODE = 6 };

static struct {
	bool loaded;
	char **errors, **functions;
	size_t n_errors, n_functions;
	char *opcodes;
} words;

static size_t texts(lua_State *L, const char *key, char ***to)
{
	size_t n = 0;

	*to = xcalloc(MOST, sizeof **to);
	lua_getfield(L, -1, key);
	for (; lua_istable(L, -1) && n < MOST; n++) {
		const char *s;

		lua_rawgeti(L, -1, (int)n);
		s = lua_tostring(L, -1);
		if (!s && n > 0) {
			lua_pop(L, 1);
			break;
		}
		(*to)[n] = s ? xstrdup(s) : NULL;
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	return n;
}

static void load(void)
{
	lua_State *L = luaL_newstate();

	words.loaded = true;
	if (!L)
		return;
	luaL_openlibs(L);
	lua_getglobal(L, "require");
	lua_pushliteral(L, "jit.vmdef");
	if (!lua_pcall(L, 1, 1, 0) && lua_istable(L, -1)) {
		const char *opcodes;

		words.n_errors = texts(L, "traceerr", &words.errors);
		words.n_functions = texts(L, "ffnames", &words.functions);
		lua_getfield(L, -1, "bcnames");
		opcodes = lua_tostring(L, -1);
		words.opcodes = opcodes ? xstrdup(opcodes) : NULL;
	}
	lua_close(L);
}

/* How jit.v names a function. */
static void name_function(lua_State *L, int index, char *to, size_t size)
{
	const struct vm_function *f = lua_topointer(L, index);
	const struct vm_prototype *p = vm.known ? vm_prototype_of(f) : NULL;

	if (p && vm_is_builtin(p))
		snprintf(to, size, "[builtin:%s]", vm_chunk_name(p));
	else if (p)
		snprintf(to, size, "%s:%d", vm_chunk_name(p), (int)p->first_line);
	else if (vm.known && f->id < words.n_functions && words.functions[f->id] && f->id > 1)
		snprintf(to, size, "%s", words.functions[f->id]);
	else
		snprintf(to, size, "a C function");
}

static void name_info(lua_State *L, const char *format, int info, char *to, size_t size)
{
	int number = (int)lua_tointeger(L, info);

	*to = 0;
	if (lua_isfunction(L, info))
		name_function(L, info, to, size);
	else if (lua_isnumber(L, info) && strstr(format, "bytecode") && words.opcodes && number >= 0 &&
		 strlen(words.opcodes) >= OPCODE * ((size_t)number + 1))
		snprintf(to, size, "%.*s", (int)strcspn(words.opcodes + OPCODE * number, " ") < OPCODE ?
			 (int)strcspn(words.opcodes + OPCODE * number, " ") : OPCODE, words.opcodes + OPCODE * number);
	else if (lua_isnumber(L, info))
		snprintf(to, size, "%d", number);
	else if (lua_type(L, info) == LUA_TSTRING)
		snprintf(to, size, "%s", lua_tostring(L, info));
}

const char *reasons_text(lua_State *L, int error, int info)
{
	static char text[512], object[256];
	int number = (int)lua_tointeger(L, error);
	const char *format, *mark;

	if (lua_type(L, error) != LUA_TNUMBER) {
		snprintf(text, sizeof text, "%s", lua_type(L, error) == LUA_TSTRING ? lua_tostring(L, error) : "an error was thrown");
		return text;
	}
	if (!words.loaded)
		load();
	if (number < 0 || (size_t)number >= words.n_errors || !words.errors[number]) {
		snprintf(text, sizeof text, "reason %d", number);
		return text;
	}
	format = words.errors[number];
	mark = strchr(format, '%');
	if (!mark)
		return format;
	name_info(L, format, info, object, sizeof object);
	snprintf(text, sizeof text, "%.*s%s%s", (int)(mark - format), format, object, mark[1] ? mark + 2 : "");
	return text;
}
