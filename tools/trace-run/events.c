/* events.c - what LuaJIT tells when it compiles.

   The handlers are C and make no Lua objects: nothing of them can be compiled, or change when the script's garbage is collected.
   LuaJIT has one handler an event, so jit.attach is replaced by one that passes the script's handlers on to ours. */
#include "tools/trace-run/events.h"
#include <luajit-2.1/lauxlib.h>
#include <luajit-2.1/luajit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "formats/profile.h"
#include "lib/base/mem.h"
#include "tools/trace-run/emit.h"
#include "tools/trace-run/export.h"
#include "tools/trace-run/owner.h"
#include "tools/trace-run/path.h"
#include "tools/trace-run/prototypes.h"
#include "tools/trace-run/reasons.h"
#include "tools/trace-run/sampler.h"
#include "tools/trace-run/vm.h"

enum { TRACES = 65536, STUBS_A_GROUP = 32, STUB_GROUP_BYTES = 140, BIAS = 0x8000 };
enum { SNAP_FRAME = 0x10000, SNAP_NO_RESTORE = 0x40000 };

static uint32_t serials[TRACES];		/* of the live trace of that number, or 0 */
static uint32_t last_serial, alive;
static uint64_t code_low, code_high;
static unsigned stub_groups;

/* The recording that is under way. */
static struct { uint64_t time; uint32_t parent; int exit; bool stitched; struct place at; } recording;

static VEC(int64_t) list;
static VEC(struct export_line) lines;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct place place_of(lua_State *L, int function, int position)
{
	const struct vm_prototype *p;
	struct place at = { 0, 0 };

	if (!vm.known || !lua_isfunction(L, function))
		return at;
	p = vm_prototype_of(lua_topointer(L, function));
	if (!p)
		return at;
	prototypes_need(p);
	at = prototypes_at(vm_bytecode(p));
	at.position = (uint32_t)lua_tointeger(L, position);
	return at;
}

static void on_start(lua_State *L)
{
	unsigned parent = (unsigned)lua_tointeger(L, 5);

	recording.time = now();
	recording.at = place_of(L, 3, 4);
	recording.parent = parent < TRACES ? serials[parent] : 0;
	recording.exit = (int)lua_tointeger(L, 6);
	recording.stitched = parent && recording.exit < 0;
}

static void push_place(struct place at)
{
	vec_push(&list, at.prototype);
	vec_push(&list, at.position);
}

/* The place of a snapshot, then the calls that are inlined there: the links of their frames are constants of the trace. */
static size_t snapshot_places(const struct vm_trace *t, const struct vm_snapshot *snapshot, const uint32_t **to)
{
	const uint32_t *map = t->map + snapshot->map;
	uint64_t pc;
	size_t n = 1;

	memcpy(&pc, map + snapshot->entries, sizeof pc);
	to[0] = (const uint32_t *)(uintptr_t)(pc >> 8);
	for (unsigned i = snapshot->entries; i > 0 && n <= PATH_DEPTH; i--) {
		uint32_t entry = map[i - 1], ref = entry & 0xffff;
		uint64_t link;

		if ((entry & (SNAP_FRAME | SNAP_NO_RESTORE)) != SNAP_FRAME || ref >= BIAS || ref < t->first_constant)
			continue;
		link = t->instructions[ref + 1];
		if (!(link & 3) && prototypes_at((const uint32_t *)(uintptr_t)(link - 4)).prototype)
			to[n++] = (const uint32_t *)(uintptr_t)(link - 4);
	}
	return n;
}

/* Appends ranges to the list: an offset, then where it is in the source.  Ranges that are like the one before are left out. */
static void list_ranges(const struct vm_trace *t)
{
	const uint32_t *at[1 + PATH_DEPTH];
	struct path path = { .n = 0 };
	size_t last = 0, before = 0;
	uint32_t offset = 0;

	for (unsigned i = 0; i < t->snapshots; i++) {
		const struct vm_snapshot *s = &t->snapshot[i];
		size_t n = snapshot_places(t, s, at);
		const uint32_t *innermost = path_next(&path, at, n);

		/* Offsets have 16 bits: what lies behind is not told. */
		if (s->code < offset)
			break;
		offset = s->code;
		before = list.n;
		vec_push(&list, offset);
		vec_push(&list, (int64_t)n - 1);
		for (size_t k = 0; k < n; k++)
			push_place(prototypes_at(k ? at[k] : innermost));
		if (last && list.n - before == before - last && !memcmp(list.v + before + 1, list.v + last + 1, (list.n - before - 1) * sizeof *list.v))
			list.n = before;
		else
			last = before;
	}
}

