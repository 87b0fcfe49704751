/* tools-lib.c - static and global functions that do not become one. */
int twice_through(int (*f)(int), int x);
static __attribute__((noinline)) int inner(int (*f)(int), int x) { return f(x) + 1; }
static __attribute__((noinline)) int middle(int (*f)(int), int x) { return inner(f, x) * 2 - x; }
int twice_through(int (*f)(int), int x) { return middle(f, x) + f(x) / 3; }
