/* loader-app.c [HOW NAME]... - calls a library that it is linked with (-DLINKED) and those that it opens, as often as the
   argument's number, and prints where each says it lies. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static void *opener;		/* the library opened last */

static void use(long (*hit)(long))
{
	static long n = 1000;
	Dl_info info;

	n++;
	if (!dladdr((void *)hit, &info))
		info.dli_fname = "nowhere";
	printf("%s %ld\n", info.dli_fname, hit(n));
}

static void *open_as(const char *how, const char *name)
{
	if (!strcmp(how, "dlopen"))
		return dlopen(name, RTLD_NOW);
	if (!strcmp(how, "dlmopen"))
		return dlmopen(LM_ID_NEWLM, name, RTLD_NOW);
	/* by what was opened before, in its own search */
	return ((void *(*)(const char *))dlsym(opener, "open_for"))(name);
}

#ifdef LINKED
long hit(long n);
#endif

int main(int argc, char **argv)
{
#ifdef LINKED
	use(hit);
#endif
	for (int i = 1; i + 1 < argc; i += 2) {
		void *h = open_as(argv[i], argv[i + 1]);
		struct link_map *map;
		char origin[4096];

		if (!h) {
			puts(dlerror());
			return 1;
		}
		if (!dlinfo(h, RTLD_DI_LINKMAP, &map) && !dlinfo(h, RTLD_DI_ORIGIN, origin))
			printf("%s: ", map->l_name);
		use((long (*)(long))dlsym(h, "hit"));
		opener = h;
	}
	return 0;
}
