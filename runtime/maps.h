/* maps.h - reads /proc/self/maps. */
#ifndef RUNTIME_MAPS_H
#define RUNTIME_MAPS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end, offset;
	bool readable, writable, shared;
	char *path;		/* in the reader's buffer, may be changed until the next call; "" where the line has none */
	size_t path_length;	/* without a " (deleted)" at the end */
};

struct maps {
	int fd;
	bool failed;		/* not everything was read */
	size_t begin, end;
	char buffer[4352];	/* 73 characters, PATH_MAX and " (deleted)"; the path of a longer line is wrong */
};

bool maps_open(struct maps *m);
/* The next line; false: there is none.  The map may change while it is read: lines come by ascending address. */
bool maps_next(struct maps *m, struct maps_line *line);
void maps_close(struct maps *m);
#endif
