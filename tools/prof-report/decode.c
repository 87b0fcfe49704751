/* decode.c - instructions of a block; x86 with Zydis, the fixed-width machines by their width. */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/base/mem.h"
#include "tools/prof-report/decode.h"

struct decoder {
	bool is_x86, big_endian;
	ZydisDecoder minimal, full;	/* minimal: lengths only, four times as fast */
	ZydisFormatter formatter;
};

enum { FIXED_WIDTH = 4 };

static void init_x86(struct decoder *d, bool is_64)
{
	ZydisMachineMode mode = is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
	ZydisStackWidth width = is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32;

	d->is_x86 = true;
	ZydisDecoderInit(&d->minimal, mode, width);
	ZydisDecoderEnableMode(&d->minimal, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	ZydisDecoderInit(&d->full, mode, width);
	ZydisFormatterInit(&d->formatter, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&d->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&d->formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&d->formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&d->formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
}

struct decoder *decoder_new(unsigned e_machine, bool big_endian)
{
	struct decoder *d = xcalloc(1, sizeof *d);

	d->big_endian = big_endian;
	switch (e_machine) {
	case EM_X86_64:
	case EM_386:
		init_x86(d, e_machine == EM_X86_64);
		return d;
	case EM_MIPS:
	case EM_AARCH64:
		return d;
	}
	free(d);
	return NULL;
}

void decoder_free(struct decoder *d)
{
	free(d);
}

size_t decode_length(const struct decoder *d, const uint8_t *p, size_t n)
{
	ZydisDecodedInstruction insn;

	if (!d->is_x86)
		return n >= FIXED_WIDTH ? FIXED_WIDTH : 0;
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d->minimal, NULL, p, n, &insn)) ? insn.length : 0;
}

uint32_t decode_count(const struct decoder *d, const uint8_t *p, size_t n)
{
	uint32_t count = 0;
	size_t length;

	for (; n && (length = decode_length(d, p, n)); p += length, n -= length)
		count++;
	return count;
}

static size_t fixed_text(const struct decoder *d, const uint8_t *p, size_t n, char *text, size_t size)
{
	uint32_t word;

	if (n < FIXED_WIDTH)
		return 0;
	word = d->big_endian ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
			     : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
	snprintf(text, size, ".word 0x%08" PRIx32, word);
	return FIXED_WIDTH;
}

static uint64_t branch_target(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands, uint64_t at)
{
	ZyanU64 target;

	if (!insn->operand_count_visible || operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operands[0].imm.is_relative)
		return 0;
	return ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(insn, &operands[0], at, &target)) ? target : 0;
}

size_t decode_text(const struct decoder *d, const uint8_t *p, size_t n, uint64_t at, char *text, size_t size, uint64_t *target)
{
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	*target = 0;
	if (!d->is_x86)
		return fixed_text(d, p, n, text, size);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d->full, p, n, &insn, operands)))
		return 0;
	*target = branch_target(&insn, operands, at);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&d->formatter, &insn, operands, insn.operand_count_visible, text, size, at, NULL)))
		snprintf(text, size, "(bad)");
	return insn.length;
}
