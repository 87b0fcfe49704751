/* seq.h - CBOR sequences (RFC 8742) in deterministic encoding (RFC 8949, 4.2.1), over libcbor's streaming API.
   A pull reader in a fixed window and a writer in a fixed buffer: memory does not grow with the stream. */
#ifndef FORMATS_SEQ_H
#define FORMATS_SEQ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum seq_type { SEQ_END, SEQ_UINT, SEQ_NINT, SEQ_BYTES, SEQ_TEXT, SEQ_ARRAY, SEQ_MAP, SEQ_TAG, SEQ_BOOL, SEQ_NULL, SEQ_FLOAT };

/* One head, or one whole string. */
struct seq_token {
	enum seq_type type;
	uint64_t value;		/* UINT, NINT (-1 - value), ARRAY and MAP (number of items, of pairs), TAG, BOOL */
	double number;		/* FLOAT */
	const char *bytes;	/* BYTES, TEXT: value bytes, valid until the next call; not NUL-terminated.  TEXT is valid UTF-8 */
};

struct seq_reader {
	FILE *f;
	const char *name;	/* for messages: the file's name or "standard input" */
	uint64_t offset;	/* of the last token's first byte in the stream: "name: byte 123: fault" */
	uint64_t base;		/* offset of window[0] in the stream */
	unsigned char *window;
	size_t begin, end, cap;
	bool failed;
};

void seq_reader_init(struct seq_reader *r, FILE *f, const char *name);
void seq_reader_free(struct seq_reader *r);
/* The next token.  At the top level the end of the file is SEQ_END with true; false after a message (malformed, not
   deterministic, cut, over-long string: more than 64 MiB).  inside: we are within an item, where an end is a cut. */
bool seq_next(struct seq_reader *r, struct seq_token *t, bool inside);
/* The next byte, not taken; -1 at the end. */
int seq_peek(struct seq_reader *r);
/* Reads over the rest of an item whose first token is t (no recursion). */
bool seq_skip(struct seq_reader *r, const struct seq_token *t);
/* Prints "tool: name: byte N: text" as an error, marks the reader failed; returns false. */
bool seq_fault(struct seq_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct seq_writer {
	FILE *f;
	const char *name;
	unsigned char buffer[65536];
	size_t n;
	bool failed;		/* said once; seq_writer_flush returns false */
};
void seq_writer_init(struct seq_writer *w, FILE *f, const char *name);
bool seq_writer_flush(struct seq_writer *w);
void seq_uint(struct seq_writer *w, uint64_t v);
void seq_int(struct seq_writer *w, int64_t v);
void seq_text(struct seq_writer *w, const char *s);	/* a string that is not UTF-8 (a path can be so) goes as BYTES */
void seq_bytes(struct seq_writer *w, const void *p, size_t n);
void seq_bool(struct seq_writer *w, bool v);
void seq_null(struct seq_writer *w);
void seq_array(struct seq_writer *w, uint64_t items);
void seq_map(struct seq_writer *w, uint64_t pairs);
/* Map keys must be written in bytewise order of their encodings: for text keys shorter first, then alphabetical. */
#endif
