/* prototypes.c - the functions of the script, by the address of their bytecode. */
#include "tools/trace-run/prototypes.h"
#include <stdlib.h>
#include <string.h>
#include "formats/profile.h"
#include "lib/base/mem.h"
#include "tools/trace-run/emit.h"

/* Those that live, ascending by address.  What lies where a new one lies is dead. */
struct known { uintptr_t start, end; uint32_t serial; uint8_t *operands; };
static VEC(struct known) known;
static uint32_t last_serial;

/* The first that ends behind the address.  Most questions are about the function of the question before. */
static size_t find(uintptr_t address)
{
	static volatile size_t last;
	size_t low = 0, high = known.n, at = last;

	if (at < high && known.v[at].start <= address && address < known.v[at].end)
		return at;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (known.v[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	last = low;
	return low;
}

static void insert(struct known new)
{
	size_t at = find(new.start), end = at;

	while (end < known.n && known.v[end].start < new.end)
		free(known.v[end++].operands);
	if (end == at) {
		vec_reserve(&known, known.n + 1);
		memmove(known.v + at + 1, known.v + at, (known.n - at) * sizeof *known.v);
		known.n++;
	} else {
		memmove(known.v + at + 1, known.v + end, (known.n - end) * sizeof *known.v);
		known.n -= end - at - 1;
	}
	known.v[at] = new;
}

static void write_row(const struct vm_prototype *p, uint32_t serial)
{
	static VEC(int64_t) numbers;
	int32_t line = p->first_line;

	numbers.n = 0;
	vec_push(&numbers, p->first_line);
	vec_push(&numbers, p->lines);
	for (uint32_t i = 0; p->line_info && i < p->size; i++) {
		vec_push(&numbers, vm_line(p, i) - line);
		line = vm_line(p, i);
	}
	emit_row(&(struct row){
		.type = PROFILE_PROTOTYPE, .address = (uintptr_t)vm_bytecode(p), .information = p->size, .count = serial,
		.name = vm_chunk_name(p), .numbers = numbers.v, .n = numbers.n, .can_wait = true,
	});
}

void prototypes_add(const struct vm_prototype *p)
{
	const uint32_t *code = vm_bytecode(p);
	struct known new = { (uintptr_t)code, (uintptr_t)(code + p->size), 0, NULL };

	if (!emit_is_open() || !p->size)
		return;
	emit_hold();
	new.serial = ++last_serial;
	new.operands = xmalloc(p->size);
	for (uint32_t i = 0; i < p->size; i++)
		new.operands[i] = (uint8_t)(code[i] >> 8);
	insert(new);
	write_row(p, new.serial);
	emit_release();
}

static bool is_known(const struct vm_prototype *p)
{
	size_t at = find((uintptr_t)vm_bytecode(p));

	return at < known.n && known.v[at].start == (uintptr_t)vm_bytecode(p);
}

void prototypes_need(const struct vm_prototype *p)
{
	VEC(const struct vm_prototype *) left = {0};

	if (!vm.known || !p || is_known(p))
		return;
	vec_push(&left, p);
	while (left.n) {
		const struct vm_prototype *child;

		p = left.v[--left.n];
		if (!is_known(p))
			prototypes_add(p);
		for (uint32_t i = 0; (child = vm_child(p, i)); i++)
			vec_push(&left, child);
	}
	vec_free(&left);
}

struct place prototypes_at(const uint32_t *pc)
{
	size_t at = find((uintptr_t)pc);

	if (at == known.n || (uintptr_t)pc < known.v[at].start || (uintptr_t)pc % 4)
		return (struct place){ 0, 0 };
	return (struct place){ known.v[at].serial, (uint32_t)(((uintptr_t)pc - known.v[at].start) / 4) };
}

const struct vm_prototype *prototypes_live(const uint32_t *pc)
{
	size_t at = find((uintptr_t)pc);

	if (at == known.n || (uintptr_t)pc < known.v[at].start)
		return NULL;
	return (const struct vm_prototype *)known.v[at].start - 1;
}

uint8_t prototypes_operand(const uint32_t *pc)
{
	const struct known *k = &known.v[find((uintptr_t)pc)];

	return k->operands[((uintptr_t)pc - k->start) / 4];
}
