/* jumplib - switches (gp-relative jump tables), computed gotos, setjmp and longjmp, callbacks and static function tables. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

int jump_switch(int c, int x)
{
	switch (c) {
	case 0: return x + 1;
	case 1: return x * 3;
	case 2: return x - 7;
	case 3: return x << 2;
	case 4: return x ^ 0x55;
	case 5: return ~x;
	case 6: return x / 3;
	case 7: return x % 5;
	case 9: return abs(x);
	case 11: return -x;
	case 12: return x | 1;
	case 13: return x & 0xf0;
	default: return 0;
	}
}

/* A table in a loop, whose cases fall into each other. */
unsigned jump_text(const char *s)
{
	unsigned h = 1;

	for (; *s; s++)
		switch (*s) {
		case 'a': h += 3; /* fall through */
		case 'b': h *= 5; break;
		case 'c': h ^= h >> 3; break;
		case 'd': h -= 11; /* fall through */
		case 'e': h = h << 5 | h >> 27; break;
		case 'f': h = ~h; break;
		case 'g': return h;
		case 'h': h += (unsigned)strlen(s); break;
		default: h++;
		}
	return h;
}

/* A little machine with the addresses of labels. */
long jump_machine(const unsigned char *code)
{
	static const void *const labels[] = { &&push, &&add, &&multiply, &&negate, &&branch, &&stop };
	long stack[16] = { 0 }, steps = 0;
	int n = 0;

#define NEXT do { if (++steps > 100000) return -1; goto *labels[*code++]; } while (0)
	NEXT;
push:	stack[n++ & 15] = *code++; NEXT;
add:	n--; stack[(n - 1) & 15] += stack[n & 15]; NEXT;
multiply: n--; stack[(n - 1) & 15] *= stack[n & 15]; NEXT;
negate:	stack[(n - 1) & 15] = -stack[(n - 1) & 15]; NEXT;
branch:	if (--stack[0] > 0) code -= *code; else code++; NEXT;
stop:	return stack[(n - 1) & 15] + steps * 1000;
}

static jmp_buf top;

static int descend(int n, int (*callback)(int))
{
	if (n == 0)
		longjmp(top, callback(7));
	return descend(n - 1, callback) + 1;
}

int jump_far(int n, int (*callback)(int))
{
	int code = setjmp(top);

	return code ? code * 100 + n : descend(n, callback);
}

static int one(int x) { return x + 1; }
static int two(int x) { return x * 2; }
static int three(int x) { return jump_switch(x % 14, x); }
static int (*const table[])(int) = { one, two, three, one, abs };

int jump_table(int i, int x)
{
	return table[(unsigned)i % 5](x);
}

int (*jump_pick(int i))(int)
{
	return i & 1 ? one : two;
}
