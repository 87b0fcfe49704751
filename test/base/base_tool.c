/* base_tool.c - the options, messages and progress bar on their own, for base.bats. */
#include "lib/base/mem.h"
#include "lib/base/msg.h"
#include "lib/base/opt.h"
#include "lib/base/progress.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool flag;
static const char *value = "none", *mode = "";
static struct opt_list list;

static const struct opt options[] = {
	{ 'f', "flag", OPT_FLAG, &flag, NULL, "a flag" },
	{ 'n', NULL, OPT_VALUE, &value, "N", "a value without a long name" },
	{ 0, "also", OPT_LIST, &list, "FILE", "a list without a letter" },
	{ 'm', "mode", OPT_VALUE, &mode, "MODE", "what to do" },
	{ 0, NULL, OPT_FLAG, NULL, NULL, NULL }
};

static void messages(void)
{
	char *lengthy = xmalloc(20001);

	memset(lengthy, 'x', 20000);
	lengthy[20000] = 0;
	msg_note("a\nb\033[31m", "note %d", 1);
	msg_warn(NULL, "warning");
	msg_detail("x", "detail");
	msg_error(lengthy, "%s", lengthy);
	free(lengthy);
	fopen("/nonexistent", "r");
	msg_error("file", "cannot open:");
}

static void progress(void)
{
	progress_begin("work", 1000);
	for (int i = 0; i < 300; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		progress_at((uint64_t)i * 10 / 3);
	}
	msg_note("object", "in between");
	progress_end();
}

/* Alignment, zeros and growth; the sanitizers watch. */
static void memory(void)
{
	struct arena a = { 0 };
	VEC(long) v = { 0 };
	long sum = 0;

	for (int round = 0; round < 3; round++) {
		for (size_t n = 0; n < 70000; n = n * 2 + 1) {
			unsigned char *p = arena_alloc(&a, n);

			for (size_t i = 0; i < n; i++)
				sum += p[i];
			sum += (uintptr_t)p % _Alignof(max_align_t) != 0;
			memset(p, 0xff, n);
		}
		arena_reset(&a);
	}
	for (long i = 0; i < 1000; i++)
		vec_push(&v, i);
	for (size_t i = 0; i < v.n; i++)
		sum += v.v[i];
	printf("%ld %s\n", sum, arena_strdup(&a, "text"));
	vec_free(&v);
	arena_free(&a);
}

int main(int argc, char **argv)
{
	const char *name = getenv("STOP") ? "stopper" : "base_tool";
	const struct opt_tool tool = { name, "[-f] [FILE...]", "Test.", options, getenv("STOP") != NULL };
	int at = opt_parse(&tool, argc, argv);

	if (!strcmp(mode, "messages"))
		messages();
	else if (!strcmp(mode, "progress"))
		progress();
	else if (!strcmp(mode, "memory"))
		memory();
	else if (!strcmp(mode, "huge"))
		vec_grow(NULL, &(size_t){ 0 }, SIZE_MAX / 2, 8);
	else if (!strcmp(mode, "usage"))
		opt_usage(&tool, "no %s", "sense");
	else
		printf("flag %d value %s level %d", flag, value, msg_level);
	for (int i = 0; i < list.n && !*mode; i++)
		printf(" also %s", list.v[i]);
	for (; at < argc && !*mode; at++)
		printf(" [%s]", argv[at]);
	if (!*mode)
		putchar('\n');
	free(list.v);
	return msg_status();
}
