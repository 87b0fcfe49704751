/* machine.c - x86-64: what is written into new text. */
#include <elf.h>
#include <string.h>
#include "lib/machine/x86_64/x86_64.h"
#include "runtime/blob-x86_64.h"

static void put32(uint8_t *p, uint64_t v) { for (unsigned i = 0; i < 4; i++) p[i] = v >> 8 * i; }

static uint8_t *put(uint8_t *p, const char *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}
#define PUT(p, s) put((p), (s), sizeof (s) - 1)

/* The prefixes that a direct branch keeps (bnd, hints, the data16 of a TLS call): all bytes before its opcode. */
static size_t prefixes(const uint8_t *p, const struct insn *insn)
{
	size_t n = 0;
	while (n < insn->pc_pos && (p[n] == 0x66 || p[n] == 0x67 || p[n] == 0xf2 || p[n] == 0xf3 || p[n] == 0x2e || p[n] == 0x3e || (p[n] & 0xf0) == 0x40))
		n++;
	return n;
}

static size_t branch_size(const uint8_t *p, const struct insn *insn, bool near)
{
	size_t n = prefixes(p, insn);
	switch (insn->kind) {
	case INSN_JUMP: return n + (near ? 5 : 2);
	case INSN_BRANCH: return n + (near ? 6 : 2);
	case INSN_BRANCH_SHORT: return n + (near ? 9 : 2);	/* near: over a jump, to a jump */
	case INSN_CALL: return near ? n + 5 : 0;
	case INSN_BRANCH_NEAR: return near ? insn->len : 0;
	default: return 0;
	}
}

static void branch(uint8_t *out, uint64_t at, const uint8_t *p, const struct insn *insn, bool near, uint64_t target)
{
	size_t size = branch_size(p, insn, near), n = prefixes(p, insn);
	uint8_t *o = put(out, (const char *)p, n);
	if (insn->kind == INSN_BRANCH_NEAR) {
		memcpy(out, p, insn->len);
	} else if (!near) {
		*o++ = insn->kind == INSN_JUMP ? 0xeb : insn->kind == INSN_BRANCH_SHORT ? p[n] : 0x70 | (p[insn->pc_pos - 1] & 15);
		*o = target - (at + size);
		return;
	} else if (insn->kind == INSN_BRANCH_SHORT) {
		o = put(o, (const char[]){ (char)p[n], 2, (char)0xeb, 5 }, 4);
		*o = 0xe9;
	} else if (insn->kind == INSN_BRANCH) {
		*o++ = 0x0f;
		*o = 0x80 | (p[insn->pc_pos - 1] & 15);
	} else {
		*o = insn->kind == INSN_JUMP ? 0xe9 : 0xe8;
	}
	put32(out + size - 4, target - (at + size));
}

static bool pc_field(uint8_t *p, uint64_t at, const struct insn *insn, uint64_t target)
{
	int64_t distance = (int64_t)(target - (at + insn->len));
	if (distance != (int32_t)distance || insn->pc_size != 4)
		return false;
	put32(p + insn->pc_pos, distance);
	return true;
}

static void jump(uint8_t *out, uint64_t at, uint64_t target)
{
	*out = 0xe9;
	put32(out + 1, target - (at + 5));
}

/* incq counter(%rip), with the flags kept in rax by lahf and seto where they are live: one instruction always does the
   counting, so that a signal between two of ours loses nothing. */
static size_t count_size(struct count_how how)
{
	static const uint8_t size[COUNT_FORMS] = { 7, 14, 20, 29 };
	return size[how.form] + how.atomic;
}

static void count(uint8_t *out, uint64_t at, uint64_t counter, struct count_how how)
{
	uint8_t *o = out;
	unsigned high = how.reg >> 3, low = how.reg & 7;
	if (how.form == COUNT_FLAGS_FREE_REG)
		o = put(o, (const char[]){ (char)(0x48 | high), (char)0x89, (char)(0xc0 | low) }, 3);	/* mov %rax,%reg */
	else if (how.form == COUNT_FLAGS_STACK)
		o = PUT(o, "\x48\x8d\x64\x24\x80\x50");		/* lea -128(%rsp),%rsp; push %rax */
	if (how.form != COUNT_PLAIN)
		o = PUT(o, "\x9f\x0f\x90\xc0");			/* lahf; seto %al */
	if (how.atomic)
		*o++ = 0xf0;
	o = PUT(o, "\x48\xff\x05");
	put32(o, counter - (at + (o - out) + 4));
	o += 4;
	if (how.form != COUNT_PLAIN)
		o = PUT(o, "\x04\x7f\x9e");			/* add $127,%al; sahf */
	if (how.form == COUNT_FLAGS_FREE_REG)
		put(o, (const char[]){ (char)(0x48 | high << 2), (char)0x89, (char)(0xc0 | low << 3) }, 3);	/* mov %reg,%rax */
	else if (how.form == COUNT_FLAGS_STACK)
		PUT(o, "\x58\x48\x8d\xa4\x24\x80\x00\x00\x00");	/* pop %rax; lea 128(%rsp),%rsp */
}

static struct count_how count_plan(const struct count_where *where)
{
	struct count_how how = { .form = COUNT_PLAIN, .atomic = where->atomic };
	regset dead = where->dead;
	if (where->flags_dead)
		return how;
	if (dead & 1) {
		how.form = COUNT_FLAGS_FREE_ACC;
	} else if (dead & ~(regset)0x10) {
		how.form = COUNT_FLAGS_FREE_REG;
		how.reg = __builtin_ctzll(dead & ~(regset)0x10);
	} else {
		how.form = COUNT_FLAGS_STACK;
	}
	return how;
}

