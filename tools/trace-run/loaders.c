/* loaders.c - functions that come as bytecode.

   The functions that the script sees stay the objects that they are, and what LuaJIT's recorder makes of them: only their C code is
   another, which calls the original. */
#include "tools/trace-run/loaders.h"
#include <luajit-2.1/lauxlib.h>
#include "tools/trace-run/emit.h"
#include "tools/trace-run/owner.h"
#include "tools/trace-run/prototypes.h"
#include "tools/trace-run/vm.h"

enum { LOAD, LOADSTRING, LOADFILE, LOADER, LOADERS = 4, ORIGINALS = LOADER + LOADERS };

static lua_CFunction original[ORIGINALS];

void loaders_learn(lua_State *L, int index)
{
	if (vm.known && lua_isfunction(L, index) && emit_is_open() && owner_is_thread())
		prototypes_need(vm_prototype_of(lua_topointer(L, index)));
}

/* The function, or nil and a message. */
static int through(lua_State *L, int which)
{
	int n = original[which](L);

	if (n > 0)
		loaders_learn(L, -n);
	return n;
}

static int on_load(lua_State *L) { return through(L, LOAD); }
static int on_loadstring(lua_State *L) { return through(L, LOADSTRING); }
static int on_loadfile(lua_State *L) { return through(L, LOADFILE); }
static int on_loader_1(lua_State *L) { return through(L, LOADER); }
static int on_loader_2(lua_State *L) { return through(L, LOADER + 1); }
static int on_loader_3(lua_State *L) { return through(L, LOADER + 2); }
static int on_loader_4(lua_State *L) { return through(L, LOADER + 3); }

/* As LuaJIT's own, which runs what it loads before anybody sees it. */
static int on_dofile(lua_State *L)
{
	const char *name = luaL_optstring(L, 1, NULL);

	lua_settop(L, 1);
	if (luaL_loadfile(L, name))
		lua_error(L);
	loaders_learn(L, -1);
	lua_call(L, 0, LUA_MULTRET);
	return lua_gettop(L) - 1;
}

/* The C function on top of the stack gets other code; it is popped. */
static void replace(lua_State *L, lua_CFunction with, lua_CFunction *was)
{
	struct vm_function *f = (struct vm_function *)(uintptr_t)lua_topointer(L, -1);

	if (lua_iscfunction(L, -1) && f->id && f->c_function == (void *)(uintptr_t)lua_tocfunction(L, -1)) {
		if (was)
			*was = lua_tocfunction(L, -1);
		f->c_function = (void *)(uintptr_t)with;
	}
	lua_pop(L, 1);
}

void loaders_watch(lua_State *L)
{
	static const struct { const char *name; lua_CFunction with; int which; } globals[] = {
		{ "load", on_load, LOAD }, { "loadstring", on_loadstring, LOADSTRING }, { "loadfile", on_loadfile, LOADFILE },
		{ "dofile", on_dofile, -1 }
	};
	static const lua_CFunction loaders[LOADERS] = { on_loader_1, on_loader_2, on_loader_3, on_loader_4 };

	if (!vm.known)
		return;
	for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
		lua_getglobal(L, globals[i].name);
		replace(L, globals[i].with, globals[i].which < 0 ? NULL : &original[globals[i].which]);
	}
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "loaders");
	for (int i = 0; i < LOADERS; i++) {
		lua_rawgeti(L, -1, i + 1);
		replace(L, loaders[i], &original[LOADER + i]);
	}
	lua_pop(L, 2);
}
