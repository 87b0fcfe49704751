/* dump.h - what the parts of map-dump share. */
#ifndef MAP_DUMP_DUMP_H
#define MAP_DUMP_DUMP_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/base/json.h"

struct dump {
	FILE *to;
	struct json json;	/* writes to the same file */
	bool as_json;
	bool summary;		/* no rows */
	bool all;		/* counters that are 0, too */
};

/* Each prints what it read; a fault was said, and msg_status is 1. */
void dump_stream(struct dump *d, FILE *from, const char *name);
void dump_counters(struct dump *d, FILE *from, const char *name);
void dump_object(struct dump *d, const char *path, const char *name);

/* How a row's information is meant. */
enum information { INFORMATION_NUMBER, INFORMATION_ADDRESS };
struct row_type { const char *name; enum information information; };
/* Types of which nothing is known have the name NULL. */
struct row_type row_type(int kind, int64_t type);

/* A line "  label   value" of a header. */
void print_label(struct dump *d, const char *label);
void print_text(struct dump *d, const char *label, const char *value);
void print_number(struct dump *d, const char *label, uint64_t value);
void print_bytes(struct dump *d, const char *label, const unsigned char *p, size_t n);
/* Text with control characters made visible: names come from files. */
void put_text(FILE *f, const char *s);
#endif
