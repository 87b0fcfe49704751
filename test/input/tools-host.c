/* tools-host.c - a C library's callback, calls that go through a library of ours, and back into the program. */
#include <stdio.h>
#include <stdlib.h>

int twice_through(int (*f)(int), int x);

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int callback(int x) { return x + 1; }

int main(void)
{
	int v[] = { 3, 1, 2, 7, 5 };

	qsort(v, 5, sizeof *v, compare);
	printf("%d %d %d\n", v[0], v[4], twice_through(callback, 20));
	return 0;
}
