/* moments.c linked | LIBRARY HOW... - loads a library in odd ways: "linked" is one that the program needs; else it is opened and
   closed (open), opened and left (leave), or the same in a namespace of its own (open-new, leave-new). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before any library's constructor. */
__attribute__((noinline, noclone)) long in_preinit(long x) { __asm__ volatile (""); return x + 1; }
static void preinit(void) { for (volatile long x = 0; x < 18;) x = in_preinit(x); }
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = preinit;

#ifdef LINKED
int moments(int in_exit);
#endif

static void use(const char *library, const char *how)
{
	void *h = strstr(how, "new") ? dlmopen(LM_ID_NEWLM, library, RTLD_NOW) : dlopen(library, RTLD_NOW);
	int (*moments)(int) = h ? (int (*)(int))dlsym(h, "moments") : NULL;

	if (!moments || moments(0)) {
		puts(h ? "wrong" : dlerror());
		exit(1);
	}
	if (!strncmp(how, "open", 4))
		dlclose(h);
}

int main(int argc, char **argv)
{
#ifdef LINKED
	if (argc == 2)
		return moments(1);
#endif
	for (int i = 2; i < argc; i++)
		use(argv[1], argv[i]);
	return 0;
}
