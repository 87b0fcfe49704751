/* jump-hoisted.c - two switches in one loop with calls: the compiler takes both table addresses out of the loop */
#include <stdio.h>
#define C(n) case n: a = (a ^ (n * 77 + 5)) + step(a);
#define D(n) case n: a += n * 3 + step(a + n); break;
#define FIVE(X, n) X(n) break; X(n + 1) break; X(n + 2) break; X(n + 3) break; X(n + 4) break;
#define FORTY(X) FIVE(X, 0) FIVE(X, 5) FIVE(X, 10) FIVE(X, 15) FIVE(X, 20) FIVE(X, 25) FIVE(X, 30) FIVE(X, 35)

static unsigned __attribute__((noinline)) step(unsigned a) { return a * 2654435761u >> 7; }

unsigned __attribute__((noinline)) work(const unsigned char *s, const unsigned char *t, int n)
{
	unsigned a = 1;
	for (int i = 0; i < n; i++) {
		switch (s[i]) {
		FORTY(C)
		default: puts("other"); break;
		}
		switch (t[i] + 0u) {
		FORTY(D)
		default: a ^= step(a); break;
		}
	}
	return a;
}

void run(void)
{
	unsigned char s[200], t[200];
	for (int i = 0; i < 200; i++) {
		s[i] = i * 7 % 41;
		t[i] = i * 11 % 43;
	}
	printf("%u\n", work(s, t, 200));
}
