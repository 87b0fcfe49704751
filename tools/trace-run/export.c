/* export.c - the live traces as perf reads them: a map of names, a dump of code. */
#include "tools/trace-run/export.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/mem.h"
#include "lib/base/msg.h"
#include "tools/trace-run/descriptor.h"

/* tools/perf/Documentation/jitdump-specification.txt */
enum { MAGIC = 0x4A695444, VERSION = 1, HEADER = 40, PREFIX = 16, CODE_LOAD = 0, DEBUG_INFO = 2, CLOSE = 3 };

static int map = -1, dump = -1;
static uint64_t dump_index;
static char *map_path, *dump_path;
static VEC(unsigned char) bytes;

static void put(const void *p, size_t n)
{
	vec_reserve(&bytes, bytes.n + n);
	memcpy(bytes.v + bytes.n, p, n);
	bytes.n += n;
}

static void put32(uint32_t v) { put(&v, sizeof v); }
static void put64(uint64_t v) { put(&v, sizeof v); }

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One write a record: perf may read while we write. */
static void flush(int *fd, const char *path)
{
	size_t done = 0;

	while (done < bytes.n) {
		ssize_t n = write(*fd, bytes.v + done, bytes.n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			msg_error(path, "cannot write:");
			close(*fd);
			*fd = -1;
			break;
		}
		done += (size_t)n;
	}
	bytes.n = 0;
}

static int open_high(const char *path, int flags)
{
	int fd = open(path, flags | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0) {
		msg_error(path, "cannot write:");
		return -1;
	}
	return descriptor_away(fd);
}

bool export_perf_map(void)
{
	map_path = xasprintf("/tmp/perf-%ld.map", (long)getpid());
	map = open_high(map_path, O_WRONLY | O_APPEND);
	return map >= 0;
}

static char *dump_name(const char *path)
{
	const char *mark = strstr(path, "%p");
	struct stat st;

	if (mark)
		return xasprintf("%.*s%ld%s", (int)(mark - path), path, (long)getpid(), mark + 2);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return xasprintf("%s/jit-%ld.dump", path, (long)getpid());
	return xstrdup(path);
}

static void begin_prefix(uint32_t id)
{
	bytes.n = 0;
	put32(id);
	put32(0);
	put64(now());
}

static void end_record(void)
{
	uint32_t size = (uint32_t)bytes.n;

	memcpy(bytes.v + 4, &size, sizeof size);
	flush(&dump, dump_path);
}

bool export_jitdump(const char *path)
{
	char wanted[32];
	const char *base;

	dump_path = dump_name(path);
	base = strrchr(dump_path, '/');
	snprintf(wanted, sizeof wanted, "jit-%ld.dump", (long)getpid());
	if (strcmp(base ? base + 1 : dump_path, wanted))
		msg_note(dump_path, "perf inject takes only a file that is called %s (jit-%%p.dump)", wanted);
	dump = open_high(dump_path, O_RDWR);
	if (dump < 0)
		return false;
	bytes.n = 0;
	put32(MAGIC);
	put32(VERSION);
	put32(HEADER);
	put32(EM_X86_64);
	put32(0);
	put32((uint32_t)getpid());
	put64(now());
	put64(0);
	flush(&dump, dump_path);
	/* That a page of it is mapped executable is how perf learns of the file. */
	if (dump >= 0 && mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		msg_warn(dump_path, "perf will not find it: cannot map:");
	return dump >= 0;
}

static void dump_lines(uint64_t code, const struct export_line *lines, size_t n)
{
	begin_prefix(DEBUG_INFO);
	put64(code);
	put64(n);
	for (size_t i = 0; i < n; i++) {
		const char *file = lines[i].file + (*lines[i].file == '@' || *lines[i].file == '=');

		put64(lines[i].address);
		put32((uint32_t)lines[i].line);
		put32(0);
		put(file, strlen(file) + 1);
	}
	end_record();
}

static void dump_code(uint64_t code, size_t size, const char *name)
{
	begin_prefix(CODE_LOAD);
	put32((uint32_t)getpid());
	put32((uint32_t)gettid());
	put64(code);
	put64(code);
	put64(size);
	put64(++dump_index);
	put(name, strlen(name) + 1);
	put((const void *)(uintptr_t)code, size);
	end_record();
}

void export_trace(uint64_t code, size_t size, const char *name, const struct export_line *lines, size_t n)
{
	if (map >= 0) {
		char line[600];
		int length = snprintf(line, sizeof line, "%llx %zx %s\n", (unsigned long long)code, size, name);

		for (int i = 0; i < length - 1 && i < (int)sizeof line; i++)
			line[i] = line[i] == '\n' ? ' ' : line[i];
		bytes.n = 0;
		put(line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
		flush(&map, map_path);
	}
	if (dump >= 0 && n)
		dump_lines(code, lines, n);
	if (dump >= 0)
		dump_code(code, size, name);
}

/* perf takes the first of two entries for one place: dead ones must not be there. */
void export_flush(void)
{
	if (map >= 0 && ftruncate(map, 0))
		msg_warn(map_path, "cannot cut:");
}

void export_end(void)
{
	if (dump >= 0) {
		begin_prefix(CLOSE);
		end_record();
	}
	export_detach();
}

void export_detach(void)
{
	if (map >= 0)
		close(map);
	if (dump >= 0)
		close(dump);
	map = dump = -1;
}

bool export_wants_names(void) { return map >= 0 || dump >= 0; }
bool export_wants_lines(void) { return dump >= 0; }
