/* file.h - makes one counter file. */
#ifndef RUNTIME_FILE_H
#define RUNTIME_FILE_H
#include "runtime/usage.h"

/* Before file_make the caller sets header, counts and dir. */
struct file {
	struct counters_header *header;	/* what the file shall begin with; serial is set here */
	const char *counts;		/* the first counter's memory, behind the whole header page, or NULL: they are all zero */
	int dir;			/* where; an open directory */
	int fd;
	enum counters_state state;	/* of the step that failed */
	long error;			/* negative errno value of it */
	struct usage usage;
	char name[160];
};

/* Makes the file with all its blocks reserved, the header last, and opens it as f->fd.  False: nothing is left behind. */
bool file_make(struct file *f);
/* Maps the file over the memory at HEADER and closes it; false: the file is gone and that memory as it was. */
bool file_map(struct file *f, struct counters_header *header);
/* Opens the directory to make files in. */
long file_directory(const char *path);
/* Whether the header is one that this code can work with. */
bool file_header_sound(const struct counters_header *h);
#endif
