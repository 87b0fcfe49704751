/* fields.h - reads and writes the maps of a stream; stream.c's own. */
#ifndef FORMATS_FIELDS_H
#define FORMATS_FIELDS_H
#include "formats/stream.h"

/* Writes a map of the fields that are present in the struct at base. */
void fields_write(struct seq_writer *w, const struct field *table, const void *base);
/* Reads a map of that many pairs into the struct at base, strings into the arena; unknown keys are passed over. */
bool fields_read(struct seq_reader *r, uint64_t pairs, const struct field *table, void *base, struct arena *a);
#endif
