/* vm.c - finds in LuaJIT what its interface does not tell, and checks it. */
#include "tools/trace-run/vm.h"
#include <luajit-2.1/lauxlib.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "tools/trace-run/descriptor.h"

struct vm vm;
static pid_t self;

/* The first and the last routine of the interpreter's assembly, which is one section. */
extern const char lj_vm_asm_begin[], lj_vm_ffi_call[], lj_vm_ffi_callback[];
enum { LAST_ROUTINE = 0xa0, GLOBAL_BYTES = 1024, STATE_BYTES = 32768, STRING_HEADER = 24, STRING_ID = 12, PAGE = 4096 };
enum { STATE_C = -2, TYPE_PROTOTYPE = 7, TYPE_TRACE = 9, CHECKED_TRACES = 16 };

bool vm_is_interpreter(uint64_t pc)
{
	return pc >= (uintptr_t)lj_vm_asm_begin && pc < (uintptr_t)lj_vm_ffi_call + LAST_ROUTINE;
}

/* The page of such code begins with that address.  A page that is being executed can be read. */
__attribute__((no_sanitize("address"))) uint64_t vm_callback(uint64_t pc)
{
	uint64_t first = *(const uint64_t *)(uintptr_t)(pc & ~(uint64_t)(PAGE - 1));

	return first == (uintptr_t)lj_vm_ffi_callback ? first : 0;
}

/* Where a sandbox refuses process_vm_readv, /proc/self/mem tells the same.  0: not needed, or it cannot be opened. */
static int memory_file;

static size_t copy(const void *from, void *to, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)from, n };
	ssize_t got;

	if (memory_file)
		got = pread(memory_file, to, n, (off_t)(uintptr_t)from);
	else
		got = syscall(SYS_process_vm_readv, self, &local, 1, &remote, 1, 0);
	return got > 0 ? (size_t)got : 0;
}

size_t vm_peek(const void *from, void *to, size_t n)
{
	size_t got;

	while (!(got = copy(from, to, n)) && n > sizeof(uint64_t))
		n /= 2;
	return got;
}

static void choose_way(void)
{
	char byte;
	int fd;

	self = getpid();
	if (copy(&byte, &byte, 1))
		return;
	fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	memory_file = descriptor_away(fd);
}

int32_t vm_line(const struct vm_prototype *p, uint32_t position)
{
	if (!p->line_info || vm_is_builtin(p) || position > p->size)
		return 0;
	if (!position)
		return p->first_line;
	position--;
	if (p->lines < 256)
		return p->first_line + ((const uint8_t *)p->line_info)[position];
	if (p->lines < 65536)
		return p->first_line + ((const uint16_t *)p->line_info)[position];
	return p->first_line + (int32_t)((const uint32_t *)p->line_info)[position];
}

const char *vm_chunk_name(const struct vm_prototype *p)
{
	return (const char *)(p->chunk_name + STRING_HEADER);
}

uint32_t vm_name_id(const struct vm_prototype *p)
{
	uint32_t id;

	memcpy(&id, (const char *)(p->chunk_name + STRING_ID), sizeof id);
	return id;
}

bool vm_is_prototype(const struct vm_prototype *p)
{
	return p->type == TYPE_PROTOTYPE;
}

const struct vm_prototype *vm_child(const struct vm_prototype *p, uint32_t *at)
{
	while (*at < p->objects) {
		const struct vm_prototype *child = (const void *)p->constants[-1 - (int64_t)(*at)++];

		if (vm_is_prototype(child))
			return child;
	}
	return NULL;
}

/* The value of VM state during a C function stands once in the first part of the global state. */
static bool find_state(lua_State *L)
{
	int32_t words[GLOBAL_BYTES / 4];
	uint64_t pointers[GLOBAL_BYTES / 8];
	size_t n = vm_peek(vm.global, words, sizeof words) / 4, found = 0, at = 0, threads = 0, last = 0;

	memcpy(pointers, words, sizeof pointers);
	/* The main thread stands behind it... */
	for (size_t i = 0; i + 3 < n; i++)
		if (words[i] == STATE_C && pointers[i / 2 + 1] == (uintptr_t)L) {
			found++;
			at = i;
		}
	/* ... and once more as the running one; then comes the trace's base.  The garbage collector's lists are before both. */
	for (size_t i = at / 2 + 2; i + 1 < n / 2; i++)
		if (pointers[i] == (uintptr_t)L) {
			threads++;
			last = i;
		}
	if (found != 1 || threads != 1 || pointers[last + 1])
		return false;
	vm.state = (const int32_t *)(vm.global + 4 * at);
	vm.current = (struct vm_thread **)(vm.global + 8 * last);
	vm.trace_base = (uint64_t **)(vm.global + 8 * (last + 1));
	return true;
}

