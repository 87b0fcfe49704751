/* machine.c - default directories, $LIB, $PLATFORM and hardware subdirectories: as glibc of each machine has them. */
#include "tools/so-input/machine.h"
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#if defined __x86_64__ && defined __has_include
# if __has_include(<sys/platform/x86.h>)
#  include <cpuid.h>
#  include <sys/platform/x86.h>
#  define HAVE_X86_FEATURES 1
# endif
#endif

struct abi { const char *tuple, *lib, *interpreter, *platform; uint32_t cache_flags; };

static struct abi mips(const struct object *o)
{
	bool big = o->eh.e_ident[EI_DATA] == ELFDATA2MSB, nan2008 = o->eh.e_flags & EF_MIPS_NAN2008;

	if (o->eh.e_ident[EI_CLASS] == ELFCLASS64)
		return (struct abi){ big ? "mips64-linux-gnuabi64" : "mips64el-linux-gnuabi64", "lib64",
		                     nan2008 ? "/lib64/ld-linux-mipsn8.so.1" : "/lib64/ld.so.1", NULL, nan2008 ? 0xe03 : 0x703 };
	if (o->eh.e_flags & EF_MIPS_ABI2)
		return (struct abi){ big ? "mips64-linux-gnuabin32" : "mips64el-linux-gnuabin32", "lib32",
		                     nan2008 ? "/lib32/ld-linux-mipsn8.so.1" : "/lib32/ld.so.1", NULL, nan2008 ? 0xd03 : 0x603 };
	return (struct abi){ big ? "mips-linux-gnu" : "mipsel-linux-gnu", "lib",
	                     nan2008 ? "/lib/ld-linux-mipsn8.so.1" : "/lib/ld.so.1", NULL, nan2008 ? 0xc03 : 0x003 };
}

/* Cache flags: sysdeps/generic/ldconfig.h of glibc. */
static struct abi find_abi(const struct object *o)
{
	bool is_64 = o->eh.e_ident[EI_CLASS] == ELFCLASS64;

	switch (o->eh.e_machine) {
	case EM_X86_64:
		if (!is_64)
			return (struct abi){ "x86_64-linux-gnux32", "libx32", "/libx32/ld-linux-x32.so.2", "x86_64", 0x803 };
		return (struct abi){ "x86_64-linux-gnu", "lib64", "/lib64/ld-linux-x86-64.so.2", "x86_64", 0x303 };
	case EM_386: return (struct abi){ "i386-linux-gnu", "lib", "/lib/ld-linux.so.2", "i686", 0x003 };
	case EM_AARCH64: return (struct abi){ "aarch64-linux-gnu", "lib64", "/lib/ld-linux-aarch64.so.1", "aarch64", 0xa03 };
	case EM_ARM: return (struct abi){ "arm-linux-gnueabihf", "lib", "/lib/ld-linux-armhf.so.3", "v7l", 0x903 };
	case EM_MIPS: return mips(o);
	case EM_PPC64: return (struct abi){ "powerpc64le-linux-gnu", "lib64", "/lib64/ld64.so.2", NULL, 0x503 };
	case EM_S390: return (struct abi){ "s390x-linux-gnu", "lib64", "/lib/ld64.so.1", NULL, 0x403 };
	case EM_RISCV: return (struct abi){ "riscv64-linux-gnu", "lib64", "/lib/ld-linux-riscv64-lp64d.so.1", NULL, 0x1003 };
	}
	return (struct abi){ "", is_64 ? "lib64" : "lib", is_64 ? "/lib64/ld.so.1" : "/lib/ld.so.1", NULL, 0x003 };
}

static const char *join(struct arena *a, const char *x, const char *y)
{
	char *both = xasprintf("%s%s", x, y), *kept = arena_strdup(a, both);

	free(both);
	return kept;
}

/* Our own loader knows what it was built with. */
static void host_defaults(struct machine *m, struct arena *arena)
{
	void *self = dlopen(NULL, RTLD_LAZY);
	Dl_serinfo size, *all;

	if (!self || dlinfo(self, RTLD_DI_SERINFOSIZE, &size))
		return;
	all = xcalloc(1, size.dls_size);
	if (!dlinfo(self, RTLD_DI_SERINFOSIZE, all) && !dlinfo(self, RTLD_DI_SERINFO, all))
		for (unsigned i = 0; i < all->dls_cnt; i++)
			if (all->dls_serpath[i].dls_flags & LA_SER_DEFAULT)
				vec_push(&m->defaults, arena_strdup(arena, all->dls_serpath[i].dls_name));
	free(all);
	dlclose(self);
}

