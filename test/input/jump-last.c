/* jump-last.c - a switch whose last block is a call that never returns, and cases that cannot happen */
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int say(const char *s, int n) { puts(s); return n + 1; }

__attribute__((noinline)) int last(unsigned n, int a)
{
	switch (n) {
	case 0: return say("zero", a);
	case 1: return say("one", a) * 3;
	case 2: return say("two", a) - 7;
	case 4: return say("four", a) ^ 9;
	case 6: return say("six", a) + 11;
	case 7: return say("seven", a) * a;
	case 3: case 5: __builtin_unreachable();
	default: exit(say("the end", a) & 0);
	}
}

void run(void)
{
	static const unsigned char order[] = { 7, 6, 4, 2, 1, 0, 9 };
	int a = 5;
	for (unsigned i = 0; i < sizeof order; i++)
		a = last(order[i], a);
}
