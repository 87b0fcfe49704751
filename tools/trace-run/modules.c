/* modules.c - the objects whose C code may be sampled.  LuaJIT's own calls of dlopen come here first (the linker's --wrap). */
#include "tools/trace-run/modules.h"
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/profile.h"
#include "lib/base/mem.h"
#include "tools/trace-run/emit.h"
#include "tools/trace-run/owner.h"

struct seen { uintptr_t start; char *name; };
static VEC(struct seen) seen;

/* The file's size, then its build-id, so that a reader knows the file again. */
static size_t identity(const struct dl_phdr_info *info, const char *name, int64_t *to)
{
	struct stat st;
	size_t n = 0;

	to[n++] = stat(name, &st) ? 0 : (int64_t)st.st_size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const unsigned char *at = (const unsigned char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;

		while (p->p_type == PT_NOTE && (size_t)(end - at) > sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *)at;
			const unsigned char *id = at + sizeof *note + ((note->n_namesz + 3u) & ~3u);

			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz <= 32) {
				for (unsigned k = 0; k + 4 <= note->n_descsz; k += 4)
					to[n++] = (int64_t)((uint32_t)id[k] << 24 | id[k + 1] << 16 | id[k + 2] << 8 | id[k + 3]);
				return n;
			}
			at = id + ((note->n_descsz + 3u) & ~3u);
		}
	}
	return n;
}

static bool is_new(uintptr_t start, const char *name)
{
	for (size_t i = 0; i < seen.n; i++)
		if (seen.v[i].start == start) {
			if (!strcmp(seen.v[i].name, name))
				return false;
			free(seen.v[i].name);
			seen.v[i].name = xstrdup(name);
			return true;
		}
	vec_push(&seen, ((struct seen){ start, xstrdup(name) }));
	return true;
}

static int look(struct dl_phdr_info *info, size_t size, void *none)
{
	char self[PATH_MAX], *path = NULL;
	const char *name = info->dlpi_name;
	int64_t numbers[1 + 8];

	(void)size, (void)none;
	if (!*name) {
		ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

		self[n > 0 ? n : 0] = 0;
		name = self;
	} else if (strchr(name, '/')) {
		path = realpath(name, NULL);
		name = path ? path : name;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !is_new(start, name))
			continue;
		emit_row(&(struct row){
			.type = PROFILE_MODULE, .address = start, .information = (int64_t)p->p_memsz, .count = info->dlpi_addr,
			.name = name, .numbers = numbers, .n = identity(info, name, numbers),
		});
	}
	free(path);
	return 0;
}

void modules_look(void)
{
	if (emit_is_open() && owner_is_process())
		dl_iterate_phdr(look, NULL);
}

void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);

void *__wrap_dlopen(const char *path, int flags)
{
	void *handle = __real_dlopen(path, flags);

	/* Another thread's are found at the next look. */
	if (handle && owner_is_thread())
		modules_look();
	return handle;
}
