/* progress.c - a progress bar on standard error. */
#include "lib/base/progress.h"
#include "lib/base/msg.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 40, STRIDE_MAX = 4096 };
static const double first_after = 2.0, again_after = 0.1;

static struct {
	const char *what;
	uint64_t total;
	double looked, drawn;
	unsigned calls, stride;
	bool active, visible;
} bar;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(const char *what, uint64_t total)
{
	bar.active = msg_level > 0 && isatty(STDERR_FILENO);
	bar.what = what;
	bar.total = total;
	bar.looked = bar.active ? now() : 0;
	bar.drawn = bar.looked + first_after - again_after;
	bar.calls = 0;
	bar.stride = 1;
	bar.visible = false;
}

static void draw(uint64_t done)
{
	char cells[WIDTH + 1];
	double part = bar.total ? (double)done / (double)bar.total : 0;
	int full;

	if (part > 1)
		part = 1;
	full = (int)(part * WIDTH);
	memset(cells, '#', (size_t)full);
	memset(cells + full, '.', (size_t)(WIDTH - full));
	cells[WIDTH] = 0;
	fprintf(stderr, "\r%s: %s [%s] %3d %%\033[K", msg_tool(), bar.what, cells, (int)(part * 100));
	fflush(stderr);
	bar.visible = true;
}

/* The stride between two looks at the clock follows what they show to be a small part of the time between two bars. */
void progress_at(uint64_t done)
{
	double t;

	if (!bar.active || ++bar.calls < bar.stride)
		return;
	bar.calls = 0;
	t = now();
	if (t - bar.looked < again_after / 20 && bar.stride < STRIDE_MAX)
		bar.stride *= 2;
	else if (t - bar.looked > again_after / 5 && bar.stride > 1)
		bar.stride /= 2;
	bar.looked = t;
	if (t - bar.drawn < again_after)
		return;
	bar.drawn = t;
	draw(done);
}

void progress_hide(void)
{
	if (!bar.visible)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	bar.visible = false;
}

void progress_end(void)
{
	progress_hide();
	bar.active = false;
}
