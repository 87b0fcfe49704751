/* process.h - the objects that the loader maps for one program, found in its own way and order, without running anything. */
#ifndef SO_INPUT_PROCESS_H
#define SO_INPUT_PROCESS_H
#include <sys/types.h>
#include "lib/elf/object.h"
#include "tools/so-input/cache.h"
#include "tools/so-input/machine.h"
#include "tools/so-input/root.h"

/* What the loader calls a link map. */
struct map {
	struct object object;
	char *path;			/* as the loader forms it, made absolute */
	char *origin;			/* $ORIGIN */
	const char *name;		/* that was searched */
	const char *found;		/* object_info.found */
	const char *why;		/* object_info.why */
	const struct map *requester;	/* whose need brought it here; NULL: the program */
	struct strings names;		/* what it is known by, the soname aside */
	dev_t dev;
	ino_t ino;
	bool reachable, is_loader;
};

struct process {
	const struct root *root;
	struct arena arena;
	struct machine machine;
	struct cache cache;
	const char *library_path;	/* LD_LIBRARY_PATH where it counts, or NULL */
	bool is_program;		/* not a shared object */
	bool is_static;
	bool is_secure;			/* the loader ignores the environment: setuid and kin */
	struct map *interpreter;	/* not among the maps; NULL: none, or missing */
	VEC(struct map *) maps;		/* in the order of loading; [0] is what was opened */
	struct strings missing;		/* names said to be missing */
};

/* Opens a program or shared object.  NULL, or the fault in words (valid until the next open). */
const char *process_open(struct process *p, const char *path, const struct root *root);
/* Maps what is preloaded, and what that and the program need.  Missing ones are said (msg_error) and left out. */
void process_load(struct process *p);
/* Maps a file as dlopen called by the program would, and what it needs. */
void process_also(struct process *p, const char *name);
void process_close(struct process *p);

const char *base_name(const char *path);
#endif
