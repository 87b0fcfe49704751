/* intern.h - numbers for byte strings: equal strings have one number, from 0 on in the order they came. */
#ifndef PROF_REPORT_INTERN_H
#define PROF_REPORT_INTERN_H
#include <stdint.h>
#include "lib/base/mem.h"

struct interned { const void *bytes; uint32_t n; };
struct intern {
	VEC(struct interned) v;
	uint32_t *slots;		/* index + 1, or 0; a power of two of them */
	size_t cap;
	struct arena arena;
};

uint32_t intern(struct intern *t, const void *bytes, size_t n);
/* NUL-terminated text; NULL is "". */
uint32_t intern_text(struct intern *t, const char *s);
const char *interned_text(const struct intern *t, uint32_t number);
void intern_free(struct intern *t);
#endif