static void list_lines(const struct vm_trace *t)
{
	const uint32_t *at[1 + PATH_DEPTH];
	struct path path = { .n = 0 };

	lines.n = 0;
	for (unsigned i = 0; i < t->snapshots; i++) {
		const struct vm_snapshot *s = &t->snapshot[i];
		const uint32_t *innermost = path_next(&path, at, snapshot_places(t, s, at));
		const struct vm_prototype *p = prototypes_live(innermost);

		if (p)
			vec_push(&lines, ((struct export_line){
				(uintptr_t)t->code + s->code, vm_chunk_name(p), vm_line(p, (uint32_t)(innermost - vm_bytecode(p))) }));
	}
}

static void write_death(uint32_t serial)
{
	alive--;
	emit_row(&(struct row){ .type = PROFILE_DEATH, .address = now(), .count = serial, .can_wait = true });
}

static void write_stubs(lua_State *L, unsigned exits)
{
	for (; stub_groups * STUBS_A_GROUP < exits; stub_groups++) {
		uint64_t at = vm_exit_stub(L, stub_groups * STUBS_A_GROUP);

		if (!at)
			return;
		emit_row(&(struct row){ .type = PROFILE_STUBS, .address = at, .information = STUB_GROUP_BYTES, .count = now() });
	}
}

static void write_trace(unsigned number, const struct vm_trace *t, const struct vm_told *told)
{
	uint64_t code = t ? (uintptr_t)t->code : told->code, size = t ? t->size : told->size;
	unsigned link = t ? t->link : (unsigned)told->link;
	struct place start = recording.at;

	list.n = 0;
	if (t && recording.at.prototype == 0)
		start = prototypes_at(t->start_pc);
	vec_push(&list, (int64_t)now());
	vec_push(&list, number);
	vec_push(&list, t ? t->loop : told->loop);
	vec_push(&list, recording.parent);
	vec_push(&list, recording.exit);
	vec_push(&list, link < TRACES ? serials[link] : 0);
	vec_push(&list, (int64_t)recording.time);
	push_place(start);
	if (t)
		list_ranges(t);
	emit_row(&(struct row){
		.type = PROFILE_TRACE, .address = code, .information = (int64_t)size, .count = serials[number],
		.kind = recording.stitched ? "stitched" : recording.parent ? "side" : "root", .why = t ? vm_link_name(t) : "unknown",
		.numbers = list.v, .n = list.n,
	});
}

static void export(unsigned number, const struct vm_trace *t, const struct vm_told *told)
{
	char name[512];

	if (!export_wants_names())
		return;
	lines.n = 0;
	if (t && export_wants_lines())
		list_lines(t);
	if (t)
		snprintf(name, sizeof name, "TRACE_%u::%s:%d", number, vm_chunk_name(t->start) + !!strchr("@=", *vm_chunk_name(t->start)),
			 (int)vm_line(t->start, (uint32_t)(t->start_pc - vm_bytecode(t->start))));
	else
		snprintf(name, sizeof name, "TRACE_%u", number);
	export_trace(t ? (uintptr_t)t->code : told->code, t ? t->size : told->size, name, lines.v, lines.n);
}

static void on_stop(lua_State *L)
{
	unsigned number = (unsigned)lua_tointeger(L, 2);
	const struct vm_trace *t = vm_trace(L, number);
	struct vm_told told = { 0 };
	uint64_t code, end;

	if (number >= TRACES || (!t && !vm_ask(L, number, &told)))
		return;
	if (serials[number])
		write_death(serials[number]);
	serials[number] = ++last_serial;
	alive++;
	code = t ? (uintptr_t)t->code : told.code;
	end = code + (t ? t->size : told.size);
	code_low = !code_high || code < code_low ? code : code_low;
	code_high = end > code_high ? end : code_high;
	if (t)
		prototypes_need(t->start);
	write_stubs(L, t ? t->snapshots : (unsigned)told.exits);
	write_trace(number, t, &told);
	sampler_code_range(code_low, code_high);
	export(number, t, &told);
}

static void on_abort(lua_State *L)
{
	struct place at = place_of(L, 3, 4);
	const char *why = reasons_text(L, 5, 6);

	list.n = 0;
	vec_push(&list, (int64_t)recording.time);
	vec_push(&list, recording.parent);
	vec_push(&list, recording.exit);
	push_place(recording.at);
	push_place(at);
	emit_row(&(struct row){
		.type = PROFILE_ABORT, .address = now(), .information = lua_type(L, 5) == LUA_TNUMBER ? (int64_t)lua_tointeger(L, 5) : 0,
		.count = (uint64_t)lua_tointeger(L, 2), .why = why, .numbers = list.v, .n = list.n, .can_wait = true,
	});
}

static void on_flush(void)
{
	emit_row(&(struct row){ .type = PROFILE_FLUSH, .address = now(), .count = alive });
	memset(serials, 0, sizeof serials);
	alive = stub_groups = 0;
	code_low = code_high = 0;
	sampler_code_range(0, 0);
	export_flush();
}

static bool is_ours(void)
{
	return emit_is_open() && owner_is_process();
}

