/* descriptor.h - descriptors of ours in the script's process. */
#ifndef TRACE_RUN_DESCRIPTOR_H
#define TRACE_RUN_DESCRIPTOR_H
#include <stdbool.h>
#include <sys/stat.h>

/* The same file under a number that scripts do not use by chance: those that count on the next one being 3 shall have it, and none of the
   standard ones is it.  fd is closed then; fd itself where no other number is free. */
int descriptor_away(int fd);
/* Whether fd is still the file that st tells of: a script may have closed all that is open, and opened others. */
bool descriptor_is(int fd, const struct stat *st);
#endif
