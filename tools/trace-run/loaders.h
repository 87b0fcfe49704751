/* loaders.h - functions that come as bytecode: LuaJIT tells of what it compiles from source only. */
#ifndef TRACE_RUN_LOADERS_H
#define TRACE_RUN_LOADERS_H
#include <luajit-2.1/lua.h>

/* Looks at what load, loadstring, loadfile, dofile and require's loaders make. */
void loaders_watch(lua_State *L);
/* Takes up the function at an index. */
void loaders_learn(lua_State *L, int index);
#endif
