/* loader-lib.c - a library that counts calls, and may open another one by name. */
#include <dlfcn.h>
#include <stdio.h>

__attribute__((noinline, noclone)) long called(long x)
{
	return x + 1;
}

long hit(long n)
{
	long x = 0;

	while (x < n)
		x = called(x);
	return x;
}

void *open_for(const char *name)
{
	void *volatile h = dlopen(name, RTLD_NOW);	/* no tail call: the loader looks who calls */

	return h;
}
