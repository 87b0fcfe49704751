/* notes.h - what was loaded and does not count: into the run directory's list, and once on standard error. */
#ifndef SO_RUN_AUDIT_NOTES_H
#define SO_RUN_AUDIT_NOTES_H
#include <stdbool.h>
#include <stddef.h>

struct notes {
	char list[256], said[256];	/* files of the run directory; "" when their names are too long */
	char text[16384];		/* what the program begins with: PATH TAB REASON NEWLINE */
	size_t length;
	bool begun;			/* the program runs: each line is written at once */
};

void notes_start(struct notes *n, const char *run);
/* Relative paths are made absolute where /proc tells how. */
void notes_add(struct notes *n, const char *path, const char *why);
/* Everything that the program begins with is loaded: writes the list, and says it if no process of this run did. */
void notes_begin(struct notes *n, const char *loader);
#endif
