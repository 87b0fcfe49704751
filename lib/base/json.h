/* json.h - a streaming JSON writer (RFC 8259): commas, indenting and escapes are its business. */
#ifndef BASE_JSON_H
#define BASE_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 32 };

/* Zero-initialise but for f.  A newline ends each value at the top level, so one object after the other is "JSON lines". */
struct json {
	FILE *f;
	bool pretty;			/* members on lines of their own, indented by two */
	unsigned depth;
	bool after_key;
	bool is_array[JSON_DEPTH], has_items[JSON_DEPTH];
};

void json_begin_object(struct json *j);
void json_end_object(struct json *j);
void json_begin_array(struct json *j);
void json_end_array(struct json *j);
void json_key(struct json *j, const char *key);

/* A byte that is not valid UTF-8 is written as \udcXX, as Python's surrogateescape does: os.fsencode gives the name back.
   NULL is written as null. */
void json_string(struct json *j, const char *s);
void json_string_n(struct json *j, const char *s, size_t n);
void json_uint(struct json *j, uint64_t v);
void json_int(struct json *j, int64_t v);
void json_hex(struct json *j, uint64_t v);				/* "0x1f" */
void json_bytes(struct json *j, const void *p, size_t n);		/* "00ff" */
void json_double(struct json *j, double v);				/* null when it is not finite */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);

/* Length of the valid UTF-8 sequence at s (n bytes left), or 0. */
size_t utf8_length(const char *s, size_t n);
#endif
