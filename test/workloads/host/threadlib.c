/* What the threads of threadhost run: thread-local state, callbacks, a recursive function. */
#include <stdlib.h>

static __thread unsigned long state = 1;
__thread int threadlib_depth;

unsigned long threadlib_next(void)
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return state >> 33;
}

static int order(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

unsigned long threadlib_sort(unsigned long seed, size_t n)
{
	unsigned long *v = malloc(n * sizeof *v), sum = 0;

	state = seed;
	for (size_t i = 0; i < n; i++)
		v[i] = threadlib_next();
	qsort(v, n, sizeof *v, order);
	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + v[i];
	free(v);
	return sum;
}

int threadlib_ackermann(int m, int n)
{
	int r;

	threadlib_depth++;
	r = m == 0 ? n + 1 : threadlib_ackermann(m - 1, n == 0 ? 1 : threadlib_ackermann(m, n - 1));
	threadlib_depth--;
	return r;
}
