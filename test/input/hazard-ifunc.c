/* hazard-ifunc.c - indirect functions: exported, hidden with a pointer (IRELATIVE), a resolver that calls others. */
#include "hazard.h"
int ifunc_out(int x);
int ifunc_all(int x);
extern int (*ifunc_pointer)(int);
int (*ifunc_address(void))(int);
#ifdef HOST
int main(void)
{
	printf("%d %d %d %d\n", ifunc_out(3), ifunc_all(4), ifunc_pointer(5), ifunc_out == ifunc_address());
	return 0;
}
#else
static __attribute__((noinline)) int level(const char *s) { return s[0] - '0' + (s[1] == 'x'); }
__attribute__((visibility("hidden"), noinline)) int ifunc_choose(int n) { return level("2x") + n; }
static int a(int x) { return x + 1; }
static int b(int x) { return x * 10; }
static int (*resolve_out(void))(int) { return ifunc_choose(0) == 3 ? b : a; }
static int (*resolve_hidden(void))(int) { return ifunc_choose(1) == 3 ? b : a; }
int ifunc_out(int x) __attribute__((ifunc("resolve_out")));
__attribute__((visibility("hidden"))) int ifunc_hidden(int x) __attribute__((ifunc("resolve_hidden")));
int (*ifunc_pointer)(int) = ifunc_hidden;
int ifunc_all(int x) { return ifunc_out(x) + ifunc_hidden(x) + abs(-x) + ifunc_pointer(x); }
int (*ifunc_address(void))(int) { return ifunc_out; }
#endif
