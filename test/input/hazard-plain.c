/* hazard-plain.c - calls through the PLT, a switch, pointers, constructors: for all linkers and options. */
#include "hazard.h"
int plain_run(int n, int (*f)(int));
extern int plain_order[4], plain_made;
extern int (*const plain_table[3])(int);
#ifdef HOST
static int add(int x) { return x + 100; }
int main(void)
{
	for (int i = -1; i < 12; i++)
		printf("%d ", plain_run(i, add));
	for (int i = 0; i < 3; i++)
		printf("%d ", plain_table[i](i));
	printf("%d %d%d%d\n", plain_made, plain_order[0], plain_order[1], plain_order[2]);
	return 0;
}
#else
int plain_order[4], plain_made;
int plain_one(int x) { return x + 1; }
int plain_two(int x) { return plain_one(x) * 2; }
static int three(int x) { return plain_two(x) - 3; }
int (*const plain_table[3])(int) = { plain_one, plain_two, three };
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
#ifndef NO_CONSTRUCTORS
__attribute__((constructor(101))) static void first(void) { plain_order[plain_made++] = 1; }
__attribute__((constructor(102))) static void second(void) { plain_order[plain_made++] = 2; }
__attribute__((destructor)) static void last(void) { if (getenv("LAST")) puts("gone"); }
#endif
void plain_init(void) { plain_order[plain_made++] = 3; }
void plain_fini(void) { }
int plain_run(int n, int (*f)(int))
{
	int v[6] = { 5, n, 3, 9, -2, 4 };

	switch (n) {
	case 0: return plain_one(n);
	case 1: return abs(-n) + 7;
	case 2: return plain_two(n);
	case 3: return f(n);
	case 4: qsort(v, 6, sizeof *v, compare); return v[0] * 10 + v[5];
	case 5: return plain_table[n % 3](n);
	case 6: return (int)strlen("seven++") + three(n);
	case 7: return f == three ? 1 : f(plain_one(n));
	case 8: return (f == plain_one) + atoi("77");
	case 9: v[1] = 3; return v[1] << n;
	}
	return n < 0 ? -1 : f(f(n));
}
#endif
