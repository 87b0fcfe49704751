/* jump-goto.c - a bytecode loop: label addresses in a table that the loader relocates */
#include <stdio.h>

__attribute__((noinline)) long interpret(const unsigned char *pc, long a)
{
	static void *const labels[] = { &&stop, &&inc, &&dbl, &&loop, &&print, &&neg, &&bad, &&bad };
	unsigned char turns = 0;
#define NEXT goto *labels[*pc++ & 7]
	NEXT;
inc:	a++; NEXT;
dbl:	a *= 2; NEXT;
loop:	if (turns++ < *pc) { pc -= pc[1]; NEXT; } pc += 2; NEXT;
print:	printf("%ld\n", a); NEXT;
neg:	a = -a; NEXT;
bad:	puts("bad"); NEXT;
stop:	return a;
}

void run(void)
{
	static const unsigned char code[] = { 1, 2, 5, 1, 4, 3, 9, 6, 6, 7, 0 };
	printf("%ld\n", interpret(code, 3));
}
