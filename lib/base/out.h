/* out.h - output that appears whole or not at all. */
#ifndef BASE_OUT_H
#define BASE_OUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* An output under way.  A regular file is written beside its final name and renamed by out_commit; devices, FIFOs and
   /dev/stdout are written in place and never replaced.  An output that is not committed is removed, at msg_die too. */
struct out {
	FILE *f;
	char *path, *temporary;		/* temporary is NULL when written in place */
};

/* Opens PATH ("-" or NULL: standard output) with the given mode bits for a new regular file (0666 before umask, say).
   Returns false after a message. */
bool out_open(struct out *o, const char *path, unsigned mode);
/* Flushes, checks for write errors, renames.  Returns false after a message; the final name is then untouched. */
bool out_commit(struct out *o);
void out_abandon(struct out *o);

/* Writes LEN bytes at PATH whole: out_open, fwrite, out_commit. */
bool out_file(const char *path, const void *bytes, size_t len, unsigned mode);

/* True, after a message, when CBOR would go to a terminal. */
bool out_is_terminal(const struct out *o);
#endif
