/* run.c - reads the index of a run. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/run.h"
#include "lib/base/mem.h"

bool run_index_is_sound(const void *bytes, size_t size)
{
	const struct run_index *x = bytes;
	const struct run_entry *e = run_entries(x);

	if (size < sizeof *x || memcmp(x->magic, RUN_MAGIC, sizeof x->magic) || x->version != RUN_VERSION || x->size != size)
		return false;
	if ((size - sizeof *x) / sizeof *e < x->entries || x->directory >= size || run_string(x, 0)[size - 1])
		return false;
	for (uint32_t i = 0; i < x->entries; i++)
		if (e[i].original >= size || e[i].twin >= size || e[i].slashes > e[i].twin || e[i].why >= size)
			return false;
	return true;
}

/* Nobody changes an index in place, so that it can be mapped. */
const struct run_index *run_index_map(const char *directory)
{
	char *path = xasprintf("%s/%s", directory, RUN_INDEX);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	void *at = MAP_FAILED;

	free(path);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (at == MAP_FAILED)
		return NULL;
	if (run_index_is_sound(at, (size_t)st.st_size))
		return at;
	munmap(at, (size_t)st.st_size);
	return NULL;
}

void run_index_unmap(const struct run_index *x)
{
	if (x)
		munmap((void *)(uintptr_t)x, x->size);
}
