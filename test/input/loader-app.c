/* loader-app.c [HOW NAME]... - calls a library that it is linked with (-DLINKED) and those that it opens, as often as the
   argument's number, and prints where each says it lies.  "two-threads A B": two threads open and close one each, 100 times. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
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
	if (!strcmp(how, "dlmopen-base"))
		return dlmopen(LM_ID_BASE, name, RTLD_NOW);
	if (!strcmp(how, "dlmopen-same")) {	/* into the namespace of what was opened before */
		Lmid_t id;

		return dlinfo(opener, RTLD_DI_LMID, &id) ? NULL : dlmopen(id, name, RTLD_NOW);
	}
	/* by what was opened before, in its own search */
	return ((void *(*)(const char *))dlsym(opener, "open_for"))(name);
}

static void *in_thread(void *name)
{
	Dl_info info;

	for (int i = 0; i < 100; i++) {
		void *h = dlmopen(LM_ID_BASE, name, RTLD_NOW);
		long (*hit)(long) = h ? (long (*)(long))dlsym(h, "hit") : NULL;

		if (!hit || hit(10) != 10 || !dladdr((void *)hit, &info) || strcmp(info.dli_fname, name)) {
			printf("%s\n", h ? info.dli_fname : dlerror());
			return NULL;
		}
		dlclose(h);
	}
	return name;
}

static int two_threads(char **names)
{
	pthread_t t[2];
	void *good[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, in_thread, names[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &good[i]);
	return !good[0] || !good[1];
}

#ifdef LINKED
long hit(long n);
#endif

int main(int argc, char **argv)
{
#ifdef LINKED
	use(hit);
#endif
	if (argc == 4 && !strcmp(argv[1], "two-threads"))
		return two_threads(argv + 2);
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
