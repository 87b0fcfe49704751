/* mem.c - allocation that ends the tool when memory is out. */
#include "lib/base/mem.h"
#include "lib/base/msg.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK = 16384 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	_Alignas(max_align_t) unsigned char bytes[];
};

static void *checked(void *p)
{
	if (!p)
		msg_die(NULL, "out of memory");
	return p;
}

void *xmalloc(size_t n)
{
	return checked(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(n && size ? calloc(n, size) : calloc(1, 1));
}

void *xrealloc(void *p, size_t n)
{
	return checked(realloc(p, n ? n : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xasprintf(const char *format, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, format);
	if (vasprintf(&s, format, ap) < 0)
		s = NULL;
	va_end(ap);
	return checked(s);
}

static struct arena_chunk *new_chunk(struct arena *a, size_t n)
{
	size_t size = n > CHUNK ? n : CHUNK;
	struct arena_chunk *c;

	if (size > SIZE_MAX - sizeof *c)
		msg_die(NULL, "out of memory");
	c = xmalloc(sizeof *c + size);
	c->used = 0;
	c->size = size;
	c->next = a->chunks;
	a->chunks = c;
	return c;
}

void *arena_alloc(struct arena *a, size_t n)
{
	const size_t align = _Alignof(max_align_t);
	struct arena_chunk *c = a->chunks;
	void *p;

	if (n > SIZE_MAX - align)
		msg_die(NULL, "out of memory");
	n = (n + align - 1) & ~(align - 1);
	if (!c || n > c->size - c->used)
		c = new_chunk(a, n);
	p = c->bytes + c->used;
	c->used += n;
	return memset(p, 0, n);
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(arena_alloc(a, n), s, n);
}

void arena_free(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
}

void arena_reset(struct arena *a)
{
	while (a->chunks && (a->chunks->next || a->chunks->size > CHUNK)) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
	if (a->chunks)
		a->chunks->used = 0;
}

void *vec_grow(void *v, size_t *cap, size_t want, size_t size)
{
	size_t n = *cap ? *cap : 8;

	while (n < want)
		n = n > SIZE_MAX / 2 ? want : n * 2;
	if (n > SIZE_MAX / size)
		msg_die(NULL, "out of memory");
	*cap = n;
	return xrealloc(v, n * size);
}

static void advise(const void *p, size_t n, int advice)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)p & -page, to = ((uintptr_t)p + n) & -page;
	if (to > from)
		madvise((void *)from, to - from, advice);	/* a hint: whether it was taken does not matter */
}

void mem_unread(const void *p, size_t n) { advise(p, n, MADV_PAGEOUT); }
void mem_forget(const void *p, size_t n) { advise(p, n, MADV_DONTNEED); }
