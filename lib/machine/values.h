/* values.h - for the flow functions of back ends: ids of values, what the stack holds. */
#ifndef MACHINE_VALUES_H
#define MACHINE_VALUES_H
#include "lib/machine/machine.h"

enum { FLOW_NO_SLOT = -1 };

static inline uint32_t mix(uint32_t a, uint64_t b)
{
	uint64_t h = (a + UINT64_C(0x9e3779b97f4a7c15)) ^ b * UINT64_C(0xbf58476d1ce4e5b9);
	h ^= h >> 29;
	h *= UINT64_C(0x94d049bb133111eb);
	return (h ^ h >> 32) | 1;
}

static inline struct flow_value any(const struct insn *insn, unsigned salt, uint64_t max)
{
	return (struct flow_value){ .kind = FLOW_ANY, .id = mix((uint32_t)insn->at, salt), .max = max };
}

/* Something made of these values, which may have come from a table. */
static inline struct flow_value made_of(const struct insn *insn, unsigned salt, uint64_t max, const struct flow_value *x, const struct flow_value *y)
{
	struct flow_value v = any(insn, salt, max);
	v.a = (x->kind == FLOW_ANY ? x->a != 0 : x->kind >= FLOW_ENTRY && x->kind <= FLOW_MANY) || (y && (y->kind == FLOW_ANY ? y->a != 0 : y->kind >= FLOW_ENTRY));
	return v;
}

static inline int slot_find(const struct flow_state *s, int64_t at)
{
	for (int i = 0; i < s->slot_count; i++)
		if (s->slots[i].at == at)
			return i;
	return FLOW_NO_SLOT;
}

static inline void slot_set(struct flow_state *s, int64_t at, const struct flow_value *v)
{
	int i = slot_find(s, at);
	if (i == FLOW_NO_SLOT && s->slot_count == FLOW_SLOTS) {	/* what is known makes way for what is known better */
		for (i = FLOW_SLOTS - 1; v->kind != FLOW_ANY && i >= 0 && s->slots[i].value.kind != FLOW_ANY; i--)
			;
		if (v->kind == FLOW_ANY || i < 0)
			return;
		s->slots[i].at = at;
	}
	if (i == FLOW_NO_SLOT) {
		i = s->slot_count++;
		s->slots[i].at = at;
	}
	s->slots[i].value = *v;
}

/* A callee or a store through a pointer may change a variable on the stack; only what the compiler spilled is safe. */
static inline void slots_forget(struct flow_state *s)
{
	for (int i = 0; i < s->slot_count; i++) {
		struct flow_value *v = &s->slots[i].value;
		if (v->kind == FLOW_ANY) {
			v->id = mix(mix(s->epoch, 3), (uint64_t)s->slots[i].at);
			v->max = UINT64_MAX;
		}
	}
}

static inline void slots_clobber(struct flow_state *s, int64_t at, unsigned bytes, unsigned width)
{
	for (int i = 0; i < s->slot_count; )
		if (s->slots[i].at < at + (int64_t)bytes && at < s->slots[i].at + width)
			s->slots[i] = s->slots[--s->slot_count];
		else
			i++;
}
#endif
