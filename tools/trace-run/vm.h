/* vm.h - what LuaJIT keeps and its interface does not tell: the running trace, the stack's base, a trace's snapshots.

   The structures are those of the LuaJIT that was linked, as far as they are used (its lj_obj.h, lj_jit.h); x86-64, 64-bit references.
   Nothing is believed before it was compared with what the interface says of the same thing: vm_probe at the start, vm_trace for the
   first traces.  Where they disagree the profile has neither states nor lines, and says so. */
#ifndef TRACE_RUN_VM_H
#define TRACE_RUN_VM_H
#include <luajit-2.1/lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm_header { uint64_t next; uint8_t marked, type; };

struct vm_function {
	uint64_t next; uint8_t marked, type, id, upvalues;
	uint64_t env, gclist;
	const uint32_t *pc;		/* id 0, a Lua function: its bytecode */
	void *c_function;		/* else */
};

struct vm_prototype {
	uint64_t next; uint8_t marked, type, parameters, frame;
	uint32_t size;			/* instructions */
	uint32_t unused;
	uint64_t gclist, *constants, upvalues;
	uint32_t objects, numbers, bytes;
	uint8_t n_upvalues, flags;
	uint16_t trace;
	uint64_t chunk_name;
	int32_t first_line, lines;
	const void *line_info;
	uint64_t upvalue_info, variable_info;
};

struct vm_thread {
	uint64_t next; uint8_t marked, type, id, status;
	struct vm_global *global;
	uint64_t gclist;
	uint64_t *base, *top, *max_stack, *stack;
	uint64_t open_upvalues, env;
	uintptr_t c_frame;
	uint32_t stack_size;
};

struct vm_snapshot { uint32_t map; uint16_t ref, code; uint8_t slots, top, entries, count; };

struct vm_trace {
	uint64_t next; uint8_t marked, type;
	uint16_t snapshots;
	uint32_t end_of_instructions, unused;
	uint64_t gclist, *instructions;
	uint32_t first_constant, map_entries;
	struct vm_snapshot *snapshot;
	uint32_t *map;
	struct vm_prototype *start;
	const uint32_t *start_pc;
	uint32_t start_instruction, size;
	const uint8_t *code;
	uint32_t loop;
	uint16_t children, stack_adjust, number, link, root, next_root, next_side;
	uint8_t sink, top_slot, link_type;
};

/* Places in the sampled VM, found by vm_probe.  known is false where they were not. */
struct vm {
	bool known;
	const char *why;			/* not known, because */
	char *global;
	const volatile int32_t *state;
	struct vm_thread *volatile *current;	/* the running coroutine */
	uint64_t *volatile *trace_base;		/* the stack's base that the running trace began with, or NULL */
};
extern struct vm vm;

/* Looks for them.  L: the main thread; attach_bytecode handlers must not be there yet. */
void vm_probe(lua_State *L);
/* What the interface says of a trace; false: there is none. */
struct vm_told { size_t size; uint64_t code; lua_Integer loop, exits, instructions, constants, link; };
bool vm_ask(lua_State *L, unsigned number, struct vm_told *told);
/* Where an exit's stub is, or 0. */
uint64_t vm_exit_stub(lua_State *L, unsigned exit);
/* The trace of that number, which was just compiled, or NULL when what it says is not what the interface says. */
const struct vm_trace *vm_trace(lua_State *L, unsigned number);
const char *vm_link_name(const struct vm_trace *t);

static inline const uint32_t *vm_bytecode(const struct vm_prototype *p)
{
	return (const uint32_t *)(p + 1);
}
static inline const struct vm_prototype *vm_prototype_of(const struct vm_function *f)
{
	return f->id ? NULL : (const struct vm_prototype *)f->pc - 1;
}
/* The line of an instruction; 0: there is none. */
int32_t vm_line(const struct vm_prototype *p, uint32_t position);
/* The next prototype that is a constant of p, or NULL; *at is 0 at first. */
const struct vm_prototype *vm_child(const struct vm_prototype *p, uint32_t *at);
bool vm_is_prototype(const struct vm_prototype *p);
/* Functions that LuaJIT itself has in Lua have no lines; their chunk's name is their own. */
static inline bool vm_is_builtin(const struct vm_prototype *p)
{
	return p->first_line < 0;
}
/* The chunk's name, not copied. */
const char *vm_chunk_name(const struct vm_prototype *p);
/* A number that no two names have. */
uint32_t vm_name_id(const struct vm_prototype *p);
/* Copies of memory that may not be there what can be read; by system calls only, so from a signal handler, too. */
size_t vm_peek(const void *from, void *to, size_t n);
/* The interpreter's assembly. */
bool vm_is_interpreter(uint64_t pc);
/* Where the code that C code calls back by goes on, or 0 when pc is not in such code.  pc is being executed. */
uint64_t vm_callback(uint64_t pc);

/* Instructions that branch; vm_probe compares some with what is compiled. */
enum {
	VM_LAST_GUARDED = 11, VM_LAST_COMPARISON = 15, VM_ISNEXT = 72, VM_FIRST_RETURN = 73, VM_LAST_RETURN = 76, VM_FORI = 77, VM_JFORI = 78,
	VM_FORL = 79, VM_IFORL = 80, VM_JFORL = 81, VM_ITERL = 82, VM_IITERL = 83, VM_JITERL = 84, VM_JLOOP = 87, VM_JMP = 88
};
/* The instruction at pc, which is alive, as it was before a trace was put there. */
uint32_t vm_original(const uint32_t *pc);
static inline uint32_t vm_instruction(const uint32_t *pc)
{
	uint32_t op = *pc & 0xff;

	return op == VM_JFORL || op == VM_JITERL || op == VM_JLOOP ? vm_original(pc) : *pc;
}

/* Calls of LuaJIT that interpreter and C code leave behind. */
enum { VM_FRAME_PC = 3 * 8 };
#endif
