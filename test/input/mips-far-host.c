/* mips-far-host.c - calls the functions that mips/far.py makes. */
#include <stdio.h>
int far_leaf(int a, int b, int c), far_calls(int a), far_tight(int a);

int main(void)
{
	for (int a = 0; a < 6; a++)
		for (int c = -1; c < 2; c++)
			printf("%d %d: %d %d %d\n", a, c, far_leaf(a * 391, 0, c), far_calls(a * 3), far_tight(a));
	printf("%d\n", far_leaf(1, 0, 1));
	return 0;
}