static const char trace_key, bytecode_key;

static int on_trace(lua_State *L)
{
	const char *what = lua_tostring(L, 1);

	if (is_ours() && what) {
		int n = lua_gettop(L);

		if (!strcmp(what, "start"))
			on_start(L);
		else if (!strcmp(what, "stop"))
			on_stop(L);
		else if (!strcmp(what, "abort"))
			on_abort(L);
		else if (!strcmp(what, "flush"))
			on_flush();
		lua_settop(L, n);
	}
	return 0;
}

static int on_bytecode(lua_State *L)
{
	if (is_ours() && vm.known)
		prototypes_add(lua_topointer(L, 1));
	return 0;
}

/* The script's own handler is called where it would be: a tail call leaves nothing on the stack between LuaJIT and it. */
static const char pair[] =
	"local ours = ... "
	"return function(theirs) return function(...) ours(...) return theirs(...) end end";

static const struct heard { lua_CFunction handler; const char *event, *key; } heard[] = {
	{ on_trace, "trace", &trace_key }, { on_bytecode, "bc", &bytecode_key }
};
enum { HEARD = sizeof heard / sizeof *heard };

/* What is kept of an event, from when the script first wants to hear it: a maker of pairs, and the script's handler or nothing.
   Until then LuaJIT has nothing of us that it would not have without: its hot counters depend on where things lie. */
enum { MAKER = 1, THEIRS };

/* Pushes what is kept, or nil. */
static void push_kept(lua_State *L, const struct heard *h)
{
	lua_pushlightuserdata(L, (void *)(uintptr_t)h->key);
	lua_rawget(L, LUA_REGISTRYINDEX);
}

/* Handlers must not be compiled. */
static void keep(lua_State *L, const struct heard *h)
{
	lua_pushlightuserdata(L, (void *)(uintptr_t)h->key);
	lua_newtable(L);
	luaL_loadbuffer(L, pair, sizeof pair - 1, "=trace-run");
	luaJIT_setmode(L, -1, LUAJIT_MODE_ALLFUNC | LUAJIT_MODE_OFF);
	lua_pushcfunction(L, h->handler);
	lua_call(L, 1, 1);
	lua_rawseti(L, -2, MAKER);
	lua_rawset(L, LUA_REGISTRYINDEX);
}

/* jit.attach, which is at that index, with the handler on top of the stack. */
static void attach_original(lua_State *L, const struct heard *h, int original)
{
	lua_pushvalue(L, original);
	lua_insert(L, -2);
	lua_pushstring(L, h->event);
	lua_call(L, 2, 0);
}

/* The function at index 1 is called after ours. */
static void listen(lua_State *L, const struct heard *h)
{
	push_kept(L, h);
	if (lua_isnil(L, -1)) {
		/* All, before the script can hear of it. */
		for (int i = 0; i < HEARD; i++)
			keep(L, &heard[i]);
		push_kept(L, h);
	}
	lua_pushvalue(L, 1);
	lua_rawseti(L, -2, THEIRS);
	lua_rawgeti(L, -1, MAKER);
	lua_pushvalue(L, 1);
	lua_call(L, 1, 1);
	attach_original(L, h, lua_upvalueindex(1));
}

static void forget(lua_State *L, const struct heard *h)
{
	int top = lua_gettop(L);

	push_kept(L, h);
	if (lua_istable(L, -1)) {
		lua_rawgeti(L, -1, THEIRS);
		if (lua_rawequal(L, 1, -1)) {
			lua_pushnil(L);
			lua_rawseti(L, -3, THEIRS);
			lua_pushcfunction(L, h->handler);
			attach_original(L, h, lua_upvalueindex(1));
		}
	}
	lua_settop(L, top);
}

static int call_original(lua_State *L)
{
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

/* jit.attach as the script sees it. */
static int attach(lua_State *L)
{
	bool function = lua_isfunction(L, 1);

	luaL_checktype(L, 1, LUA_TFUNCTION);
	if (!lua_isnoneornil(L, 2))
		luaL_checkstring(L, 2);
	for (int i = 0; i < HEARD && function; i++) {
		if (lua_isnoneornil(L, 2)) {
			forget(L, &heard[i]);
		} else if (!strcmp(lua_tostring(L, 2), heard[i].event)) {
			listen(L, &heard[i]);
			return 0;
		}
	}
	return call_original(L);
}

void events_attach(lua_State *L)
{
	int original;

	lua_getglobal(L, "jit");
	lua_getfield(L, -1, "attach");
	original = lua_gettop(L);
	for (int i = 0; i < HEARD; i++) {
		lua_pushcfunction(L, heard[i].handler);
		attach_original(L, &heard[i], original);
	}
	lua_pushcclosure(L, attach, 1);
	lua_setfield(L, -2, "attach");
	lua_pop(L, 1);
}
