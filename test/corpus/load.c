/* load.c - load OBJECT...: loads each in a process of its own and calls what the loader would call: every exported ifunc is
   resolved by dlsym.  Prints "OBJECT ok IFUNCS", "OBJECT no REASON" or "OBJECT signal N". */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t symbols_of(const ElfW(Dyn) *d, const ElfW(Sym) **symbols, const char **strings)
{
	const uint32_t *gnu = NULL, *hash = NULL;
	for (; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			*symbols = (const void *)d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			*strings = (const void *)d->d_un.d_ptr;
		else if (d->d_tag == DT_GNU_HASH)
			gnu = (const void *)d->d_un.d_ptr;
		else if (d->d_tag == DT_HASH)
			hash = (const void *)d->d_un.d_ptr;
	}
	if (hash)
		return hash[1];
	if (!gnu)
		return 0;
	const uint32_t *buckets = gnu + 4 + gnu[2] * (sizeof(ElfW(Addr)) / 4), *chain = buckets + gnu[0];
	uint32_t last = 0;
	for (uint32_t i = 0; i < gnu[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < gnu[1])
		return last;
	while (!(chain[last - gnu[1]] & 1))
		last++;
	return last + 1;
}

static int load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	if (!handle) {
		printf("%s no %s\n", path, dlerror());
		return 0;
	}
	struct link_map *map;
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;
	unsigned long ifuncs = 0;
	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map)) {
		size_t n = symbols_of(map->l_ld, &symbols, &strings);
		for (size_t i = 1; i < n; i++)
			if ((symbols[i].st_info & 15) == STT_GNU_IFUNC && symbols[i].st_shndx != SHN_UNDEF && dlsym(handle, strings + symbols[i].st_name))
				ifuncs++;
	}
	printf("%s ok %lu\n", path, ifuncs);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int status;
		fflush(stdout);
		pid_t pid = fork();
		if (!pid) {
			alarm(30);
			load(argv[i]);
			fflush(stdout);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status))
			printf("%s signal %d\n", argv[i], WTERMSIG(status));
	}
	return 0;
}
