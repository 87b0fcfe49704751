/* counters.h - what a profiled object and its counter files hold.  Shared with runtime/, so: fixed-width types only,
   no libc.  All numbers are in the object's own byte order.

   A profiled object has three new loadable segments after the original's, in this order:
     RW  the private page (struct counters_private), the header (struct counters_header), then the counters;
     R   moved .gnu.hash/.dynsym, .eh_frame and friends, .soprof.info;
     R-X .soprof.text (the new text), .soprof.map (the map table).
   A counter file is the image of the RW segment from the header on: header, padding to header_size, counters.

   Counter files are named OBJECT.PID.N, with N from 0 and the next N when that name is taken.  The header is written last: a
   file that is short or begins with zeros was not finished (its process was killed, or is still at it) and holds no counts.
   A process made by fork counts in files of its own, from zero, in the directory of its parent's. */
#ifndef FORMATS_COUNTERS_H
#define FORMATS_COUNTERS_H
#include <stdint.h>

#define COUNTERS_MAGIC "soprofct"	/* 8 bytes, no NUL */
enum { COUNTERS_VERSION = 1, COUNTERS_PAGE = 4096 };	/* MIPS and AArch64 objects use 65536 as page: see header.page */
#define COUNTERS_DIR_ENV "SOPROF_DIR"	/* environment variable: where counter files go instead of the fixed directory */
#define COUNTERS_CAP_ENV "SOPROF_MAX"	/* most bytes of counter files in the directory, decimal; 0: none are written */
#define COUNTERS_CAP_DEFAULT (UINT64_C(8) << 30)

enum counters_flag {
	COUNTERS_ATOMIC = 1,		/* counted with atomic increments */
	COUNTERS_FORK_SEEN = 2,		/* this file belongs to a process made by fork; set in the child's own file */
	COUNTERS_FORK_UNSAFE = 4,	/* a fork was noticed that could not be separated (see count-extract) */
	COUNTERS_IDENTITY = 8,		/* the object has no counters */
	COUNTERS_CHILD_LOST = 16,	/* a child of this process could make no file (or was refused one): its counts are missing */
};

/* First page of the file and of the mapping (the address "header").  The object file holds it filled in but for the run's part. */
struct counters_header {
	char magic[8];
	uint32_t version, header_size;	/* header_size: offset of the first counter from the header; a multiple of page */
	uint32_t page, flags;
	uint64_t counters;		/* number of 64-bit counters: blocks in map-table order, then springboards */
	uint64_t blocks;
	uint64_t map_hash;		/* XXH3-64 of the .soprof.map section's bytes */
	uint8_t original_build_id[32];
	uint8_t build_id[32];		/* the profiled object's own; unused bytes are 0 */
	uint32_t original_build_id_size, build_id_size;
	uint64_t header_address;	/* the header's link-time address */
	char object[128];		/* name of the object's file in out/ */
	/* the run */
	uint64_t load_bias;		/* run-time address - link-time address */
	uint32_t pid, parent;		/* of the process that counts here; parent: 0 unless forked while counting */
	uint64_t start_ns;		/* CLOCK_REALTIME when the file was made */
	uint32_t serial, reserved;	/* the N of OBJECT.PID.N */
	uint64_t limit;			/* COUNTERS_CAP_ENV as this process had it, or the default */
	char executable[512];		/* /proc/self/exe, cut to fit, NUL-terminated */
};

/* Bytes of header and counters together: the size of the mapping and of the file. */
#define COUNTERS_MAPPED(h) (((h)->header_size + (h)->counters * 8 + (h)->page - 1) & ~((uint64_t)(h)->page - 1))

/* The bytes of all counter files in a directory are added up in a file there, so that COUNTERS_CAP_ENV can be kept; it is mapped
   shared and added to atomically before a file is made.  Words in the byte order of the machine; further bytes mean nothing.
   It may be removed at any time when nothing runs: whoever finds too many units in it looks at the directory itself, once a second. */
#define COUNTERS_USAGE ".soprof-usage"
struct counters_usage {
	uint32_t units;			/* of COUNTERS_PAGE bytes, each file rounded up */
	uint32_t refused;		/* files not made because of the cap: their counts are missing */
	uint32_t recounted;		/* when units was last made equal to the directory: seconds since 1970, low 32 bits */
	uint32_t reserved;
};

