/* machine.c - the table of machines. */
#include <elf.h>
#include "lib/machine/machine.h"

static const struct machine *const machines[] = { &machine_x86_64, &machine_mips, &machine_mipsel };

const struct machine *machine_for(unsigned e_machine, unsigned elf_class, unsigned elf_data)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i]->e_machine == e_machine && machines[i]->elf_class == elf_class && machines[i]->elf_data == elf_data)
			return machines[i];
	return NULL;
}

const char *machine_missing(unsigned e_machine, unsigned elf_class)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i]->e_machine == e_machine && machines[i]->elf_class != elf_class && machines[i]->other_class)
			return machines[i]->other_class;
	return "no back end for this machine";
}

void flow_learn(struct flow_state *s, uint32_t id, uint64_t max)
{
	unsigned i;
	for (i = 0; i < s->fact_count && s->facts[i].id != id; i++)
		;
	if (i == s->fact_count) {
		if (i == FLOW_FACTS) {		/* forget the oldest */
			for (unsigned k = 1; k < FLOW_FACTS; k++)
				s->facts[k - 1] = s->facts[k];
			i--;
		} else {
			s->fact_count++;
		}
		s->facts[i].id = id;
		s->facts[i].max = max;
	} else if (max < s->facts[i].max) {
		s->facts[i].max = max;
	}
}

uint64_t flow_known_max(const struct flow_state *s, const struct flow_value *v)
{
	uint64_t max = v->kind == FLOW_ANY ? v->max : v->kind == FLOW_ENTRY && !v->is_signed && v->width < 8
		? (UINT64_C(1) << 8 * v->width) - 1 : UINT64_MAX;
	for (unsigned i = 0; i < s->fact_count; i++)
		if (s->facts[i].id == v->id && s->facts[i].max < max)
			max = s->facts[i].max;
	return max;
}
