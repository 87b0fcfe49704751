/* sampler.h - samples the thread that runs the script, each time it has used another period of CPU time. */
#ifndef TRACE_RUN_SAMPLER_H
#define TRACE_RUN_SAMPLER_H
#include <stdbool.h>
#include <stdint.h>

struct sampler {
	const char *kind;		/* "perf", "timer" */
	uint64_t period;		/* ns; 0: no samples */
	const char *why;		/* not as asked, because; NULL */
};

/* Arms the clock of the calling thread.  hertz 0: symbols only. */
void sampler_prepare(struct sampler *s, unsigned hertz);
void sampler_start(void);
void sampler_stop(void);
/* CPU time of all threads since the start, ns. */
uint64_t sampler_process_time(void);
/* A forked child is not sampled. */
void sampler_detach(void);

/* Where trace code lies at the moment: [low, high); both 0: nowhere. */
void sampler_code_range(uint64_t low, uint64_t high);
#endif