static unsigned count_stack(struct count_how how, unsigned *from, unsigned *to)
{
	if (how.form != COUNT_FLAGS_STACK)
		return 0;
	*from = 5;
	*to = count_size(how);
	return 128;
}

static void pad(uint8_t *out, size_t n)
{
	static const char nops[][10] = {
		"", "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00", "\x66\x0f\x1f\x44\x00\x00",
		"\x0f\x1f\x80\x00\x00\x00\x00", "\x0f\x1f\x84\x00\x00\x00\x00\x00", "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
	};
	for (size_t k; n; n -= k, out += k) {
		k = n < 9 ? n : 9;
		memcpy(out, nops[k], k);
	}
}

static void trap(uint8_t *out, size_t n) { memset(out, 0xcc, n); }

/* mov alive(%rip),%rcx; jrcxz 1f; jmp 2f; 1: jmp stub; 2:   (rcx is dead behind syscall; no flag is touched) */
static void fork_check(uint8_t *out, uint64_t at, uint64_t alive, uint64_t stub)
{
	uint8_t *o = PUT(out, "\x48\x8b\x0d");
	put32(o, alive - (at + 7));
	PUT(o + 4, "\xe3\x02\xeb\x05");
	jump(out + 11, at + 11, stub);
}

/* lea -128(%rsp),%rsp; call common; lea 128(%rsp),%rsp; jmp back */
static void fork_stub(uint8_t *out, uint64_t at, uint64_t common, uint64_t back)
{
	uint8_t *o = PUT(out, "\x48\x8d\x64\x24\x80\xe8");
	put32(o, common - (at + 10));
	PUT(o + 4, "\x48\x8d\xa4\x24\x80\x00\x00\x00");
	jump(out + 18, at + 18, back);
}

static uint8_t *lea(uint8_t *o, const char *opcode, const uint8_t *out, uint64_t at, uint64_t target)
{
	o = put(o, opcode, 3);
	put32(o, target - (at + (o - out) + 4));
	return o + 4;
}

/* Saves every caller-saved register and the flags, aligns the stack, calls child(private, header). */
static void fork_common(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t child)
{
	uint8_t *o = PUT(out, "\x9c\x50\x51\x52\x56\x57\x41\x50\x41\x51\x41\x52\x41\x53\x55\x48\x89\xe5\x48\x83\xe4\xf0\xfc");
	o = lea(o, "\x48\x8d\x3d", out, at, private_page);
	o = lea(o, "\x48\x8d\x35", out, at, header);
	*o++ = 0xe8;
	put32(o, child - (at + (o - out) + 4));
	PUT(o + 4, "\x48\x89\xec\x5d\x41\x5b\x41\x5a\x41\x59\x41\x58\x5f\x5e\x5a\x59\x58\x9d\xc3");
}

/* Keeps rdi, rsi, rdx (argc, argv, envp) and the alignment of the stack at entry. */
static void init_stub(uint8_t *out, uint64_t at, uint64_t private_page, uint64_t header, uint64_t init, uint64_t next)
{
	uint8_t *o = PUT(out, "\xf3\x0f\x1e\xfa\x57\x56\x52");	/* endbr64; push rdi, rsi, rdx */
	o = lea(o, "\x48\x8d\x3d", out, at, private_page);
	o = lea(o, "\x48\x8d\x35", out, at, header);
	*o++ = 0xe8;
	put32(o, init - (at + (o - out) + 4));
	o = PUT(o + 4, "\x5a\x5e\x5f");
	if (next)
		jump(o, at + (o - out), next);
	else
		*o = 0xc3;
}

static const char *const count_form_names[COUNT_FORMS] = { "incq", "flags kept in dead rax", "flags kept, rax in a dead register", "flags and rax kept on the stack" };

static const struct blob blob = { runtime_blob_x86_64, sizeof runtime_blob_x86_64, RUNTIME_X86_64_INIT, RUNTIME_X86_64_CHILD };

const struct machine machine_x86_64 = {
	.name = "x86_64", .other_class = "x32 code is not handled", .e_machine = EM_X86_64, .elf_class = ELFCLASS64, .elf_data = ELFDATA2LSB, .page = 4096, .word = 8, .short_reach = 127,
	.relative = R_X86_64_RELATIVE, .irelative = R_X86_64_IRELATIVE, .absolute = R_X86_64_64,
	.jump_slot = R_X86_64_JUMP_SLOT,
	.insn_align = 1, .spring_size = 5, .mark_size = 4, .regs = 16, .stack_reg = 4, .count_form_names = count_form_names,
	.decode = x86_64_decode, .uses = x86_64_uses,
	.branch_size = branch_size, .branch = branch, .pc_field = pc_field, .jump = jump,
	.count_size = count_size, .count = count, .count_plan = count_plan, .count_stack = count_stack,
	.pad = pad, .trap = trap,
	.fork_check_size = 16, .fork_stub_size = 23, .fork_common_size = 61, .init_stub_size = 34,
	.may_fork = x86_64_may_fork, .fork_check = fork_check, .fork_stub = fork_stub, .fork_common = fork_common, .init_stub = init_stub,
	.runtime = &blob,
	.flow = x86_64_flow, .flow_edge = x86_64_flow_edge, .flow_jump = x86_64_flow_jump,
};
