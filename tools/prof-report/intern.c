/* intern.c - an open hash table from byte strings to small numbers. */
#include "tools/prof-report/intern.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "lib/base/msg.h"

enum { FIRST = 1024 };

static size_t slot_of(const struct intern *t, const void *bytes, size_t n)
{
	size_t at = XXH3_64bits(bytes, n) & (t->cap - 1);

	while (t->slots[at]) {
		const struct interned *i = &t->v.v[t->slots[at] - 1];

		if (i->n == n && !memcmp(i->bytes, bytes, n))
			break;
		at = (at + 1) & (t->cap - 1);
	}
	return at;
}

static void grow(struct intern *t)
{
	free(t->slots);
	t->cap = t->cap ? 2 * t->cap : FIRST;
	t->slots = xcalloc(t->cap, sizeof *t->slots);
	for (size_t i = 0; i < t->v.n; i++)
		t->slots[slot_of(t, t->v.v[i].bytes, t->v.v[i].n)] = (uint32_t)i + 1;
}

uint32_t intern(struct intern *t, const void *bytes, size_t n)
{
	size_t at;
	void *copy;

	bytes = n ? bytes : "";
	if (2 * (t->v.n + 1) > t->cap)
		grow(t);
	at = slot_of(t, bytes, n);
	if (t->slots[at])
		return t->slots[at] - 1;
	if (t->v.n >= UINT32_MAX - 1 || n > UINT32_MAX)
		msg_die(NULL, "too many different things in the profile");
	copy = arena_alloc(&t->arena, n ? n : 1);
	memcpy(copy, bytes, n);
	vec_push(&t->v, ((struct interned){ copy, (uint32_t)n }));
	t->slots[at] = (uint32_t)t->v.n;
	return (uint32_t)t->v.n - 1;
}

uint32_t intern_text(struct intern *t, const char *s)
{
	s = s ? s : "";
	return intern(t, s, strlen(s) + 1);
}

const char *interned_text(const struct intern *t, uint32_t number)
{
	return t->v.v[number].bytes;
}

void intern_free(struct intern *t)
{
	vec_free(&t->v);
	free(t->slots);
	arena_free(&t->arena);
	*t = (struct intern){ .slots = NULL };
}