static lua_Integer info_number(lua_State *L, const char *key)
{
	lua_Integer n;

	lua_getfield(L, -1, key);
	n = lua_tointeger(L, -1);
	lua_pop(L, 1);
	return n;
}

/* A table of jit.util for us alone: what the script finds in package.loaded is as it would be. */
static void push_util(lua_State *L)
{
	static char key;

	lua_pushlightuserdata(L, &key);
	lua_rawget(L, LUA_REGISTRYINDEX);
	if (lua_istable(L, -1))
		return;
	lua_pop(L, 1);
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "preload");
	lua_getfield(L, -1, "jit.util");
	lua_pushliteral(L, "jit.util");
	lua_call(L, 1, 1);
	lua_replace(L, -3);
	lua_pop(L, 1);
	lua_pushlightuserdata(L, &key);
	lua_pushvalue(L, -2);
	lua_rawset(L, LUA_REGISTRYINDEX);
}

/* With jit.util.funcinfo on top of the stack: a function of five lines, as it says and as the structures say. */
static bool check_function(lua_State *L)
{
	static const char chunk[] = "local a = ...\nlocal function f(x)\n\n  return x + a\nend\nreturn f\n";
	const struct vm_prototype *p;
	const struct vm_function *f;
	bool ok;

	if (luaL_loadbuffer(L, chunk, sizeof chunk - 1, "=probe"))
		return false;
	lua_call(L, 0, 1);
	f = lua_topointer(L, -1);
	p = vm_prototype_of(f);
	if (!p || vm_peek(p, &(struct vm_prototype){ .size = 0 }, sizeof *p) != sizeof *p || p->type != TYPE_PROTOTYPE)
		return false;
	lua_pushvalue(L, -2);
	lua_pushvalue(L, -2);
	lua_pushinteger(L, 2);
	lua_call(L, 2, 1);
	ok = info_number(L, "bytecodes") == (lua_Integer)p->size && info_number(L, "linedefined") == p->first_line &&
	     info_number(L, "lastlinedefined") == p->first_line + p->lines && info_number(L, "currentline") == vm_line(p, 2) &&
	     vm_line(p, 2) == 4 && !strcmp(vm_chunk_name(p), "=probe");
	lua_pop(L, 2);
	return ok;
}

static int probe(lua_State *L);

static bool check_c_function(lua_State *L)
{
	const struct vm_function *f;
	bool ok;

	lua_pushcfunction(L, probe);
	f = lua_topointer(L, -1);
	ok = f->id && f->c_function == (void *)(uintptr_t)probe;
	lua_pop(L, 1);
	return ok;
}

/* A loop with a comparison: FORI, a comparison, JMP, FORL, RET0. */
static bool check_in(lua_State *L)
{
	static const char chunk[] = "local x = 1 for i = 1, 2 do if x < i then x = i end end";
	static const uint8_t wanted[] = { VM_FORI, VM_JMP, VM_FORL, VM_FIRST_RETURN + 2 };
	const struct vm_prototype *p;
	size_t n = 0;

	if (luaL_loadbuffer(L, chunk, sizeof chunk - 1, "=probe"))
		return false;
	p = vm_prototype_of(lua_topointer(L, -1));
	for (uint32_t i = 1; i < p->size && n < sizeof wanted; i++)
		n += (vm_bytecode(p)[i] & 0xff) == wanted[n];
	n += (vm_bytecode(p)[p->size - 5] & 0xff) <= VM_LAST_GUARDED;
	lua_pop(L, 1);
	return n == sizeof wanted + 1;
}

/* In a VM of its own: what is made in the script's changes where its functions lie, and LuaJIT's hot counters with that. */
static bool check_instructions(void)
{
	lua_State *L = luaL_newstate();
	bool ok = L && check_in(L);

	if (L)
		lua_close(L);
	return ok;
}

static const char *look(lua_State *L)
{
	vm.global = (char *)((const struct vm_thread *)(const void *)L)->global;
	if (!find_state(L))
		return "LuaJIT's state is not where this version keeps it";
	push_util(L);
	lua_getfield(L, -1, "funcinfo");
	return check_c_function(L) && check_function(L) && check_instructions() ? NULL : "LuaJIT's functions are not as this version has them";
}

static int probe(lua_State *L)
{
	vm.why = look(L);
	vm.known = !vm.why;
	return 0;
}

