/* prototypes.c - the functions of the script, by the address of their bytecode. */
#include "tools/trace-run/prototypes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/profile.h"
#include "lib/base/mem.h"
#include "tools/trace-run/emit.h"

enum { BLOCK = 256 };

struct known { uintptr_t start, end; uint32_t serial, name; int32_t line; uint8_t *operands; };
/* Those that live, ascending by address, in blocks that are ascending, too: programs have a hundred thousand functions.
   What lies where a new one lies is dead. */
struct block { size_t n; struct known v[BLOCK]; };
static VEC(struct block *) blocks;
static struct known *volatile last;	/* most questions are about the function of the question before */
static uint32_t last_serial;

/* The first block that ends behind the address. */
static size_t find_block(uintptr_t address)
{
	size_t low = 0, high = blocks.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct block *b = blocks.v[middle];

		if (b->v[b->n - 1].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first in the block that ends behind the address. */
static size_t find_in(const struct block *b, uintptr_t address)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->v[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The one that has the address, or NULL. */
static struct known *find(uintptr_t address)
{
	struct known *k = last;
	size_t at;

	if (k && k->start <= address && address < k->end)
		return k;
	at = find_block(address);
	if (at == blocks.n)
		return NULL;
	k = &blocks.v[at]->v[find_in(blocks.v[at], address)];
	if (k->start > address)
		return NULL;
	last = k;
	return k;
}

static void remove_block(size_t at)
{
	free(blocks.v[at]);
	memmove(blocks.v + at, blocks.v + at + 1, (--blocks.n - at) * sizeof *blocks.v);
}

/* What is dead. */
static void remove_from(uintptr_t start, uintptr_t end)
{
	for (size_t at; (at = find_block(start)) < blocks.n;) {
		struct block *b = blocks.v[at];
		size_t first = find_in(b, start), behind = first;

		while (behind < b->n && b->v[behind].start < end)
			free(b->v[behind++].operands);
		if (behind == first)
			return;
		memmove(b->v + first, b->v + behind, (b->n - behind) * sizeof *b->v);
		b->n -= behind - first;
		if (!b->n)
			remove_block(at);
	}
}

static void insert_block(size_t at, struct block *b)
{
	vec_reserve(&blocks, blocks.n + 1);
	memmove(blocks.v + at + 1, blocks.v + at, (blocks.n++ - at) * sizeof *blocks.v);
	blocks.v[at] = b;
}

static void split(size_t at)
{
	struct block *b = blocks.v[at], *half = xmalloc(sizeof *half);

	half->n = b->n / 2;
	b->n -= half->n;
	memcpy(half->v, b->v + b->n, half->n * sizeof *b->v);
	insert_block(at + 1, half);
}

static void insert(struct known new)
{
	struct block *b;
	size_t at, i;

	last = NULL;
	remove_from(new.start, new.end);
	at = find_block(new.start);
	if (at == blocks.n && blocks.n)
		at--;
	if (!blocks.n)
		insert_block(0, xcalloc(1, sizeof *b));
	if (blocks.v[at]->n == BLOCK) {
		split(at);
		at += new.start >= blocks.v[at + 1]->v[0].start;
	}
	b = blocks.v[at];
	i = find_in(b, new.start);
	memmove(b->v + i + 1, b->v + i, (b->n++ - i) * sizeof *b->v);
	b->v[i] = new;
}

static void write_row(const struct vm_prototype *p, uint32_t serial)
{
	static VEC(int64_t) numbers;
	bool builtin = vm_is_builtin(p);
	int32_t line = builtin ? 0 : p->first_line;
	char name[64];

	numbers.n = 0;
	vec_push(&numbers, line);
	vec_push(&numbers, builtin ? 0 : p->lines);
	if (builtin)
		snprintf(name, sizeof name, "=[builtin:%s]", vm_chunk_name(p));
	for (uint32_t i = 0; p->line_info && i < p->size; i++) {
		vec_push(&numbers, vm_line(p, i) - line);
		line = vm_line(p, i);
	}
	emit_row(&(struct row){
		.type = PROFILE_PROTOTYPE, .address = (uintptr_t)vm_bytecode(p), .information = p->size, .count = serial,
		.name = builtin ? name : vm_chunk_name(p), .numbers = numbers.v, .n = numbers.n, .can_wait = true,
	});
}

void prototypes_add(const struct vm_prototype *p)
{
	const uint32_t *code = vm_bytecode(p);
	struct known new = { (uintptr_t)code, (uintptr_t)(code + p->size), 0, vm_name_id(p), p->first_line, NULL };

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

/* Another may lie where a dead one lay. */
static bool is_known(const struct vm_prototype *p)
{
	uintptr_t start = (uintptr_t)vm_bytecode(p);
	const struct known *k = find(start);

	return k && k->start == start && k->end - start == 4 * (uintptr_t)p->size && k->line == p->first_line && k->name == vm_name_id(p);
}

void prototypes_need(const struct vm_prototype *p)
{
	VEC(const struct vm_prototype *) left = {0};

	if (!vm.known || !p || is_known(p))
		return;
	vec_push(&left, p);
	while (left.n) {
		const struct vm_prototype *child;
		uint32_t at = 0;

		p = left.v[--left.n];
		if (!is_known(p))
			prototypes_add(p);
		while ((child = vm_child(p, &at)))
			vec_push(&left, child);
	}
	vec_free(&left);
}

struct place prototypes_at(const uint32_t *pc)
{
	const struct known *k = find((uintptr_t)pc);

	if (!k || (uintptr_t)pc % 4)
		return (struct place){ 0, 0 };
	return (struct place){ k->serial, (uint32_t)(((uintptr_t)pc - k->start) / 4) };
}

bool prototypes_bounds(const uint32_t *pc, const uint32_t **start, const uint32_t **end)
{
	const struct known *k = find((uintptr_t)pc);

	if (!k || (uintptr_t)pc % 4)
		return false;
	*start = (const uint32_t *)k->start;
	*end = (const uint32_t *)k->end;
	return true;
}

const struct vm_prototype *prototypes_live(const uint32_t *pc)
{
	const struct known *k = find((uintptr_t)pc);
	const struct vm_prototype *p = k ? (const struct vm_prototype *)k->start - 1 : NULL;
	struct vm_prototype copy;

	if (!p || vm_peek(p, &copy, sizeof copy) != sizeof copy || copy.size != (k->end - k->start) / 4 || copy.first_line != k->line || !vm_is_prototype(&copy))
		return NULL;
	return p;
}

uint8_t prototypes_operand(const uint32_t *pc)
{
	const struct known *k = find((uintptr_t)pc);

	return k ? k->operands[((uintptr_t)pc - k->start) / 4] : 0;
}
