/* gothost - calls the parts of a library that has more than one global offset table. */
#include <stdio.h>

int part1(int);
int part2(int);
int part3(int);

int main(void)
{
	printf("%d\n", part1(1));
	printf("%d\n", part2(part3(2)));
	return 0;
}
