/* cache.h - /etc/ld.so.cache: which file ldconfig last saw for a name. */
#ifndef SO_INPUT_CACHE_H
#define SO_INPUT_CACHE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tools/so-input/machine.h"

struct cache {
	const uint8_t *image;		/* NULL: there is none, or none that can be read */
	size_t size;
	bool is_new, big_endian;
	size_t base;			/* new format: where its header begins; its string offsets count from here */
	size_t entries, strings;	/* offsets in the image; strings: what string offsets count from */
	uint32_t count;
};

/* Reads the cache of the tree; the byte order is the one of the machine that made it. */
void cache_open(struct cache *c, const struct root *root, bool big_endian);
void cache_close(struct cache *c);
/* The path the loader would take for the name, or NULL. */
const char *cache_find(const struct cache *c, const struct machine *m, const char *name);
#endif
