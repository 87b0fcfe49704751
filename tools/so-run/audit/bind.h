/* bind.h - has every reference to a function of the C library lead to one of ours. */
#ifndef SO_RUN_AUDIT_BIND_H
#define SO_RUN_AUDIT_BIND_H
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct bind { const struct link_map *map; uintptr_t table, end; int protection; };

/* Opens the symbol table of an object that is mapped and not relocated yet; false: it cannot be. */
bool bind_open(struct bind *b, const struct link_map *map);
/* Whoever looks for NAME's default version finds OURS from now on; into REAL, a pointer to a function, goes what would have been
   found.  False, and nothing is changed: there is no such function. */
bool bind_function(const struct bind *b, const char *name, uintptr_t ours, void *real);
void bind_close(const struct bind *b);
#endif
