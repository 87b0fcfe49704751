/* cfa.c - where the canonical frame address is at one place of a function: the part of its call frame instructions that says so. */
#include "lib/elf/frames.h"

enum { DEPTH = 16 };
struct cfa_rule { uint64_t reg; int64_t offset; bool known; };

/* Passes over the operands of an instruction that says nothing of the CFA. */
static bool pass(const char *kinds, const uint8_t **p, const uint8_t *end)
{
	uint64_t u;
	int64_t s;
	for (; *kinds; kinds++) {
		if (*kinds == 'u' ? !frame_uleb(p, end, &u) : *kinds == 's' ? !frame_sleb(p, end, &s)
		    : !frame_uleb(p, end, &u) || u > (size_t)(end - *p))
			return false;
		if (*kinds == 'b')
			*p += u;
	}
	return true;
}

static const char *other_operands(uint8_t op)
{
	switch (op) {
	case 0x00: case 0x2d: return "";
	case 0x06: case 0x07: case 0x08: case 0x2e: return "u";
	case 0x05: case 0x09: case 0x14: case 0x2f: return "uu";
	case 0x11: case 0x12: case 0x13: case 0x15: return op == 0x13 ? "s" : "us";
	case 0x10: case 0x16: return "ub";
	default: return NULL;
	}
}

/* One program up to the address stop; false: it cannot be read. */
static bool run(const struct object *o, const struct frame_cie *cie, const uint8_t *p, size_t size, uint64_t loc, uint64_t stop, struct cfa_rule *now)
{
	struct cfa_rule stack[DEPTH];
	const uint8_t *end = p + size;
	unsigned depth = 0;
	while (p < end && loc <= stop) {
		uint8_t op = *p++;
		uint64_t u, step = 0;
		if (op >> 6 == 1) {
			step = op & 63;
		} else if (op >> 6 == 2) {
			if (!pass("u", &p, end))
				return false;
		} else if (op >> 6 == 3) {
			continue;
		} else if (op >= 2 && op <= 4) {
			size_t n = (size_t)1 << (op - 2);
			if ((size_t)(end - p) < n)
				return false;
			step = object_word(o, p, (unsigned)n);
			p += n;
		} else if (op == 0x0a) {
			if (depth == DEPTH)
				return false;
			stack[depth++] = *now;
		} else if (op == 0x0b) {
			if (!depth)
				return false;
			*now = stack[--depth];
		} else if (op == 0x0c) {
			if (!frame_uleb(&p, end, &now->reg) || !frame_uleb(&p, end, &u))
				return false;
			now->offset = (int64_t)u;
			now->known = true;
		} else if (op == 0x0d) {
			if (!frame_uleb(&p, end, &now->reg))
				return false;
		} else if (op == 0x0e) {
			if (!frame_uleb(&p, end, &u))
				return false;
			now->offset = (int64_t)u;
		} else if (op == 0x0f) {
			if (!pass("b", &p, end))
				return false;
			now->known = false;
		} else {
			const char *kinds = other_operands(op);
			if (!kinds || !pass(kinds, &p, end))
				return false;
		}
		if (step)
			loc += step * cie->code_align;
	}
	return true;
}

bool frames_cfa(const struct frames *f, const struct object *o, const struct frame_fde *fde, uint64_t at, int64_t *depth)
{
	const struct frame_cie *cie = &f->cies[fde->cie];
	struct cfa_rule entry = { 0 }, now;
	if (!run(o, cie, cie->insns, cie->insns_size, 0, 0, &entry) || !entry.known)
		return false;
	now = entry;
	if (!run(o, cie, fde->insns, fde->insns_size, fde->start, at, &now) || !now.known || now.reg != entry.reg)
		return false;
	*depth = now.offset - entry.offset;
	return true;
}
