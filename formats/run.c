/* run.c - reads the index of a run. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/run.h"
#include "lib/base/mem.h"

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
