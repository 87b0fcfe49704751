/* cover.h - how much code an object has. */
#ifndef COUNT_EXTRACT_COVER_H
#define COUNT_EXTRACT_COVER_H
#include "lib/elf/object.h"

/* Bytes of executable code that FDEs or function symbols cover, each counted once. */
uint64_t covered_bytes(const struct object *o);
#endif