void vm_probe(lua_State *L)
{
	vm = (struct vm){ .why = "LuaJIT's functions cannot be looked at" };
	choose_way();
	if (lua_cpcall(L, probe, NULL))
		lua_pop(L, 1);
}

/* Pushes what jit.util.NAME(number) returns, or nothing; returns where the stack's top was. */
static int util(lua_State *L, const char *name, unsigned number, int results)
{
	int top = lua_gettop(L);

	push_util(L);
	lua_getfield(L, -1, name);
	lua_pushinteger(L, (lua_Integer)number);
	if (lua_pcall(L, 1, results, 0))
		lua_settop(L, top);
	return top;
}

bool vm_ask(lua_State *L, unsigned number, struct vm_told *told)
{
	int top = util(L, "tracemc", number, 3);

	if (lua_gettop(L) < top + 3 || !lua_isstring(L, -3))
		return lua_settop(L, top), false;
	told->size = lua_objlen(L, -3);
	told->code = (uint64_t)(int64_t)lua_tonumber(L, -2);
	told->loop = lua_tointeger(L, -1);
	lua_settop(L, top);
	util(L, "traceinfo", number, 1);
	if (!lua_istable(L, -1))
		return lua_settop(L, top), false;
	told->exits = info_number(L, "nexit");
	told->instructions = info_number(L, "nins");
	told->constants = info_number(L, "nk");
	told->link = info_number(L, "link");
	lua_settop(L, top);
	return true;
}

uint64_t vm_exit_stub(lua_State *L, unsigned exit)
{
	int top = util(L, "traceexitstub", exit, 1);
	uint64_t at = lua_gettop(L) > top ? (uint64_t)(int64_t)lua_tonumber(L, -1) : 0;

	lua_settop(L, top);
	/* A group that does not exist is an offset from NULL. */
	return at < 0x10000 ? 0 : at;
}

static bool agrees(const struct vm_trace *t, unsigned number, const struct vm_told *told)
{
	return t->type == TYPE_TRACE && t->number == number && (uintptr_t)t->code == told->code && t->size == told->size &&
	       t->loop == told->loop && t->snapshots == told->exits && t->link == told->link &&
	       (lua_Integer)t->end_of_instructions - 0x8000 - 1 == told->instructions && 0x8000 - (lua_Integer)t->first_constant == told->constants;
}

static uint64_t *volatile *traces_at;	/* where the pointer to the array of traces stands */
static unsigned checked;

static bool find_traces(unsigned number, const struct vm_told *told)
{
	static uint64_t words[STATE_BYTES / 8];
	size_t n = vm_peek(vm.global, words, sizeof words) / 8, found = 0;
	struct vm_trace t;
	uint64_t entry;
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (words[i] < 0x10000 || words[i] >> 47 || words[i] % 8)
			continue;
		if (vm_peek((const char *)(uintptr_t)words[i] + 8 * number, &entry, 8) != 8 || entry < 0x10000 || entry >> 47)
			continue;
		if (vm_peek((const void *)(uintptr_t)entry, &t, sizeof t) == sizeof t && agrees(&t, number, told)) {
			at = i;
			found++;
		}
	}
	/* With more than one it is tried again with the next trace. */
	if (found == 1)
		traces_at = (uint64_t *volatile *)(void *)(vm.global + 8 * at);
	return found == 1;
}

const struct vm_trace *vm_trace(lua_State *L, unsigned number)
{
	const struct vm_trace *t;
	struct vm_told told;

	if (!vm.known)
		return NULL;
	if (checked < CHECKED_TRACES && (!vm_ask(L, number, &told) || (!traces_at && !find_traces(number, &told))))
		return NULL;
	t = (const void *)(uintptr_t)(*traces_at)[number];
	if (checked < CHECKED_TRACES && !agrees(t, number, &told)) {
		vm.known = false;
		return NULL;
	}
	checked++;
	return t && t->number == number ? t : NULL;
}

uint32_t vm_original(const uint32_t *pc)
{
	const struct vm_trace *t = traces_at ? (const void *)(uintptr_t)(*traces_at)[*pc >> 16] : NULL;

	return t && t->start_pc == pc ? t->start_instruction : *pc;
}

const char *vm_link_name(const struct vm_trace *t)
{
	static const char *const names[] = {
		"none", "root", "loop", "tail-recursion", "up-recursion", "down-recursion", "interpreter", "return", "stitch"
	};

	return t->link_type < sizeof names / sizeof *names ? names[t->link_type] : "unknown";
}
