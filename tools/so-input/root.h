/* root.h - files as a machine sees them whose tree may lie in a directory of this one (--sysroot). */
#ifndef SO_INPUT_ROOT_H
#define SO_INPUT_ROOT_H

struct root { char *dir; int fd; };	/* dir NULL: this machine's own tree */

/* Returns 0, or -1 with errno set. */
int root_init(struct root *r, const char *dir);
/* Opens a file of that tree for reading; a path that begins with the tree's own directory is taken as it is.  *path gets the
   file's path on this machine, allocated.  Returns the descriptor, or -1 with errno set (then *path is NULL). */
int root_open(const struct root *r, const char *name, char **path);
void root_close(struct root *r);
#endif
