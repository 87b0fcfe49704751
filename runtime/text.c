/* text.c - strings and numbers, without a C library. */
#include "runtime/text.h"

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	char *t = to;
	const char *f = from;

	while (n--)
		*t++ = *f++;
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	if ((uintptr_t)t <= (uintptr_t)f)
		return memcpy(to, from, n);
	while (n--)
		t[n] = f[n];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	char *t = to;

	while (n--)
		*t++ = (char)c;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

size_t text_length(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n])
		n++;
	return n;
}

char *text_decimal(char *to, uint32_t n)
{
	char digits[10];
	int i = 0;

	do
		digits[i++] = (char)('0' + n % 10);
	while (n /= 10);
	while (i)
		*to++ = digits[--i];
	return to;
}

bool text_number(const char *s, uint64_t *n)
{
	const uint64_t tenth = UINT64_MAX / 10;

	if (!*s)
		return false;
	for (*n = 0; *s; s++) {
		if (*s < '0' || *s > '9')
			return false;
		*n = *n < tenth ? *n * 10 + (uint64_t)(*s - '0') : UINT64_MAX;
	}
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint64_t text_hex(const char **s, const char *end)
{
	uint64_t n = 0;

	while (*s < end && hex_digit(**s) >= 0)
		n = n << 4 | (uint64_t)hex_digit(*(*s)++);
	return n;
}

/* The length without a last part of a point and digits, or 0. */
static size_t cut_number(const char *name, size_t n)
{
	size_t digits = 0;

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--, digits++;
	return digits && n && name[n - 1] == '.' ? n - 1 : 0;
}

bool text_is_counter_file(const char *name, size_t n)
{
	return cut_number(name, cut_number(name, n)) > 0;
}
