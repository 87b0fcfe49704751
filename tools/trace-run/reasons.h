/* reasons.h - why a trace was given up, in LuaJIT's own words. */
#ifndef TRACE_RUN_REASONS_H
#define TRACE_RUN_REASONS_H
#include <luajit-2.1/lua.h>
#include <stddef.h>

/* The text for what an abort event has at indices error and info. */
const char *reasons_text(lua_State *L, int error, int info);
#endif
