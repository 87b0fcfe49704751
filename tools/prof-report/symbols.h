/* symbols.h - names for addresses in the objects that a process had mapped. */
#ifndef PROF_REPORT_SYMBOLS_H
#define PROF_REPORT_SYMBOLS_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/stream.h"
#include "lib/base/mem.h"

struct module {
	uint64_t start, end, bias;
	const char *path;
	struct numbers identity;
	struct module_file *file;	/* opened when it is first asked for */
};
struct modules { VEC(struct module) v; VEC(struct module_file *) files; };

/* Mapped from now on; what lay there is gone.  path and identity are the caller's. */
void modules_add(struct modules *m, struct module new);
/* The name of the function at the address and the object's base name; false: in no object. */
bool modules_name(struct modules *m, uint64_t address, const char **function, const char **object);
void modules_free(struct modules *m);
#endif
