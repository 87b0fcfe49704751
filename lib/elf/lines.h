/* lines.h - names and source lines of an object from wherever they are: its own tables, the separate debug file (by
   .gnu_debuglink and by build-id), .gnu_debugdata.  Over libdwfl.  Addresses are link-time addresses of the object. */
#ifndef ELF_LINES_H
#define ELF_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines;

/* NULL when libdwfl cannot read the file; *why then tells, in words. */
struct lines *lines_open(const char *path, const char **why);
void lines_close(struct lines *l);

/* The separate debug file that was found, or NULL. */
const char *lines_debug_path(const struct lines *l);

/* Symbols of functions (FUNC, GNU_IFUNC, and global NOTYPE), in the order of their table: the full one when it was found,
   else the dynamic one and what .gnu_debugdata adds.  unit: number of STT_FILE symbols before it; 0 for global ones. */
struct lines_symbol { const char *name; uint64_t value, size; unsigned unit; uint8_t type, bind; };
struct lines_symbols { struct lines_symbol *v; size_t n; };
struct lines_symbols lines_symbols(struct lines *l);	/* caller frees .v; names live as long as l */

/* Calls row for each row of each line table that has a file and a line: the code [start, end).  A row
   may be empty (end == start): a statement whose code was merged with the next.  file is the same number for the same name.  Returns the number of rows; 0: no debug information.  Tables that cannot be read are passed over. */
struct lines_row { uint64_t start, end; unsigned file, line; bool is_stmt; };
size_t lines_rows(struct lines *l, void (*row)(void *context, const struct lines_row *r), void *context);
/* The name behind a file number (absolute where the debug information says it). */
const char *lines_file(const struct lines *l, unsigned file);
unsigned lines_files(const struct lines *l);

/* File and line of one address; false: not known. */
bool lines_at(struct lines *l, uint64_t address, const char **file, unsigned *line);
#endif