static bool has_dir(const struct root *root, const char *dir)
{
	char *path, *below = xasprintf("%s/.", dir);
	int fd = root_open(root, below, &path);

	free(below);
	free(path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Another tree: Debian's directories where it has them, else those of a plain glibc. */
static void guess_defaults(struct machine *m, const struct abi *abi, const struct root *root, struct arena *arena)
{
	const char *multi = join(arena, "/lib/", abi->tuple), *usr = join(arena, "/usr", multi);
	const char *plain = join(arena, "/", abi->lib);

	if (*abi->tuple && (has_dir(root, multi) || has_dir(root, usr))) {
		vec_push(&m->defaults, multi);
		vec_push(&m->defaults, usr);
		m->lib = multi + 1;
	} else if (strcmp(abi->lib, "lib") && has_dir(root, plain)) {
		vec_push(&m->defaults, plain);
		vec_push(&m->defaults, join(arena, "/usr", plain));
	}
	vec_push(&m->defaults, "/lib");
	vec_push(&m->defaults, "/usr/lib");
}

#ifdef HAVE_X86_FEATURES
/* What CPU_FEATURE_ACTIVE does, without its shift into the sign bit. */
static bool is_active(unsigned feature)
{
	return __x86_get_cpuid_feature_leaf(feature / 128)->active_array[feature % 128 / 32] >> feature % 32 & 1;
}

static bool all_active(const unsigned *features, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_active(features[i]))
			return false;
	return true;
}
#define ALL(...) all_active((const unsigned[]){ __VA_ARGS__ }, sizeof(unsigned[]){ __VA_ARGS__ } / sizeof(unsigned))

/* The levels of the psABI, as sysdeps/x86_64/dl-hwcaps_subdirs.c tests them. */
static unsigned x86_level(void)
{
	if (!ALL(x86_cpu_CMPXCHG16B, x86_cpu_LAHF64_SAHF64, x86_cpu_POPCNT, x86_cpu_SSE3, x86_cpu_SSSE3, x86_cpu_SSE4_1, x86_cpu_SSE4_2))
		return 1;
	if (!ALL(x86_cpu_AVX, x86_cpu_AVX2, x86_cpu_BMI1, x86_cpu_BMI2, x86_cpu_F16C, x86_cpu_FMA, x86_cpu_LZCNT, x86_cpu_MOVBE))
		return 2;
	return ALL(x86_cpu_AVX512F, x86_cpu_AVX512BW, x86_cpu_AVX512CD, x86_cpu_AVX512DQ, x86_cpu_AVX512VL) ? 4 : 3;
}

static bool is_intel(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0, &a, &b, &c, &d) && b == signature_INTEL_ebx && d == signature_INTEL_edx;
}

/* Before 2.37 Intel processors had names of their own, which $PLATFORM shows too. */
static const char *intel_platform(const char *kernel, bool *avx512_1)
{
	*avx512_1 = false;
	if (!is_intel())
		return kernel;
	if (ALL(x86_cpu_AVX512CD, x86_cpu_AVX512ER, x86_cpu_AVX512PF))
		return "xeon_phi";
	*avx512_1 = !is_active(x86_cpu_AVX512ER) && ALL(x86_cpu_AVX512CD, x86_cpu_AVX512BW, x86_cpu_AVX512DQ, x86_cpu_AVX512VL);
	if (ALL(x86_cpu_AVX2, x86_cpu_BMI1, x86_cpu_BMI2, x86_cpu_LZCNT, x86_cpu_MOVBE, x86_cpu_POPCNT, x86_cpu_FMA))
		return "haswell";
	return kernel;
}

/* All subsets of the names, as directories, the fullest first; the empty one is left to the caller. */
static void add_subsets(struct machine *m, const char *const *names, unsigned n, struct arena *arena)
{
	for (unsigned set = (1u << n) - 1; set > 0; set--) {
		const char *dir = "";

		for (unsigned i = 0; i < n; i++)
			if (set >> (n - 1 - i) & 1)
				dir = *dir ? join(arena, join(arena, dir, "/"), names[i]) : names[i];
		vec_push(&m->subdirs, dir);
	}
}

static void host_subdirs(struct machine *m, struct arena *arena)
{
	static const char *const levels[] = { "glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2" };
	const char *kernel = (const char *)getauxval(AT_PLATFORM), *names[4] = { "tls" };
	unsigned major = 0, minor = 0, n = 1;
	bool avx512_1;

	if (kernel)
		m->platform = kernel;
	m->level = x86_level();
	for (unsigned i = 4 - m->level; i < 3; i++)
		vec_push(&m->subdirs, levels[i]);
	if (sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor) != 2 || major > 2 || minor > 36)
		return;
	m->platform = intel_platform(m->platform, &avx512_1);
	names[n++] = m->platform;
	if (avx512_1)
		names[n++] = "avx512_1";
	names[n++] = "x86_64";
	add_subsets(m, names, n, arena);
}
#else
static void host_subdirs(struct machine *m, struct arena *arena)
{
	(void)m;
	(void)arena;
}
#endif

void machine_find(struct machine *m, const struct object *o, const struct root *root, struct arena *arena)
{
	struct abi abi = find_abi(o);

	memset(m, 0, sizeof *m);
	m->lib = abi.lib;
	m->interpreter = abi.interpreter;
	m->platform = abi.platform;
	m->cache_flags = abi.cache_flags;
#ifdef HAVE_X86_FEATURES
	m->is_host = o->eh.e_machine == EM_X86_64 && o->eh.e_ident[EI_CLASS] == ELFCLASS64;
#endif
	if (m->is_host)
		host_subdirs(m, arena);
	if (m->is_host && !root->dir)
		host_defaults(m, arena);
	if (m->defaults.n)
		m->lib = m->defaults.v[0] + strspn(m->defaults.v[0], "/");
	else
		guess_defaults(m, &abi, root, arena);
	vec_push(&m->subdirs, "");
}
