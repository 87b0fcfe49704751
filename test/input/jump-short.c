/* jump-short.c - tables of two and three entries, one behind the other (compile with a low threshold for tables) */
#include <stdio.h>
#define F(name, ...) __attribute__((noinline)) int name(unsigned a, int b) { switch (a) { __VA_ARGS__ default: return b; } }
int __attribute__((noinline)) use(int a, int b) { printf("%d %d\n", a, b); return a * b; }
F(two, case 0: return use(1, b); case 1: return use(b, 17) + 3;)
F(three, case 3: return use(2, b) - 1; case 4: return use(b, 3) + 5; case 5: return use(b + 4, b) * 2;)
F(both, case 7: return use(9, b) + 2; case 8: switch (b & 3) { case 0: return use(4, 4) + 1; case 1: return use(5, a) - 2; case 2: return use(b, 6) + 3; default: return 8; })

void run(void)
{
	int sum = 0;
	for (unsigned a = 0; a < 10; a++)
		for (int b = 0; b < 6; b++)
			sum += two(a, b) + three(a, b) + both(a, b);
	printf("%d\n", sum);
}
