/* mem.h - allocation that ends the tool when memory is out, arenas, growing arrays. */
#ifndef BASE_MEM_H
#define BASE_MEM_H
#include <stddef.h>

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Gives back the memory of those pages of a file's mapping that were only read; what was written to a private one stays.  For
   passes over whole files, MEM_SLICE bytes at a time, that are not to be as large as the file. */
enum { MEM_SLICE = 1 << 20 };
void mem_unread(const void *p, size_t n);
/* The same for a mapping of which nothing was written yet: works for pages that are mapped twice, too. */
void mem_forget(const void *p, size_t n);

/* An arena: memory that is freed all at once.  Zero-initialise it. */
struct arena { struct arena_chunk *chunks; };
void *arena_alloc(struct arena *a, size_t n);		/* zeroed, aligned for any type */
char *arena_strdup(struct arena *a, const char *s);
void arena_free(struct arena *a);
void arena_reset(struct arena *a);	/* as arena_free, but keeps a chunk for the next use */

/* VEC(int) v = {0}; vec_push(&v, 3); v.v[0]; v.n; vec_free(&v). */
#define VEC(type) struct { type *v; size_t n, cap; }
#define vec_reserve(a, want) \
	((want) <= (a)->cap ? (void)0 : (void)((a)->v = vec_grow((a)->v, &(a)->cap, (want), sizeof *(a)->v)))
#define vec_push(a, x) (vec_reserve((a), (a)->n + 1), (a)->v[(a)->n++] = (x))
#define vec_free(a) (free((a)->v), (a)->v = NULL, (a)->n = (a)->cap = 0)
void *vec_grow(void *v, size_t *cap, size_t want, size_t size);
#endif
