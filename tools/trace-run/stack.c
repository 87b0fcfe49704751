/* stack.c - where Lua is, seen from a signal handler.

   LuaJIT's C code may be in the middle of moving Lua's stack, so there nothing is read in place: a piece below the base is copied by a
   system call that fails where a load would crash, and the calls are found in the copy.  Trace code and the interpreter's assembly
   leave the stack where it is.  The bytecode that tells a frame's size is always a copy (prototypes.c). */
#include "tools/trace-run/stack.h"
#include <pthread.h>
#include "formats/profile.h"
#include "tools/trace-run/prototypes.h"

enum { SLOTS = 512, SCANNED = 256 };
enum { FRAME_LUA, FRAME_CONTINUATION = 2, FRAME_KIND = 3, FRAME_MARKS = 7 };
#define POINTER_BITS ((UINT64_C(1) << 47) - 1)

static uintptr_t native_low, native_high;

void stack_init(void)
{
	pthread_attr_t attributes;
	size_t size;
	void *low;

	if (pthread_getattr_np(pthread_self(), &attributes))
		return;
	if (!pthread_attr_getstack(&attributes, &low, &size)) {
		native_low = (uintptr_t)low;
		native_high = native_low + size;
	}
	pthread_attr_destroy(&attributes);
}

static void add_frame(struct sample *s, struct place at)
{
	if (s->frames < SAMPLE_FRAMES) {
		s->frame[s->frames].prototype = at.prototype;
		s->frame[s->frames].position = at.position;
		s->frames++;
	}
}

/* pc: behind the instruction that is meant. */
static bool add_place(struct sample *s, const uint32_t *pc)
{
	struct place at = prototypes_at((const uint32_t *)((uintptr_t)pc - 4));

	if (at.prototype)
		add_frame(s, at);
	return at.prototype;
}

/* slots: a copy of the stack; frame: the index of a frame's link in it. */
static void walk(struct sample *s, const uint64_t *slots, int64_t frame)
{
	while (frame > 0 && s->frames < SAMPLE_FRAMES) {
		uint64_t link = slots[frame];
		int64_t size;

		if ((link & FRAME_KIND) == FRAME_LUA) {
			if (!add_place(s, (const uint32_t *)(uintptr_t)link))
				return;
			size = 2 + prototypes_operand((const uint32_t *)((uintptr_t)link - 4));
		} else {
			if ((link & FRAME_MARKS) == FRAME_CONTINUATION && frame >= 2)
				add_place(s, (const uint32_t *)(uintptr_t)slots[frame - 2]);
			size = (int64_t)(link & ~(uint64_t)FRAME_MARKS) / 8;
		}
		if (size <= 0)
			return;
		frame -= size;
	}
}

/* steady: the stack cannot be on the move. */
static void find_calls(struct sample *s, const struct vm_thread *thread, const uint64_t *base, bool steady)
{
	uint64_t slots[SLOTS];
	const uint64_t *bottom = thread->stack, *from;

	if (!base || (uintptr_t)base % 8 || base < bottom + 2 || base > bottom + thread->stack_size)
		return;
	from = base - bottom > SLOTS ? base - SLOTS : bottom + 1;
	if (steady) {
		walk(s, from, base - from - 1);
		return;
	}
	if (vm_peek(from, slots, (size_t)(base - from) * 8) != (size_t)(base - from) * 8)
		return;
	if (s->state == -1 - PROFILE_STATE_C && base - from >= 2) {
		struct vm_function f;

		if (vm_peek((const void *)(uintptr_t)(slots[base - from - 2] & POINTER_BITS), &f, sizeof f) == sizeof f && f.id)
			s->c_function = (uintptr_t)f.c_function;
	}
	walk(s, slots, base - from - 1);
}

static bool in_native_stack(uintptr_t p, uintptr_t sp)
{
	return sp >= native_low && p >= sp && p <= native_high - 64;
}

/* What it reads are the frames of others. */
#define READS_STACK __attribute__((no_sanitize("address")))

/* The first word on the native stack that points into trace code. */
READS_STACK static void find_return(struct sample *s, uintptr_t sp, uint64_t low, uint64_t high)
{
	const uint64_t *word = (const uint64_t *)(sp & ~(uintptr_t)7);

	for (int i = 0; i < SCANNED && in_native_stack((uintptr_t)(word + i), sp); i++)
		if (word[i] > low && word[i] <= high) {
			s->return_address = word[i];
			return;
		}
}

/* What the interpreter saved when it called C code. */
READS_STACK static void saved_place(struct sample *s, const struct vm_thread *thread, uintptr_t sp)
{
	uintptr_t frame = thread->c_frame & ~(uintptr_t)3;

	if (frame % 8 == 0 && in_native_stack(frame, sp))
		add_place(s, *(const uint32_t *const *)(frame + VM_FRAME_PC));
}

void stack_look(struct sample *s, const ucontext_t *context, uint64_t code_low, uint64_t code_high)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	uintptr_t sp = (uintptr_t)registers[REG_RSP];
	const struct vm_thread *thread;
	const uint64_t *base;
	bool compiled, in_trace;
	uint64_t callback = vm_callback(s->pc);

	/* Where code of LuaJIT's that is in no object goes on. */
	if (callback)
		s->pc = callback;
	in_trace = s->pc >= code_low && s->pc < code_high;
	s->state = -1 - PROFILE_STATE_UNKNOWN;
	if (!vm.known)
		return;
	s->state = *vm.state;
	/* None while the VM is closed. */
	thread = *vm.current;
	if (!thread)
		return;
	compiled = s->state >= 0 || s->state == -1 - PROFILE_STATE_GC || s->state == -1 - PROFILE_STATE_EXIT;
	base = compiled && *vm.trace_base ? *vm.trace_base : thread->base;
	if (compiled && s->state != -1 - PROFILE_STATE_EXIT && code_high && !in_trace)
		find_return(s, sp, code_low, code_high);
	/* The list of prototypes is being changed. */
	if (emit_held())
		return;
	if (s->state < 0 && s->state != -1 - PROFILE_STATE_C && base == thread->base) {
		if (vm_is_interpreter(s->pc)) {
			add_place(s, (const uint32_t *)registers[REG_RBX]);
			base = (const uint64_t *)registers[REG_RDX];
		} else {
			saved_place(s, thread, sp);
		}
	}
	find_calls(s, thread, base, in_trace || vm_is_interpreter(s->pc));
}
