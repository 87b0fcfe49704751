/* registry.c - a page at an address that all profiled objects of a process know, since they have nothing else in common. */
#include "runtime/registry.h"
#include "runtime/file.h"
#include "runtime/system.h"

#ifdef REGISTRY_ADDRESS
enum { PLACES = COUNTERS_PAGE / sizeof(uint64_t) - 1 };
#define REGISTRY_MAGIC UINT64_C(0x676572666f727073)

struct registry { uint64_t magic, headers[PLACES]; };

/* Makes the page unless it is there; NULL: something else is. */
static struct registry *registry(void)
{
	struct registry *r = (void *)REGISTRY_ADDRESS;
	long at = sys_mmap(r, sizeof *r, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);

	if (at == (long)r)
		__atomic_store_n(&r->magic, REGISTRY_MAGIC, __ATOMIC_RELEASE);
	else if (!sys_failed(at))	/* an old kernel, for which the address is a hint */
		sys_munmap((void *)at, sizeof *r);
	else if (at != -EEXIST || !sys_readable(r) || __atomic_load_n(&r->magic, __ATOMIC_ACQUIRE) != REGISTRY_MAGIC)
		return NULL;
	return at == (long)r || at == -EEXIST ? r : NULL;
}

static bool is_free(uint64_t header, bool full)
{
	const struct counters_header *h = (const void *)header;

	return !h || (full && (!sys_readable(h) || !file_header_sound(h)));
}

void registry_add(const struct counters_header *h)
{
	struct registry *r = registry();
	uint64_t new = (uintptr_t)h, old;

	for (int full = 0; r && full < 2; full++)
		for (unsigned i = 0; i < PLACES; i++) {
			old = __atomic_load_n(&r->headers[i], __ATOMIC_RELAXED);
			if (old == new || (is_free(old, full) &&
			    __atomic_compare_exchange_n(&r->headers[i], &old, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
				return;
		}
}

struct counters_header *registry_next(unsigned *place)
{
	struct registry *r = registry();
	uint64_t header = 0;

	while (r && *place < PLACES && !header)
		header = __atomic_load_n(&r->headers[(*place)++], __ATOMIC_RELAXED);
	return (void *)header;
}
#else
void registry_add(const struct counters_header *h)
{
	(void)h;
}

struct counters_header *registry_next(unsigned *place)
{
	(void)place;
	return NULL;
}
#endif
