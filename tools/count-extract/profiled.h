/* profiled.h - a profiled object as count-extract needs it, and the sums of its counter files. */
#ifndef COUNT_EXTRACT_PROFILED_H
#define COUNT_EXTRACT_PROFILED_H
#include "formats/counters.h"
#include "lib/elf/object.h"

struct profiled {
	struct object o;
	struct counters_header header;	/* in this machine's byte order */
	const uint8_t *map, *springs, *info;	/* the sections' bytes */
	size_t info_size;
	struct object_info original;	/* from .soprof.info; strings in arena */
	struct arena arena;
	char *path;			/* absolute */

	uint64_t *sums;			/* one a counter */
	uint64_t *read;			/* a file's counters on their way into sums */
	uint64_t processes;
	bool looked;			/* at the original: what is to be noted of it, or NULL */
	char *look_note;
	bool overflow;			/* a sum stays at the largest number */
	uint32_t flags;			/* enum counters_flag of all files */
	bool forks_unseen;		/* forks.h, of any file */
};

/* NULL, or why not, in words; "" when the file simply is no profiled object. */
const char *profiled_open(struct profiled *p, const char *path);
void profiled_close(struct profiled *p);

struct map_row profiled_row(const struct profiled *p, uint64_t index);
uint64_t profiled_spring(const struct profiled *p, uint64_t index);	/* old entry */

/* NULL when the header is sound, and then it is in this machine's byte order; else the fault in words. */
const char *counters_check_header(struct counters_header *h);
/* Reads a counter file's header in either byte order.  NULL, or the fault in words. */
const char *counters_read_header(int fd, struct counters_header *h);
/* Reads n bytes, fewer at the end of the file; -1: errno says why not. */
ssize_t counters_read_at(int fd, void *to, size_t n, uint64_t offset);
/* Reads so many counters, each whole also while the program counts, as they are in the file.  NULL, or the fault in words. */
const char *counters_read(uint64_t *to, int fd, uint64_t offset, size_t n);
/* Adds one counter file to the sums.  False after a message: it does not count then. */
bool profiled_add(struct profiled *p, const char *path);
/* Back to no file at all. */
void profiled_clear(struct profiled *p);

/* What a counter file holds now is not counted from here on: a copy of it is kept in BASELINE_DIR beside it.  False after a message. */
#define BASELINE_DIR ".soprof-baseline"
bool baseline_make(const struct profiled *p, const char *path);
/* Takes off what counters the baseline of that file has, if there is one. */
void baseline_subtract(const struct profiled *p, const char *path, const struct counters_header *h, uint64_t *counters);
#endif
