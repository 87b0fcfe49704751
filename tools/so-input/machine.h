/* machine.h - what the loader of a machine is built with and what it finds out about the processor. */
#ifndef SO_INPUT_MACHINE_H
#define SO_INPUT_MACHINE_H
#include <stdbool.h>
#include <stdint.h>
#include "lib/base/mem.h"
#include "lib/elf/object.h"
#include "tools/so-input/root.h"

struct strings { const char **v; size_t n, cap; };

struct machine {
	bool is_host;			/* this processor can run it, and its loader is this tree's */
	unsigned level;			/* x86-64-vN */
	const char *platform;		/* $PLATFORM, or NULL */
	const char *lib;		/* $LIB */
	const char *interpreter;	/* where its loader usually lies */
	uint32_t cache_flags;		/* of this machine's entries in ld.so.cache */
	struct strings defaults;	/* the directories searched last */
	struct strings subdirs;		/* of each directory, the best first; the last is "" */
};

/* The strings live in the arena. */
void machine_find(struct machine *m, const struct object *o, const struct root *root, struct arena *arena);
#endif
