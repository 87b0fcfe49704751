/* jump-labels.c - as in a printf: differences of labels, relative to a label and not to the table, several tables for one set of labels */
#include <stdio.h>
#include <stdarg.h>

__attribute__((noinline)) int format(char *out, const char *f, ...)
{
	static const unsigned char kind[] = { ['%' - ' '] = 1, ['d' - ' '] = 2, ['s' - ' '] = 3, ['l' - ' '] = 4, ['x' - ' '] = 5, ['c' - ' '] = 6 };
#define D(label) &&label - &&unknown
	static const int first[] = { D(unknown), D(percent), D(decimal), D(string), D(wide), D(hex), D(character) };
	static const int second[] = { D(unknown), D(unknown), D(decimal), D(unknown), D(unknown), D(hex), D(unknown) };
	char *o = out;
	int is_long = 0;
	va_list ap;
	va_start(ap, f);
#define JUMP(table) do { int c = *f++ - ' '; goto *(&&unknown + table[c >= 0 && c < (int)sizeof kind ? kind[c] : 0]); } while (0)
	while (*f) {
		if (*f != '%') {
			*o++ = *f++;
			continue;
		}
		f++;
		is_long = 0;
		JUMP(first);
wide:		is_long = 1;
		JUMP(second);
percent:	*o++ = '%';
		continue;
decimal:	o += sprintf(o, "%ld", is_long ? va_arg(ap, long) : va_arg(ap, int));
		continue;
string:		o += sprintf(o, "%s", va_arg(ap, const char *));
		continue;
hex:		o += sprintf(o, "%lx", is_long ? va_arg(ap, long) : va_arg(ap, int));
		continue;
character:	*o++ = va_arg(ap, int);
		continue;
unknown:	*o++ = '?';
	}
	*o = 0;
	va_end(ap);
	return o - out;
}

void run(void)
{
	char s[200];
	int n = format(s, "%d %s %% %ld %lx %x %c %q %lq end", 42, "text", 1L << 40, 0x123456789abcL, 255, 'z');
	printf("%d %s\n", n, s);
}
