/* permit-pointers - functions whose addresses are taken in code and in data, compared, kept and called.  With HOST the program,
   else its library.  static: the address is made of a page of the GOT on MIPS; hidden: it is a word of the GOT; seen: the loader tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*function)(int);
#define EACH(X) X(static, 0) X(static, 1) X(static, 2) X(static, 3) X(hidden, 0) X(hidden, 1) X(hidden, 2) X(hidden, 3) X(seen, 0) X(seen, 1)
enum { FUNCTIONS = 10 };
extern function pointers_kept[];
extern const function pointers_constant[];
extern int (*const pointers_is[])(function), (*const pointers_is_again[])(function);
extern function (*const pointers_get[])(void);
int pointers_which(function f);
void pointers_sort(int *v, int n, int backwards);
function pointers_choose(int i, int j);
int pointers_seen0(int x), pointers_seen1(int x);

#ifndef HOST
#define KIND_static static
#define KIND_hidden __attribute__((visibility("hidden")))
#define KIND_seen
#define KEPT __attribute__((noinline, noclone))

/* Some call other objects, and so have a gp; some are leaves. */
#define FUNCTION(kind, i) KIND_##kind KEPT int pointers_##kind##i(int x) \
{ \
	char s[16]; \
	if (i & 1) \
		return x * (i + 3) ^ (x >> 3) ^ i; \
	snprintf(s, sizeof s, "%d", x + i); \
	return (int)strlen(s) + x * (int)sizeof #kind; \
}
EACH(FUNCTION)

#define IS(kind, i) static KEPT int is_##kind##i(function f) { return f == pointers_##kind##i; }
#define AGAIN(kind, i) static KEPT int again_##kind##i(function f) { return (int)strlen("x") + (f == pointers_##kind##i); }
#define GET(kind, i) static KEPT function get_##kind##i(void) { return pointers_##kind##i; }
EACH(IS)
EACH(AGAIN)
EACH(GET)

#define NAME(kind, i) pointers_##kind##i,
#define IS_NAME(kind, i) is_##kind##i,
#define AGAIN_NAME(kind, i) again_##kind##i,
#define GET_NAME(kind, i) get_##kind##i,
function pointers_kept[] = { EACH(NAME) };
const function pointers_constant[] = { EACH(NAME) };
int (*const pointers_is[])(function) = { EACH(IS_NAME) }, (*const pointers_is_again[])(function) = { EACH(AGAIN_NAME) };
function (*const pointers_get[])(void) = { EACH(GET_NAME) };

int pointers_which(function f)
{
#define WHICH(kind, i) if (f == pointers_##kind##i) return i * 10 + (int)sizeof #kind + f(i);
	EACH(WHICH)
	return -1;
}

static int up(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int down(const void *a, const void *b) { return up(b, a); }

void pointers_sort(int *v, int n, int backwards)
{
	int (*order)(const void *, const void *) = backwards ? down : up;
	qsort(v, n, sizeof *v, order);
	if (order == down)
		v[0]++;
}

/* A way through code with a choice: the same register has one of two addresses. */
function pointers_choose(int i, int j)
{
	function f = i ? pointers_static0 : pointers_hidden0;
	if (j && f == pointers_static0)
		f = pointers_static1;
	else if (j)
		f = pointers_hidden1;
	return f;
}
#else
int main(void)
{
	int v[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
	for (int i = 0; i < FUNCTIONS; i++) {
		function f = pointers_get[i]();
		printf("%d:", i);
		for (int k = 0; k < FUNCTIONS; k++)
			printf(" %d%d%d%d", pointers_is[k](f), pointers_is[k](pointers_kept[i]), pointers_is_again[k](pointers_constant[i]),
			       pointers_is_again[k](f));
		printf(" %d %d %d %d", f == pointers_kept[i], f == pointers_constant[i], pointers_which(f), pointers_which(pointers_kept[i]));
		printf(" %d %d\n", f(1000 + i), pointers_constant[i](77));
	}
	printf("%d %d\n", pointers_is[8](pointers_seen0), pointers_seen1 == pointers_kept[9]);
	for (int i = 0; i < 4; i++) {
		function f = pointers_choose(i & 1, i >> 1);
		printf("%d %d", pointers_which(f), f(i));
		for (int k = 0; k < FUNCTIONS; k++)
			printf(" %d", f == pointers_kept[k]);
		pointers_sort(v, 8, i & 1);
		printf(" %d %d\n", v[0], v[7]);
	}
	return 0;
}
#endif
