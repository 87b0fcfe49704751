/* survive-lazy.c - opens the library, calls the function 1,000,003 times, closes it; as often as the argument says. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 1000003 };

int main(int argc, char **argv)
{
	for (int n = argc > 1 ? atoi(argv[1]) : 1; n; n--) {
		void *lib = dlopen("libsurvive.so", RTLD_NOW), *symbol = lib ? dlsym(lib, "called") : NULL;
		long (*called)(long), x = 0;

		if (!symbol) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		memcpy(&called, &symbol, sizeof called);
		while (x < TIMES)
			x = called(x);
		dlclose(lib);
	}
	return 0;
}
