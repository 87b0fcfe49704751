/* init.c - runtime_init: counts go from private memory into a file. */
#include "runtime/runtime.h"
#include "runtime/file.h"
#include "runtime/process.h"
#include "runtime/registry.h"
#include "runtime/text.h"

/* Whether the system is an emulator that says yes to any advice and does nothing: no kernel wipes shared memory. */
static bool any_advice(void *copy, size_t n)
{
	long shared;
	bool any;

	if (sys_madvise(copy, n, -1) != 0)
		return false;
	shared = sys_mmap(NULL, n, MAP_SHARED | MAP_ANONYMOUS, -1);
	any = sys_failed(shared) || sys_madvise((void *)shared, n, MADV_WIPEONFORK) == 0;
	if (!sys_failed(shared))
		sys_munmap((void *)shared, n);
	return any;
}

/* The private page becomes one that a forked child reads as zeros.  It is made elsewhere and moved there in one step, since
   a 0 in it, be it for a moment, would mean "forked" to whoever makes a system call then.

   Emulators make a fork of a vfork, so that there another process number is other memory; where a kernel is too old, vfork
   shares memory and nothing can be told. */
static bool watch_forks(struct counters_private *p, size_t page)
{
	long at = sys_mmap(NULL, page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct counters_private *copy = (void *)at;

	if (sys_failed(at))
		return false;
	if (sys_madvise(copy, page, MADV_WIPEONFORK) == 0) {
		p->by_pid = any_advice(copy, page);
		memcpy(copy, p, sizeof *p);
		if (!p->by_pid && !sys_failed(sys_move_pages(copy, page, p)))
			return true;
	}
	sys_munmap(copy, page);
	return p->by_pid;
}

static void read_settings(char *directory, size_t size, uint64_t *limit, const char *const *environment)
{
	char number[24];
	struct setting settings[] = {
		{ COUNTERS_DIR_ENV "=", directory, size },
		{ COUNTERS_CAP_ENV "=", number, sizeof number },
	};

	process_settings(settings, sizeof settings / sizeof *settings, environment);
	if (!text_number(number, limit))
		*limit = COUNTERS_CAP_DEFAULT;
}

static bool share(struct counters_private *p, struct counters_header *h, struct file *f)
{
	if (!file_make(f))
		return false;
	if (!watch_forks(p, h->page)) {
		h->flags |= COUNTERS_FORK_UNSAFE;
		sys_pwrite(f->fd, &h->flags, sizeof h->flags, offsetof(struct counters_header, flags));
	}
	if (!file_map(f, h))
		return false;
	p->alive = !p->by_pid;
	registry_add(h);
	return true;
}

static long open_directory(const struct counters_private *p, struct counters_header *h, const char *const *environment)
{
	char directory[sizeof p->directory];

	read_settings(directory, sizeof directory, &h->limit, environment);
	if (directory[0])
		return file_directory(directory);
	return text_length(p->directory, sizeof p->directory) < sizeof p->directory ? file_directory(p->directory) : -ENAMETOOLONG;
}

static void start(struct counters_private *p, struct counters_header *h, const char *const *environment)
{
	struct file f = { .header = h, .counts = (const char *)h + h->header_size };
	long dir = open_directory(p, h, environment);

	if (dir < 0) {
		p->state = COUNTERS_STATE_DIRECTORY;
		p->error = (uint32_t)-dir;
		return;
	}
	h->load_bias = (uint64_t)(uintptr_t)h - h->header_address;
	h->parent = 0;
	process_fill(h);
	f.dir = (int)dir;
	p->state = COUNTERS_STATE_SHARED;
	if (!share(p, h, &f)) {
		p->state = f.state;
		p->error = (uint32_t)-f.error;
	}
	sys_close(f.dir);
}

void runtime_init(struct counters_private *p, struct counters_header *h, const char *const *environment)
{
	if (p->initialised)
		return;
	p->initialised = 1;
	if (file_header_sound(h))
		start(p, h, environment);
	else
		p->state = COUNTERS_STATE_HEADER;
}
