/* print.c - lines of text, and the names of row types. */
#include "formats/profile.h"
#include "formats/relocations.h"
#include "formats/stream.h"
#include "tools/map-dump/dump.h"
#include <inttypes.h>
#include <string.h>

static const struct row_type relocations[] = {
	[REL_PROLOGUE] = { "prologue", INFORMATION_NUMBER },
	[REL_VIRTUAL_ADDRESS] = { "virtual-address", INFORMATION_ADDRESS },
	[REL_GOT_REFERENCE] = { "got-reference", INFORMATION_ADDRESS },
	[REL_RANGE] = { "range", INFORMATION_NUMBER },
	[REL_JUMP_TABLE] = { "jump-table", INFORMATION_ADDRESS },
	[REL_JUMP_ENTRY] = { "jump-entry", INFORMATION_ADDRESS },
	[REL_LANDING_PAD] = { "landing-pad", INFORMATION_ADDRESS },
	[REL_BLOCK_START] = { "block-start", INFORMATION_NUMBER },
	[REL_NOT_MOVED] = { "not-moved", INFORMATION_NUMBER },
	[REL_LABEL] = { "label", INFORMATION_ADDRESS },
};

static const struct row_type profile[] = {
	[PROFILE_BLOCK] = { "block", INFORMATION_NUMBER },
	[PROFILE_OLD_ENTRY] = { "old-entry", INFORMATION_NUMBER },
	[PROFILE_NOT_COUNTED] = { "not-counted", INFORMATION_NUMBER },
	[PROFILE_RUN] = { "run", INFORMATION_NUMBER },
	[PROFILE_MODULE] = { "module", INFORMATION_NUMBER },
	[PROFILE_PROTOTYPE] = { "prototype", INFORMATION_NUMBER },
	[PROFILE_TRACE] = { "trace", INFORMATION_NUMBER },
	[PROFILE_STUBS] = { "stubs", INFORMATION_NUMBER },
	[PROFILE_ABORT] = { "abort", INFORMATION_NUMBER },
	[PROFILE_FLUSH] = { "flush", INFORMATION_NUMBER },
	[PROFILE_DEATH] = { "death", INFORMATION_NUMBER },
	[PROFILE_SAMPLE] = { "sample", INFORMATION_NUMBER },
	[PROFILE_RUN_END] = { "run-end", INFORMATION_NUMBER },
};

#define LENGTH(a) ((int64_t)(sizeof (a) / sizeof *(a)))

struct row_type row_type(int kind, int64_t type)
{
	if (kind == STREAM_RELOCATIONS && type < LENGTH(relocations))
		return relocations[type];
	if (kind == STREAM_PROFILE && type < LENGTH(profile))
		return profile[type];
	return (struct row_type){ NULL, INFORMATION_NUMBER };
}

void put_text(FILE *f, const char *s)
{
	size_t left = strlen(s);

	while (left) {
		unsigned char c = (unsigned char)*s;
		size_t n = utf8_length(s, left);
		/* The second row of control characters, U+0080 to U+009F. */
		bool is_control = c < ' ' || c == 0x7f || (c == 0xc2 && n == 2 && (unsigned char)s[1] < 0xa0);

		if (!n || is_control) {
			fprintf(f, "\\x%02x", c);
			n = 1;
		} else {
			fwrite(s, 1, n, f);
		}
		s += n;
		left -= n;
	}
}

void print_label(struct dump *d, const char *label)
{
	fprintf(d->to, "  %-12s ", label);
}

void print_text(struct dump *d, const char *label, const char *value)
{
	print_label(d, label);
	put_text(d->to, value);
	putc('\n', d->to);
}

void print_number(struct dump *d, const char *label, uint64_t value)
{
	print_label(d, label);
	fprintf(d->to, "%" PRIu64 "\n", value);
}

void print_bytes(struct dump *d, const char *label, const unsigned char *p, size_t n)
{
	print_label(d, label);
	for (size_t i = 0; i < n; i++)
		fprintf(d->to, "%02x", p[i]);
	putc('\n', d->to);
}
