/* run.h - what a run directory holds beside counter files.  Shared with the audit object of so-run, so: fixed-width types only, and
   no libc with RUN_NO_LIBC.  All numbers are in the machine's own byte order.

   The index says which profiled object stands for which original.  so-run keeps it in the directory of profiled objects and puts a
   link or copy of it into each run directory, where the audit object and count-extract find it. */
#ifndef FORMATS_RUN_H
#define FORMATS_RUN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_INDEX ".soprof-index"
/* Lines PATH TAB REASON of objects that a run loaded and that did not count; grows while the run goes on, to RUN_NOTES_MAX bytes. */
#define RUN_NOTES "not-profiled"
#define RUN_SAID ".soprof-said"		/* made by the process that said on standard error what is not profiled */
#define RUN_LABEL ".soprof-label"	/* what the caller of so-run said that the run is */
/* Who starts a profiled executable in the place of its original writes this and the original's path behind the run directory in
   SOPROF_DIR; the audit object cuts it off before the program sees it. */
#define RUN_ORIGINAL "\nSOPROF_EXE="
#define RUN_MAGIC "soprofix"		/* 8 bytes, no NUL */
enum { RUN_VERSION = 4, RUN_NOTES_MAX = 1 << 20 };

struct run_index {
	char magic[8];
	uint32_t version, entries;	/* entries: how many */
	uint32_t size;			/* of the file, which ends with a NUL */
	uint32_t directory;		/* of the profiled objects, absolute, with a slash at the end */
};

/* One profiled object; ascending by dev, then ino.  Strings are offsets in the file, NUL-terminated. */
struct run_entry {
	uint64_t dev, ino, size;	/* of the original as it was when the index was made */
	int64_t mtime, ctime;		/* nanoseconds */
	uint64_t twin_ino, twin_size;
	int64_t twin_mtime;
	uint64_t tls;			/* bytes of thread-local storage that the original may take of each thread's block */
	uint32_t original, twin;	/* paths, absolute */
	uint32_t why;			/* why it cannot stand in for its original, or 0 */
	uint32_t flags;
	uint32_t slashes;		/* so many more stand before the twin: with them it is longer than the original */
	uint32_t reserved;
};
enum run_flag {
	RUN_APP = 1,			/* an executable */
	RUN_LEFT_OUT = 2,		/* in this run it is not replaced: so-run --no-app */
};

static inline const struct run_entry *run_entries(const struct run_index *x) { return (const struct run_entry *)(x + 1); }
static inline const char *run_string(const struct run_index *x, uint32_t offset) { return (const char *)x + offset; }
/* Is it an executable that is replaced in this run? */
static inline bool run_is_program(const struct run_entry *e) { return (e->flags & (RUN_APP | RUN_LEFT_OUT)) == RUN_APP; }

/* Whether the bytes are an index whose offsets can be trusted. */
static inline bool run_index_is_sound(const void *bytes, size_t size)
{
	const struct run_index *x = (const struct run_index *)bytes;
	const struct run_entry *e = run_entries(x);

	if (size < sizeof *x || x->version != RUN_VERSION || x->size != size)
		return false;
	for (unsigned i = 0; i < sizeof x->magic; i++)
		if (x->magic[i] != RUN_MAGIC[i])
			return false;
	if ((size - sizeof *x) / sizeof *e < x->entries || x->directory >= size || run_string(x, 0)[size - 1])
		return false;
	for (uint32_t i = 0; i < x->entries; i++)
		if (e[i].original >= size || e[i].twin >= size || e[i].slashes > e[i].twin || e[i].why >= size)
			return false;
	return true;
}

#ifndef RUN_NO_LIBC
/* Maps the index of a directory; NULL: there is none, or it is not sound. */
const struct run_index *run_index_map(const char *directory);
void run_index_unmap(const struct run_index *x);
#endif
#endif
