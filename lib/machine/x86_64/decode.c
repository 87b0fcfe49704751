/* decode.c - x86-64 instructions through Zydis.  Every instruction is decoded in Zydis' minimal mode; what does not change
   from one instruction to the next of the same opcode (its kind, its effect on the flags) is taken from one full decode a form and kept. */
#include <string.h>
#include <Zydis/Zydis.h>
#include "lib/machine/x86_64/x86_64.h"

#define COUNT_FLAGS (ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_PF)

static ZydisDecoder minimal, full;

static void __attribute__((constructor)) init(void)
{
	ZydisDecoderInit(&minimal, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&minimal, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	ZydisDecoderInit(&full, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

static unsigned kind_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	bool direct = in->operand_count_visible && op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_NOP: case ZYDIS_MNEMONIC_FNOP: return INSN_NOP;
	case ZYDIS_MNEMONIC_JMP: return direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
	case ZYDIS_MNEMONIC_CALL: return direct ? INSN_CALL : INSN_CALL_INDIRECT;
	case ZYDIS_MNEMONIC_RET: case ZYDIS_MNEMONIC_IRET: case ZYDIS_MNEMONIC_IRETD: case ZYDIS_MNEMONIC_IRETQ: return INSN_RETURN;
	case ZYDIS_MNEMONIC_SYSCALL: return INSN_SYSCALL;
	case ZYDIS_MNEMONIC_UD0: case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_UD2: case ZYDIS_MNEMONIC_HLT: return INSN_TRAP;
	case ZYDIS_MNEMONIC_JCXZ: case ZYDIS_MNEMONIC_JECXZ: case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_LOOP: case ZYDIS_MNEMONIC_LOOPE: case ZYDIS_MNEMONIC_LOOPNE: return INSN_BRANCH_SHORT;
	case ZYDIS_MNEMONIC_XBEGIN: return INSN_BRANCH_NEAR;
	default: return in->meta.category == ZYDIS_CATEGORY_COND_BR ? INSN_BRANCH : INSN_OTHER;
	}
}

static bool may_leave_flags(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	switch (in->mnemonic) {		/* a count of 0 writes no flag */
	case ZYDIS_MNEMONIC_SHL: case ZYDIS_MNEMONIC_SHR: case ZYDIS_MNEMONIC_SAR: case ZYDIS_MNEMONIC_SHLD: case ZYDIS_MNEMONIC_SHRD:
		for (unsigned i = 1; i < in->operand_count_visible; i++)
			if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && op[i].reg.value == ZYDIS_REGISTER_CL)
				return true;
		return false;
	default:
		return (in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
	}
}

/* Kind in bits 0-4, insn flags from bit 8 on, bit 15: known. */
static uint16_t classify(const uint8_t *p, size_t n)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&full, p, n, &in, op)))
		return 0;
	unsigned flags = 0;
	if (in.cpu_flags) {
		uint32_t writes = in.cpu_flags->modified | in.cpu_flags->set_0 | in.cpu_flags->set_1 | in.cpu_flags->undefined;
		if (in.cpu_flags->tested & COUNT_FLAGS)
			flags |= INSN_READS_FLAGS;
		else if ((writes & COUNT_FLAGS) == COUNT_FLAGS && !may_leave_flags(&in, op))
			flags |= INSN_KILLS_FLAGS;
	}
	if (in.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		flags |= INSN_MARK;
	if (in.mnemonic == ZYDIS_MNEMONIC_LEA)
		flags |= INSN_ADDRESS;
	return 0x8000 | flags << 8 | kind_of(&in, op);
}

static uint16_t classes[1 << 21];

static unsigned prefix_group(const ZydisDecodedInstruction *in)
{
	unsigned group = 0;
	switch (in->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_VEX: return in->raw.vex.pp;
	case ZYDIS_INSTRUCTION_ENCODING_EVEX: return in->raw.evex.pp;
	case ZYDIS_INSTRUCTION_ENCODING_XOP: return in->raw.xop.pp;
	default:
		for (unsigned i = 0; i < in->raw.prefix_count; i++) {
			unsigned v = in->raw.prefixes[i].value;
			if (v == 0xf3 || v == 0xf2)
				group = v == 0xf3 ? 2 : 3;
			else if (v == 0x66 && !group)
				group = 1;
		}
		return group;
	}
}

