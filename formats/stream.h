/* stream.h - what the three kinds of stream share: [kind, version], then per object a map, rows, an end item.

   stream = [kind, version] *(object *row end)       concatenations of streams of one kind are streams
   object = { ... }      end = [-1, number of rows]     row = [type >= 0, uint, int, ?details map]
   A profile's block row carries one number more: [type, address, size, count, ?details].

   An object counts only once its end item was read: a stream cut between two items is noticed. */
#ifndef FORMATS_STREAM_H
#define FORMATS_STREAM_H
#include "formats/seq.h"
#include "lib/base/mem.h"

/* The map keys of objects and row details, one table each that reader, writer and map-dump share.  Rows stand in the
   order of their keys' encodings; a key of NULL ends a table. */
enum field_kind { FIELD_TEXT, FIELD_UINT, FIELD_UNSIGNED, FIELD_INT, FIELD_BOOL, FIELD_BUILD_ID, FIELD_DIGEST, FIELD_CLASS, FIELD_NUMBERS };
struct numbers { const int64_t *v; size_t n; };
struct field { const char *key; enum field_kind kind; size_t at; };
extern const struct field object_fields[], detail_fields[];
/* False when the field at (char *)base + f->at is absent (0, false, NULL), and then it is not written. */
bool field_present(const struct field *f, const void *base);

enum stream_kind { STREAM_SO_LIST, STREAM_RELOCATIONS, STREAM_PROFILE };
extern const char *const stream_kind_names[];		/* "so-list", "relocations", "profile" */
enum { STREAM_VERSION = 1 };

/* The object map.  Strings live in the arena of the reader's current object (or the caller's); NULL or 0: absent. */
struct object_info {
	const char *path;		/* of the original file, absolute */
	const char *name;		/* what the loader searches: the DT_NEEDED string that led here, else the file's base name */
	const char *soname;
	const char *machine;		/* "x86_64", "mips", "aarch64", or "em-NUMBER" */
	const char *why;		/* "needed by app", "app", "also", "interpreter of app" */
	const char *found;		/* how the loader finds it: "cache", "LD_LIBRARY_PATH", "RUNPATH", "RPATH", "default", "path" (a slash in the name) */
	const char *skip;		/* why no profiled object can stand in for it ("the loader itself", "static"); NULL: it can */
	const char *link_map;		/* reserved for so-run; may be NULL */
	unsigned char build_id[32];
	unsigned build_id_size;
	unsigned char digest[16];	/* XXH3-128, canonical (big-endian) form, over the whole file */
	uint64_t size;			/* of the file, bytes */
	unsigned elf_class;		/* 32 or 64 */
	bool big_endian;
	bool reachable;			/* LD_LIBRARY_PATH=out reaches it */
	bool is_app;			/* an executable */
	bool atomic;			/* profile streams: counted with atomic increments */

	/* profile streams only */
	const char *profiled;		/* path of the profiled object */
	uint64_t processes;		/* counter files summed */
	const char *process;		/* "PID PROGRAM": the counts are of this process alone (count-extract --by-process) */
	uint64_t blocks, text_bytes;	/* counted blocks; bytes of code that FDEs or symbols cover */
	const char *note;		/* what a reader must know: "forked: counts may be inexact", "stale: ..." joined by "; " */
};

struct stream_row {
	int64_t type;			/* >= 0 */
	uint64_t address;
	int64_t information;
	uint64_t count;			/* profile streams only */
	/* details; which fields a type has stands in relocations.h and profile.h.  Absent: 0 or NULL */
	struct row_details {
		bool present;
		uint64_t base, count, size;
		unsigned width;
		bool is_signed, proven;
		int scale;		/* bytes a unit of an entry stands for; 1 */
		const char *kind, *why, *name;
		struct numbers numbers;	/* what a row type lists (profile.h) */
	} details;
};

enum stream_event { STREAM_FAULT = -1, STREAM_DONE, STREAM_OBJECT, STREAM_ROW, STREAM_OBJECT_END };

struct stream_reader {
	struct seq_reader seq;
	enum stream_kind kind;
	struct arena arena;		/* strings of the current object; freed when the next begins */
	struct object_info object;	/* valid from STREAM_OBJECT to the event after STREAM_OBJECT_END */
	struct stream_row row;		/* strings valid until the next event, unless copied */
	uint64_t rows;
	bool begun, in_object;
	int want;
	struct arena row_arena;		/* strings of the current row */
};

/* kind: what the caller wants; -1 takes any (r->kind then tells after the first event). */
void stream_reader_init(struct stream_reader *r, FILE *f, const char *name, int kind);
/* The next event; unknown row types come as rows, unknown map keys are passed over.  A fault was said already. */
enum stream_event stream_next(struct stream_reader *r);
void stream_reader_free(struct stream_reader *r);

struct stream_writer {
	struct seq_writer seq;
	enum stream_kind kind;
	uint64_t rows;
};
void stream_begin(struct stream_writer *w, enum stream_kind kind, FILE *f, const char *name);
void stream_object(struct stream_writer *w, const struct object_info *o);
void stream_row(struct stream_writer *w, const struct stream_row *row);
/* The common case, [type, address, information]. */
void stream_row3(struct stream_writer *w, unsigned type, uint64_t address, int64_t information);
void stream_object_end(struct stream_writer *w);
/* Flushes; false when anything could not be written (said already). */
bool stream_finish(struct stream_writer *w);
#endif
