/* child.c - runtime_child: a forked process stops counting in its parent's files. */
#include "runtime/runtime.h"
#include "runtime/file.h"
#include "runtime/maps.h"
#include "runtime/process.h"
#include "runtime/registry.h"
#include "runtime/text.h"

/* A parent's file on the way through the map: found, and covered by the lines so far up to END. */
struct found {
	struct counters_header *header;	/* NULL: none */
	struct counters_private *page;
	uint64_t end;
};

/* A flag for whoever reads the parent's file: it is still mapped here. */
static void tell(struct counters_header *parents, uint32_t flag)
{
	__atomic_fetch_or(&parents->flags, flag, __ATOMIC_RELAXED);
}

/* Whether the process was forked since H was made: its parent counts there. */
static bool forked(const struct counters_private *p, const struct counters_header *h)
{
	return !p->alive && (!p->by_pid || h->pid != sys_getpid());
}

/* Restores what the fork has wiped. */
static void revive(struct counters_private *p, const struct counters_header *h)
{
	p->alive = !p->by_pid;
	p->initialised = 1;
	p->mapped_size = COUNTERS_MAPPED(h);
}

/* Counting goes on in private memory. */
static void detach(struct counters_header *h, const struct counters_header *own)
{
	long at = sys_mmap(h, COUNTERS_MAPPED(own), MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);

	if (sys_failed(at))
		tell(h, COUNTERS_FORK_UNSAFE);
	else
		memcpy(h, own, sizeof *own);
}

static void own_header(struct counters_header *own, const struct counters_header *h)
{
	memcpy(own, h, sizeof *own);
	own->flags = (h->flags & (COUNTERS_ATOMIC | COUNTERS_IDENTITY)) | COUNTERS_FORK_SEEN;
	own->parent = h->pid;
	process_fill(own);
}

/* Opens the directory of the file at PATH, which is cut there. */
static long open_parent(char *path, size_t n)
{
	while (n && path[n - 1] != '/')
		n--;
	path[n > 1 ? n - 1 : n] = '\0';
	return path[0] == '/' ? file_directory(path) : -EINVAL;
}

/* Maps a file of our own over the parent's, in the same directory. */
static bool own_file(struct file *f, struct counters_header *h, struct maps_line *line)
{
	long dir = open_parent(line->path, line->path_length);
	bool mapped;

	if (dir < 0) {
		f->state = COUNTERS_STATE_DIRECTORY;
		f->error = dir;
		return false;
	}
	f->dir = (int)dir;
	mapped = file_make(f) && file_map(f, h);
	sys_close(f->dir);
	return mapped;
}

static void separate(const struct found *found, struct maps_line *line)
{
	struct counters_header own, *h = found->header;
	struct file f = { .header = &own, .state = COUNTERS_STATE_SHARED };

	revive(found->page, h);
	own_header(&own, h);
	if (!own_file(&f, h, line)) {
		tell(h, COUNTERS_CHILD_LOST);
		detach(h, &own);
	}
	found->page->state = f.state;
	found->page->error = (uint32_t)-f.error;
}

static bool named_like_ours(const struct maps_line *line)
{
	size_t n = line->path_length;

	while (n && line->path[n - 1] != '/')
		n--;
	return line->path[0] == '/' && text_is_counter_file(line->path + n, line->path_length - n);
}

/* Whether a mapped counter file begins at this line.  Memory that may be a device's or a cut file's is not read just so; and
   the private page must lie before it, or this is somebody's reader of counter files. */
static bool begins(const struct maps_line *line, const struct maps_line *before, const struct counters_header *own)
{
	const struct counters_header *h = (const void *)(uintptr_t)line->start;

	if (!line->shared || !line->readable || !line->writable || line->offset)
		return false;
	if (h != own && !named_like_ours(line))
		return false;
	if (!sys_readable(h) || !file_header_sound(h))
		return false;
	return before->end == line->start && !before->shared && before->readable && before->writable &&
	       before->end - before->start >= h->page;
}

/* A mapping that was cut in pieces (mprotect, mlock) has several lines. */
static bool continues(const struct maps_line *line, const struct found *found)
{
	return line->start == found->end && line->offset == found->end - (uintptr_t)found->header;
}

/* Separates all mapped counter files whose private page still reads 0, and that at OWN; false: OWN was not among them. */
static bool separate_all(struct maps *m, const struct counters_header *own)
{
	struct maps_line line, before = { 0 };
	struct found found = { 0 };
	bool seen = false;

	for (; maps_next(m, &line); before = line) {
		if (begins(&line, &before, own)) {
			found.header = (void *)(uintptr_t)line.start;
			found.page = (void *)(uintptr_t)(line.start - found.header->page);
			if (found.header != own && !forked(found.page, found.header))
				found.header = NULL;
		} else if (found.header && !continues(&line, &found)) {
			found.header = NULL;
		}
		found.end = line.end;
		if (found.header && found.end - (uintptr_t)found.header >= COUNTERS_MAPPED(found.header)) {
			seen |= found.header == own;
			separate(&found, &line);
			found.header = NULL;
		}
	}
	return seen;
}

/* Where the map cannot be read, no file can be made either: all that are known go on in private memory. */
static bool separate_registered(const struct counters_header *own)
{
	struct counters_header as, *h;
	bool seen = false;

	for (unsigned place = 0; (h = registry_next(&place));) {
		struct counters_private *p;

		if (h != own && (!sys_readable(h) || !file_header_sound(h)))
			continue;
		p = (void *)((uintptr_t)h - h->page);
		if (h != own && (!sys_readable(p) || !forked(p, h)))
			continue;
		seen |= h == own;
		revive(p, h);
		own_header(&as, h);
		tell(h, COUNTERS_CHILD_LOST);
		detach(h, &as);
		p->state = COUNTERS_STATE_UNKNOWN;
	}
	return seen;
}

/* What is mapped at H cannot be learnt, so it may be the parent's. */
static void separate_blindly(struct counters_private *p, struct counters_header *h)
{
	struct counters_header own;

	own_header(&own, h);
	tell(h, COUNTERS_FORK_UNSAFE);
	detach(h, &own);
	p->state = COUNTERS_STATE_UNKNOWN;
}

void runtime_child(struct counters_private *p, struct counters_header *h)
{
	struct maps m;
	bool seen;

	if (!forked(p, h))
		return;
	revive(p, h);
	seen = maps_open(&m);
	if (seen) {
		seen = separate_all(&m, h) || !m.failed;
		maps_close(&m);
	} else {
		seen = separate_registered(h);
	}
	if (!seen)
		separate_blindly(p, h);
}
