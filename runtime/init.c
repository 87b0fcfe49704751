/* init.c - runtime_init: counts go from private memory into a file. */
#include "runtime/runtime.h"
#include "runtime/file.h"
#include "runtime/process.h"
#include "runtime/text.h"

/* Emulators say yes to any advice and do nothing. */
static bool wipes_on_fork(void *page, size_t n)
{
	return sys_madvise(page, n, MADV_WIPEONFORK) == 0 && sys_madvise(page, n, -1) != 0;
}

/* The private page becomes one that a forked child reads as zeros.  It is made elsewhere and moved there in one step, since
   a 0 in it, be it for a moment, would mean "forked" to whoever makes a system call then. */
static bool watch_forks(struct counters_private *p, size_t page)
{
	long at = sys_mmap(NULL, page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct counters_private *copy = (void *)at;

	if (sys_failed(at))
		return false;
	if (wipes_on_fork(copy, page)) {
		memcpy(copy, p, sizeof *p);
		if (!sys_failed(sys_move_pages(copy, page, p)))
			return true;
	}
	sys_munmap(copy, page);
	return false;
}

static void read_settings(char *directory, size_t size, uint64_t *limit)
{
	char number[24];
	struct setting settings[] = {
		{ COUNTERS_DIR_ENV "=", directory, size },
		{ COUNTERS_CAP_ENV "=", number, sizeof number },
	};

	process_settings(settings, sizeof settings / sizeof *settings);
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
	return file_map(f, h);
}

static long open_directory(const struct counters_private *p, struct counters_header *h)
{
	char directory[sizeof p->directory];

	read_settings(directory, sizeof directory, &h->limit);
	if (directory[0])
		return file_directory(directory);
	return text_length(p->directory, sizeof p->directory) < sizeof p->directory ? file_directory(p->directory) : -ENAMETOOLONG;
}

static void start(struct counters_private *p, struct counters_header *h)
{
	struct file f = { .header = h, .counts = (const char *)h + h->header_size };
	long dir = open_directory(p, h);

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

void runtime_init(struct counters_private *p, struct counters_header *h)
{
	if (p->initialised)
		return;
	p->initialised = 1;
	if (file_header_sound(h))
		start(p, h);
	else
		p->state = COUNTERS_STATE_HEADER;
}
