/* descriptor.c - descriptors of ours in the script's process. */
#include "tools/trace-run/descriptor.h"
#include <fcntl.h>
#include <unistd.h>

int descriptor_away(int fd)
{
	/* Fewer where RLIMIT_NOFILE is low. */
	static const int least[] = { 200, 100, 40, 10, 3 };

	for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
		int away = fcntl(fd, F_DUPFD_CLOEXEC, least[i]);

		if (away >= 0) {
			close(fd);
			return away;
		}
	}
	return fd;
}

bool descriptor_is(int fd, const struct stat *st)
{
	struct stat now;

	return !fstat(fd, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino && now.st_rdev == st->st_rdev;
}
