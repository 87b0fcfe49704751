/* profile.h - the row types of a "profile" stream: blocks, which count-extract writes; traces and samples, which trace-run writes.

   Times are nanoseconds of CLOCK_MONOTONIC.  A run's rows stand in the order of time.  Prototypes and traces have serial numbers from 1
   on, which are never used again in a run: addresses and trace numbers are.  What a list holds is named in its order; 0 is "none". */
#ifndef FORMATS_PROFILE_H
#define FORMATS_PROFILE_H

enum profile_type {
	PROFILE_BLOCK = 0,	/* [0, address, size in bytes, count]: a basic block of the original, zero counts too */
	PROFILE_OLD_ENTRY = 1,	/* [1, function entry, 0, count]: entered by its old address count times */
	PROFILE_NOT_COUNTED = 2,/* [2, start, size, 0, {why, name, kind}]: code that stayed in old text */

	/* [32, start, sampling period in ns (0: not sampled), hertz asked for, {kind: "perf" or "timer", name of the VM, why: what is not
	   as asked, numbers: pid, CLOCK_REALTIME at the start, 1 when what the VM keeps is known: else there is no state, line or chain}] */
	PROFILE_RUN = 32,
	/* [33, start, size, run-time - link-time address, {name: path, numbers: file size, build-id in words of 4 bytes, big-endian}]: code of
	   an object that is mapped from here on */
	PROFILE_MODULE = 33,
	/* [34, address of its bytecode, number of instructions, serial, {name: chunk name, numbers: first line, number of lines, then each
	   instruction's line as the difference to the one before it}]: a function's prototype, from here on.  An instruction has 4 bytes */
	PROFILE_PROTOTYPE = 34,
	/* [35, code address, code size, serial, {kind: "root", "side", "stitched", why: its link ("loop", "root", "return", ...), numbers:
	   birth, trace number, loop's offset in the code, parent's serial, exit number, link's serial, time when recording began, start
	   prototype, position in it; then ranges: offset in the code, depth, depth + 1 pairs prototype, position: innermost first, the others
	   those of calls that were inlined}] */
	PROFILE_TRACE = 35,
	PROFILE_STUBS = 36,	/* [36, address, size, time]: exit stubs */
	/* [37, time, reason's number, trace number, {why: reason, name: object of it, numbers: time when recording began, parent's serial,
	   exit number (-1: stitched), start prototype, position, prototype, position}]: a trace that was given up */
	PROFILE_ABORT = 37,
	PROFILE_FLUSH = 38,	/* [38, time, 0, traces that died]: all traces and stubs are dead */
	PROFILE_DEATH = 39,	/* [39, time, 0, serial]: this trace is dead: its number was given to another, or it was dropped with its code */
	/* [40, PC, VM state, time, {numbers: samples it stands for, return address into trace code, C function that Lua called, then Lua's calls,
	   innermost first: prototype, position}]: the list is cut where only noughts follow; its absence means 1 sample.
	   VM state: > 0 number of the running trace, else -1 - enum profile_state */
	PROFILE_SAMPLE = 40,
	/* [41, time, samples lost, samples, {numbers: CPU ns of the thread that was sampled, of all threads}] */
	PROFILE_RUN_END = 41,
};

enum profile_state {
	PROFILE_STATE_INTERPRETER, PROFILE_STATE_C, PROFILE_STATE_GC, PROFILE_STATE_EXIT, PROFILE_STATE_RECORD, PROFILE_STATE_OPTIMIZE,
	PROFILE_STATE_ASSEMBLE, PROFILE_STATE_UNKNOWN, PROFILE_STATES
};
#endif
