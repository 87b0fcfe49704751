/* decode.h - instructions of a block: how many, where, and what they say. */
#ifndef PROF_REPORT_DECODE_H
#define PROF_REPORT_DECODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder;

/* For an ELF machine number; one that cannot be disassembled still counts when its instructions have one width. NULL: unknown. */
struct decoder *decoder_new(unsigned e_machine, bool big_endian);
void decoder_free(struct decoder *d);

/* Length of the instruction at p (n bytes left); 0: none there. */
size_t decode_length(const struct decoder *d, const uint8_t *p, size_t n);
/* Instructions in a block; bytes that are none end it. */
uint32_t decode_count(const struct decoder *d, const uint8_t *p, size_t n);
/* Writes the instruction in AT&T syntax, returns its length (0: none). *target: where a direct branch or call goes, or 0. */
size_t decode_text(const struct decoder *d, const uint8_t *p, size_t n, uint64_t at, char *text, size_t size, uint64_t *target);
#endif
