/* text.h - strings and numbers, without a C library. */
#ifndef RUNTIME_TEXT_H
#define RUNTIME_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The compiler may call these by itself. */
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);

size_t text_length(const char *s, size_t most);
/* Writes N in decimal; returns the place behind it.  No NUL. */
char *text_decimal(char *to, uint32_t n);
/* A number that fills the whole string; false when it is none.  What does not fit becomes the largest. */
bool text_number(const char *s, uint64_t *n);
/* Reads hexadecimal digits up to END; moves *s behind them. */
uint64_t text_hex(const char **s, const char *end);
/* Whether a file name has the form OBJECT.PID.N. */
bool text_is_counter_file(const char *name, size_t n);
#endif
