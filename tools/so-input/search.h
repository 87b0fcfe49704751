/* search.h - where the loader looks for a name. */
#ifndef SO_INPUT_SEARCH_H
#define SO_INPUT_SEARCH_H
#include "tools/so-input/process.h"

struct hit {
	int fd;				/* -1: nothing usable was found */
	char *path;			/* on this machine, allocated; of the faulty file when there is a fault */
	char *formed;			/* as the loader forms it (what $ORIGIN and equal names go by), allocated */
	const char *found;
	const char *fault;		/* a file that ends the search although it cannot be used: why */
};

/* Looks for a name that FROM needs. */
void search(const struct process *p, const struct map *from, const char *name, struct hit *hit);
/* Replaces $ORIGIN, $LIB and $PLATFORM (also in braces) as seen from a map.  NULL: a value is not known; else allocated. */
char *search_expand(const struct process *p, const struct map *m, const char *s);
#endif
