/* stack.c - finds the auxiliary vector, which lies above every frame of the first thread, and goes back from there. */
#include <elf.h>
#include <stddef.h>
#include "tools/so-run/audit/stack.h"

#ifdef __LP64__
typedef Elf64_Phdr program_header;
#else
typedef Elf32_Phdr program_header;
#endif
enum { TYPES = 128 };	/* types of the vector are smaller than this, pointers are not */

/* These three follow each other wherever a vector is made. */
static bool is_headers(const uintptr_t *w)
{
	return w[0] == AUX_PHDR && w[2] == AUX_PHENT && w[3] == sizeof(program_header) && w[4] == AUX_PHNUM;
}

bool stack_find(struct stack *s)
{
	const uintptr_t *w = __builtin_frame_address(0);
	char **p;

	while (!is_headers(w))
		w++;
	while (w[-2] && w[-2] < TYPES)
		w -= 2;
	s->auxiliary = w;
	if (w[-1])
		return false;
	for (p = (char **)(uintptr_t)w - 2; *p; p--)
		;
	s->environment = p + 1;
	/* Before the arguments stands their number, the only word that equals how many lie behind it. */
	for (ptrdiff_t n = 0; n < 1 << 24; n++)
		if ((ptrdiff_t)p[-n - 1] == n) {
			s->argv = p - n;
			return true;
		}
	return false;
}

uintptr_t stack_auxiliary(const struct stack *s, uintptr_t type)
{
	for (const uintptr_t *w = s->auxiliary; w[0]; w += 2)
		if (w[0] == type)
			return w[1];
	return 0;
}

char **stack_variable(const struct stack *s, const char *name, char **value)
{
	for (char **e = s->environment; *e; e++) {
		size_t n = 0;

		while (name[n] && (*e)[n] == name[n])
			n++;
		if (!name[n] && (*e)[n] == '=' && (*e)[n + 1]) {
			*value = *e + n + 1;
			return e;
		}
	}
	return NULL;
}