/* How far the run-time code got, in counters_private: for debuggers and tests. */
enum counters_state {
	COUNTERS_STATE_NEW,		/* not called yet */
	COUNTERS_STATE_SHARED,		/* counting in the file */
	/* From here on counting goes on in private memory, because: */
	COUNTERS_STATE_HEADER,		/* the header is not one of this version, or has no counters */
	COUNTERS_STATE_DIRECTORY,	/* the directory cannot be opened */
	COUNTERS_STATE_FSIZE,		/* the file would be longer than RLIMIT_FSIZE */
	COUNTERS_STATE_CAP,		/* the cap is reached */
	COUNTERS_STATE_CREATE,		/* no file can be made */
	COUNTERS_STATE_WRITE,		/* it cannot be given its size and content */
	COUNTERS_STATE_MAP,		/* it cannot be mapped */
	COUNTERS_STATE_UNKNOWN,		/* a forked child that could not look which files were mapped */
};

/* The page before the header: private to each process, read and written by runtime/ alone.  In a forked child all of it reads 0
   and runtime_child restores what is needed; the directory is then that of the parent's file. */
struct counters_private {
	uint64_t alive;			/* 1 before initialisation and while counting in this process's own file.  The page is
					   MADV_WIPEONFORK: a forked child reads 0 here, and the fork check calls runtime_child */
	uint64_t mapped_size;		/* of header and counters, a multiple of page */
	uint64_t initialised;
	char directory[1024];		/* where counter files go; absolute; fixed by so-gen -o */
	uint32_t state, error;		/* enum counters_state; errno of the step that failed */
	uint64_t by_pid;		/* 1: memory is not wiped here (an emulator), so alive stays 0 and runtime_child compares the
					   process number with the header's each time it is called */
};

/* .soprof.map: one row a block, ascending by old (then new).  Row i counts in counter i.
   The moved first instruction stands at new + inserted; at an entry mark (endbr64) the mark is at new and the counting code
   behind it (MAP_MARK): the instructions after the mark are at new + inserted + (their offset in the block).
   All instructions of a row but the last keep their length, so old + k is at new + inserted + k.
   A block whose instruction in the middle got longer has several rows (MAP_GOES_ON), the first of which is counted; one that begins
   between a load-linked and its store-conditional, where nothing may stand, has the store in a row of its own, which is counted. */
struct map_row {
	uint32_t old, new;		/* link-time addresses */
	uint32_t size_flags;		/* bytes of the old block in bits 0-19, flags in bits 20-23, inserted bytes in bits 24-31 */
};
enum {
	MAP_MARK = 1 << 20,		/* counting code stands behind an entry mark of 4 bytes (or a store-conditional) */
	MAP_SPLIT = 1 << 21,		/* starts inside the row before it (a jump over a lock prefix) */
	MAP_UNCOUNTED = 1 << 22,	/* moved without a counter (its counter stays 0 and means nothing) */
	MAP_GOES_ON = 1 << 23,		/* part of the block of the row before it: of such rows in succession one is counted, the others are MAP_UNCOUNTED */
};
#define MAP_SIZE(row) ((row)->size_flags & 0xfffff)
#define MAP_INSERTED(row) ((row)->size_flags >> 24)

/* .soprof.springs: one word a springboard, counter number = blocks + index: the old entry's link-time address (uint32_t). */

/* .soprof.info: a "relocations" CBOR stream (stream.h) of one object: its map describes the original; its rows are the
   REL_NOT_MOVED rows of what stayed, with the reasons, and REL_PROLOGUE rows of the moved functions' entries. */

/* .note.soprof: a note of owner "soprof", type 1: descriptor = uint32_t version, then the original's build-id bytes. */
enum { SOPROF_NOTE_TYPE = 1, SOPROF_NOTE_VERSION = 1 };
#define SOPROF_NOTE_OWNER "soprof"
#define SECTION_TEXT ".soprof.text"
#define SECTION_MAP ".soprof.map"
#define SECTION_PLACES ".soprof.places"	/* MIPS: a word for each old instruction: its new place - its old one, 0: it did not move */
#define SECTION_SPRINGS ".soprof.springs"
#define SECTION_INFO ".soprof.info"
#define SECTION_COUNTERS ".soprof.counters"	/* the header */
#define SECTION_COUNTS ".soprof.counts"		/* NOBITS: the counters behind it */
#define SECTION_PRIVATE ".soprof.private"
#define SECTION_NOTE ".note.soprof"
#endif
