/* jump-wide.c - 300 cases over an unsigned short whose bound the caller tests: none is in the function itself */
#include <stdio.h>
#define W(n) case n: return a * (n + 3) ^ (n * 40503u + b);
#define TEN(n) W(n) W(n + 1) W(n + 2) W(n + 3) W(n + 4) W(n + 5) W(n + 6) W(n + 7) W(n + 8) W(n + 9)
#define HUNDRED(n) TEN(n) TEN(n + 10) TEN(n + 20) TEN(n + 30) TEN(n + 40) TEN(n + 50) TEN(n + 60) TEN(n + 70) TEN(n + 80) TEN(n + 90)

__attribute__((noinline)) unsigned wide(const unsigned short *op, unsigned a, unsigned b)
{
	switch (*op) {
	HUNDRED(0) HUNDRED(100) HUNDRED(200)
	default: __builtin_unreachable();
	}
}

void run(void)
{
	unsigned sum = 0;
	for (unsigned short op = 0; op < 320; op++)
		if (op < 300)
			sum += wide(&op, sum, op + 1);
	printf("%u\n", sum);
}
