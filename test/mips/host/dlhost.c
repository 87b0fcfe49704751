/* dlhost LIBRARY... - opens, uses, closes and opens again what it is given (jumplib); lazily and at once. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		for (int round = 0; round < 3; round++) {
			void *library = dlopen(argv[i], round == 1 ? RTLD_NOW : RTLD_LAZY);
			int (*f)(int, int);

			if (!library) {
				printf("%s cannot be opened\n", argv[i]);
				continue;
			}
			f = (int (*)(int, int))dlsym(library, "jump_table");
			printf("round %d:", round);
			for (int k = 0; k < 10; k++)
				printf(" %d", f(k, k * round));
			printf(" %s\n", dlsym(library, "no_such") ? "found" : "none");
			dlclose(library);
		}
	return 0;
}
