/* mips-links-host.c - calls each function of mips-links.s 7 times with a small number, 5 times with a negative one. */
#include <stdio.h>
int links_one(int *), links_two(int *), links_slot(int *), links_entered(int *), links_none(int *);

int main(void)
{
	int (*const functions[])(int *) = { links_one, links_two, links_slot, links_entered, links_none };
	for (int k = 0; k < 5; k++) {
		int small = 0, negative = -1000, done = 0;
		for (int i = 0; i < 7; i++)
			done += functions[k](&small);
		for (int i = 0; i < 5; i++)
			done += functions[k](&negative);
		printf("%d %d %d\n", small, negative, done);
	}
	return 0;
}
