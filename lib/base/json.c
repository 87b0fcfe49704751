/* json.c - a streaming JSON writer. */
#include "lib/base/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void newline(struct json *j)
{
	if (!j->pretty)
		return;
	fprintf(j->f, "\n%*s", (int)(2 * j->depth), "");
}

/* What stands before a value or key: nothing behind a key, else a comma. */
static void before(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->depth)
		return;
	if (j->has_items[j->depth - 1])
		putc_unlocked(',', j->f);
	j->has_items[j->depth - 1] = true;
	newline(j);
}

static void after(struct json *j)
{
	if (!j->depth)
		putc_unlocked('\n', j->f);
}

static void begin(struct json *j, bool is_array)
{
	before(j);
	if (j->depth == JSON_DEPTH)
		abort();
	j->is_array[j->depth] = is_array;
	j->has_items[j->depth++] = false;
	putc_unlocked(is_array ? '[' : '{', j->f);
}

static void end(struct json *j)
{
	j->depth--;
	if (j->has_items[j->depth])
		newline(j);
	putc_unlocked(j->is_array[j->depth] ? ']' : '}', j->f);
	after(j);
}

void json_begin_object(struct json *j)
{
	begin(j, false);
}

void json_end_object(struct json *j)
{
	end(j);
}

void json_begin_array(struct json *j)
{
	begin(j, true);
}

void json_end_array(struct json *j)
{
	end(j);
}

size_t utf8_length(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned lowest = 0x80, highest = 0xbf;
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (len > n)
		return 0;
	/* No over-long forms, no surrogates, nothing above U+10FFFF. */
	if (p[0] == 0xe0)
		lowest = 0xa0;
	if (p[0] == 0xed)
		highest = 0x9f;
	if (p[0] == 0xf0)
		lowest = 0x90;
	if (p[0] == 0xf4)
		highest = 0x8f;
	for (size_t i = 1; i < len; i++, lowest = 0x80, highest = 0xbf)
		if (p[i] < lowest || p[i] > highest)
			return 0;
	return len;
}

static void escape(FILE *f, unsigned char c)
{
	const char *from = "\"\\\n\t\r\b\f", *to = "\"\\ntrbf", *hit = strchr(from, c);

	if (c && hit)
		fprintf(f, "\\%c", to[hit - from]);
	else
		fprintf(f, "\\u%04x", c);
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static void quoted(FILE *f, const char *s, size_t n)
{
	size_t len;

	putc_unlocked('"', f);
	for (size_t i = 0; i < n; i += len) {
		unsigned char c = (unsigned char)s[i];

		for (len = 0; i + len < n && is_plain((unsigned char)s[i + len]);)
			len++;
		if (len) {
			fwrite_unlocked(s + i, 1, len, f);
			continue;
		}
		len = utf8_length(s + i, n - i);
		if (!len)
			fprintf(f, "\\udc%02x", c);
		else if (len == 1)
			escape(f, c);
		else
			fwrite_unlocked(s + i, 1, len, f);
		len = len ? len : 1;
	}
	putc_unlocked('"', f);
}

void json_key(struct json *j, const char *key)
{
	before(j);
	quoted(j->f, key, strlen(key));
	putc_unlocked(':', j->f);
	if (j->pretty)
		putc_unlocked(' ', j->f);
	j->after_key = true;
}

void json_string_n(struct json *j, const char *s, size_t n)
{
	before(j);
	quoted(j->f, s, n);
	after(j);
}

void json_string(struct json *j, const char *s)
{
	if (s)
		json_string_n(j, s, strlen(s));
	else
		json_null(j);
}

/* Digits of v in front of end. */
static char *digits(char *end, uint64_t v, unsigned base)
{
	do
		*--end = "0123456789abcdef"[v % base];
	while (v /= base);
	return end;
}

void json_uint(struct json *j, uint64_t v)
{
	char text[24], *end = text + sizeof text, *p = digits(end, v, 10);

	before(j);
	fwrite_unlocked(p, 1, (size_t)(end - p), j->f);
	after(j);
}

void json_int(struct json *j, int64_t v)
{
	char text[24], *end = text + sizeof text, *p = digits(end, v < 0 ? -(uint64_t)v : (uint64_t)v, 10);

	if (v < 0)
		*--p = '-';
	before(j);
	fwrite_unlocked(p, 1, (size_t)(end - p), j->f);
	after(j);
}

void json_hex(struct json *j, uint64_t v)
{
	char text[24], *end = text + sizeof text, *p;

	*--end = '"';
	p = digits(end, v, 16);
	*--p = 'x';
	*--p = '0';
	*--p = '"';
	before(j);
	fwrite_unlocked(p, 1, (size_t)(end + 1 - p), j->f);
	after(j);
}

void json_bytes(struct json *j, const void *p, size_t n)
{
	const unsigned char *bytes = p;

	before(j);
	putc_unlocked('"', j->f);
	for (size_t i = 0; i < n; i++)
		fprintf(j->f, "%02x", bytes[i]);
	putc_unlocked('"', j->f);
	after(j);
}

void json_double(struct json *j, double v)
{
	char text[40];

	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	before(j);
	snprintf(text, sizeof text, "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof text, "%.17g", v);
	fputs(text, j->f);
	after(j);
}

void json_bool(struct json *j, bool v)
{
	before(j);
	fputs(v ? "true" : "false", j->f);
	after(j);
}

void json_null(struct json *j)
{
	before(j);
	fputs("null", j->f);
	after(j);
}
