/* jump-odd.c - calls what jump-odd.s has */
#include <stdio.h>
int one(int), two(int), bytes(int), end(int), late(int), slots(long), tail(int), pick(int);

void run(void)
{
	printf("%d %d %d %d %d\n", one(0), two(0), two(1), end(0), end(1));
	printf("%d %d %d %d\n", bytes(0x80), bytes(0x01), bytes(0x02), bytes(0x03));
	printf("%d %d %d %d\n", late(0), late(5), late(6), late(9));
	printf("%d %d %d\n", slots(0), slots(1), slots(2));
	printf("%d %d %d\n", tail(0), pick(0), pick(1));
}
