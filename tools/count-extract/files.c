/* files.c - directory listings. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/counters.h"
#include "lib/base/msg.h"
#include "tools/count-extract/files.h"

char *path_join(const char *directory, const char *name)
{
	size_t n = strlen(directory);

	return xasprintf("%s%s%s", directory, n && directory[n - 1] == '/' ? "" : "/", name);
}

/* Where the ".digits" that ends at END begins, or END. */
static size_t number_before(const char *name, size_t end)
{
	size_t at = end;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	return at < end && at > 1 && name[at - 1] == '.' ? at - 1 : end;
}

size_t counter_object(const char *name)
{
	size_t end = strlen(name), serial = number_before(name, end), pid = number_before(name, serial);

	return serial < end && pid < serial ? pid : 0;
}

bool is_elf_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[SELFMAG];
	bool is_elf = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic && !memcmp(magic, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return is_elf;
}

static void add_file(struct listing *l, const char *name)
{
	char *path = path_join(l->directory, name);
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		vec_push(&l->files, ((struct listed){ .name = xstrdup(name), .is_elf = is_elf_file(path) }));
	free(path);
}

static uint32_t read_refused(const char *directory)
{
	char *path = path_join(directory, COUNTERS_USAGE);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct counters_usage usage = {0};

	if (fd >= 0) {
		if (read(fd, &usage, sizeof usage) != sizeof usage)
			usage.refused = 0;
		close(fd);
	}
	free(path);
	return usage.refused;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct listed *)a)->name, ((const struct listed *)b)->name);
}

bool listing_read(struct listing *l, const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *entry;

	*l = (struct listing){ .directory = xstrdup(directory) };
	if (!d) {
		msg_error(directory, "cannot open:");
		return false;
	}
	errno = 0;
	while ((entry = readdir(d))) {
		if (entry->d_name[0] != '.')
			add_file(l, entry->d_name);
		errno = 0;
	}
	if (errno)
		msg_error(directory, "cannot read:");
	closedir(d);
	l->refused = read_refused(directory);
	if (l->files.n)
		qsort(l->files.v, l->files.n, sizeof *l->files.v, by_name);
	return true;
}

void listing_free(struct listing *l)
{
	for (size_t i = 0; i < l->files.n; i++)
		free(l->files.v[i].name);
	vec_free(&l->files);
	free(l->directory);
}

size_t listing_find(const struct listing *l, const char *name)
{
	size_t low = 0, high = l->files.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(l->files.v[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool listing_has(const struct listing *l, const char *object)
{
	char *prefix = xasprintf("%s.", object);
	size_t n = strlen(object);
	bool has = false;

	for (size_t i = listing_find(l, prefix); i < l->files.n && !has && !strncmp(l->files.v[i].name, prefix, n + 1); i++)
		has = !l->files.v[i].is_elf && counter_object(l->files.v[i].name) == n;
	free(prefix);
	return has;
}
