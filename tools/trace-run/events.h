/* events.h - what LuaJIT tells when it compiles: prototypes, traces, aborts, flushes. */
#ifndef TRACE_RUN_EVENTS_H
#define TRACE_RUN_EVENTS_H
#include <luajit-2.1/lua.h>

/* Listens from here on, beside handlers that the script attaches. */
void events_attach(lua_State *L);
#endif