static uint16_t class_of(const ZydisDecodedInstruction *in, const uint8_t *p)
{
	bool modrm = (in->attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
	if (modrm && in->opcode_map == ZYDIS_OPCODE_MAP_0F && (in->opcode == 0x01 || in->opcode == 0x1e))
		return classify(p, in->length);		/* modrm.rm tells the instruction too */
	unsigned key = prefix_group(in) << 19 | (unsigned)in->encoding << 16 | (unsigned)in->opcode_map << 12 | (unsigned)in->opcode << 4;
	if (modrm)
		key |= in->raw.modrm.reg << 1 | (in->raw.modrm.mod == 3);
	if (!classes[key])
		classes[key] = classify(p, in->length);
	uint16_t class = classes[key];
	/* shifts by an immediate whose used bits are 0 */
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (in->opcode | 1) == 0xc1 && (in->raw.imm[0].value.u & 31) == 0)
		class &= ~(INSN_KILLS_FLAGS << 8);
	return class;
}

bool x86_64_decode(const uint8_t *p, size_t n, uint64_t at, struct insn *insn)
{
	ZydisDecodedInstruction in;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&minimal, NULL, p, n, &in)))
		return false;
	uint16_t class = class_of(&in, p);
	if (!class)
		return false;
	insn->at = at;
	insn->len = in.length;
	insn->kind = class & 31;
	insn->flags = class >> 8 & 0x7f;
	insn->pc_pos = insn->pc_size = 0;
	insn->target = 0;
	if (p[0] == 0xf0)
		insn->flags |= INSN_LOCK;
	if (in.raw.imm[0].is_relative) {
		insn->pc_pos = in.raw.imm[0].offset;
		insn->pc_size = in.raw.imm[0].size / 8;
		insn->target = at + in.length + (uint64_t)in.raw.imm[0].value.s;
		if (insn->pc_size == 2)		/* jmp with a 16-bit operand: cuts the instruction pointer */
			return false;
	} else if ((in.attributes & ZYDIS_ATTRIB_HAS_MODRM) && in.raw.modrm.mod == 0 && in.raw.modrm.rm == 5 && in.raw.disp.size == 32) {
		if (in.address_width != 64)
			return false;
		insn->pc_pos = in.raw.disp.offset;
		insn->pc_size = 4;
		insn->target = at + in.length + (uint64_t)in.raw.disp.value;
	} else {
		insn->flags &= ~INSN_ADDRESS;
	}
	return true;
}

static int gpr(ZydisRegister r)
{
	ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	return wide >= ZYDIS_REGISTER_RAX && wide <= ZYDIS_REGISTER_R15 ? (int)(wide - ZYDIS_REGISTER_RAX) : -1;
}

static void add(regset *set, ZydisRegister r)
{
	int i = gpr(r);
	if (i >= 0)
		*set |= (regset)1 << i;
}

bool x86_64_uses(const uint8_t *p, size_t n, regset *reads, regset *writes)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&full, p, n, &in, op)))
		return false;
	*reads = *writes = 0;
	bool zeroing = (in.mnemonic == ZYDIS_MNEMONIC_XOR || in.mnemonic == ZYDIS_MNEMONIC_SUB) && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER
		&& op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value && op[0].size >= 32;
	for (unsigned i = 0; i < in.operand_count; i++) {
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
			add(reads, op[i].mem.base);
			add(reads, op[i].mem.index);
		} else if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			bool sure = (op[i].actions & ZYDIS_OPERAND_ACTION_WRITE) && op[i].size >= 32;
			if (!zeroing && ((op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			    || ((op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && !sure)))
				add(reads, op[i].reg.value);	/* a partial or conditional write keeps the rest */
			if (sure)
				add(writes, op[i].reg.value);
		}
	}
	return true;
}

bool x86_64_full(const uint8_t *p, size_t n, ZydisDecodedInstruction *in, ZydisDecodedOperand *op)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&full, p, n, in, op));
}

/* The number in eax at the system call that ends the block, where a mov in the block sets it; -1: not known. */
static int64_t syscall_number(const uint8_t *p, size_t n)
{
	int64_t number = -1;
	struct insn insn;
	for (size_t at = 0; at < n; at += insn.len) {
		regset reads, writes;
		if (!x86_64_decode(p + at, n - at, at, &insn) || !x86_64_uses(p + at, n - at, &reads, &writes))
			return -1;
		if (insn.kind == INSN_SYSCALL)
			break;
		if (p[at] == 0xb8 && insn.len == 5) {
			uint32_t v;
			memcpy(&v, p + at + 1, 4);
			number = v;
		} else if (insn.len == 2 && p[at] == 0x31 && p[at + 1] == 0xc0) {
			number = 0;
		} else if ((reads | writes) & 1) {
			ZydisDecodedInstruction in;
			ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
			x86_64_full(p + at, n - at, &in, op);
			for (unsigned i = 0; i < in.operand_count; i++)
				if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && gpr(op[i].reg.value) == 0
				    && (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
					number = -1;
		}
	}
	return number;
}

bool x86_64_may_fork(const uint8_t *block, size_t n)
{
	int64_t number = syscall_number(block, n);
	return number == -1 || number == 56 || number == 57 || number == 58 || number == 435;	/* clone, fork, vfork, clone3 */
}
