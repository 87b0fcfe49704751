/* files.h - which files of a directory are objects, which counter files, and of what. */
#ifndef COUNT_EXTRACT_FILES_H
#define COUNT_EXTRACT_FILES_H
#include <stdbool.h>
#include <stdint.h>
#include "lib/base/mem.h"

struct listed {
	char *name;
	bool is_elf;
	bool used;			/* as a counter file of a known object */
};
struct listing {
	char *directory;
	uint32_t refused;		/* counter files not made here because of the cap */
	VEC(struct listed) files;	/* regular files, ascending by name; hidden ones are left out */
};

/* False after a message. */
bool listing_read(struct listing *l, const char *directory);
void listing_free(struct listing *l);
/* Index of the first file whose name is not less; files.n if there is none. */
size_t listing_find(const struct listing *l, const char *name);

/* Whether there are counter files of an object of that name. */
bool listing_has(const struct listing *l, const char *object);

/* The length of OBJECT in OBJECT.PID.N; 0: not such a name. */
size_t counter_object(const char *name);
/* True when the file begins as ELF files do. */
bool is_elf_file(const char *path);
/* DIRECTORY/NAME, allocated. */
char *path_join(const char *directory, const char *name);
#endif
