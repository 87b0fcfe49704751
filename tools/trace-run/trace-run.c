/* trace-run.c - runs a Lua script as luajit does, and leaves a profile of its trace-compiled code. */
#include <errno.h>
#include <inttypes.h>
#include <luajit-2.1/lauxlib.h>
#include <luajit-2.1/luajit.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "formats/profile.h"
#include "lib/base/mem.h"
#include "lib/base/msg.h"
#include "lib/base/opt.h"
#include "tools/trace-run/emit.h"
#include "tools/trace-run/events.h"
#include "tools/trace-run/export.h"
#include "tools/trace-run/loaders.h"
#include "tools/trace-run/modules.h"
#include "tools/trace-run/owner.h"
#include "tools/trace-run/sampler.h"
#include "tools/trace-run/script.h"
#include "tools/trace-run/signals.h"
#include "tools/trace-run/vm.h"

enum { HERTZ = 1000, HERTZ_MAX = 20000, HOT_MAX = 32767, WORDS = 256 };

static const char *hertz_text, *hotloop, *output, *jitdump;
static bool perf_map;
static struct opt_list optimize, commands;
static unsigned hertz;
static struct sampler sampler;
static uint64_t thread_start, process_start;

static const struct opt options[] = {
	{ 'F', "frequency", OPT_VALUE, &hertz_text, "HZ", "samples a second of CPU time (1000; 0: none, symbols only)" },
	{ 0, "hotloop", OPT_VALUE, &hotloop, "N", "compile a loop when it has run N times, as -Ohotloop=N" },
	{ 'O', NULL, OPT_LIST, &optimize, "OPT", "LuaJIT's optimizations, as luajit's -O" },
	{ 'j', NULL, OPT_LIST, &commands, "CMD", "a LuaJIT control command, as luajit's -j" },
	{ 'o', "output", OPT_VALUE, &output, "FILE", "write the profile there (trace.PID.cbor)" },
	{ 0, "perf-map", OPT_FLAG, &perf_map, NULL, "write /tmp/perf-PID.map, too, for perf report" },
	{ 0, "jitdump", OPT_VALUE, &jitdump, "FILE", "write a jitdump, too, for perf inject --jit; %p: the process's number" },
	{ 0, NULL, OPT_FLAG, NULL, NULL, NULL }
};
static const struct opt_tool tool = {
	.name = "trace-run", .usage = "[OPTION...] [--] SCRIPT [ARG...]", .options = options, .stop_at_operand = true,
	.what = "Run a Lua script as luajit does; leave a profile of its trace-compiled code.",
};

static unsigned number(const char *option, const char *text, unsigned most)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (*end || *text < '0' || *text > '9' || errno || n > most)
		opt_usage(&tool, "%s %s: not a number from 0 to %u", option, text, most);
	return (unsigned)n;
}

/* luajit's -O may stand alone; getopt would take the next word for its value. */
static void complete_words(int argc, char **argv)
{
	static char alone[] = "-O3";

	for (int i = 1; i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--"); i++) {
		const char *w = argv[i];

		if (!strcmp(w, "-O"))
			argv[i] = alone;
		else if (!strcmp(w, "-F") || !strcmp(w, "-j") || !strcmp(w, "-o") || !strcmp(w, "--frequency") || !strcmp(w, "--hotloop") ||
			 !strcmp(w, "--output") || !strcmp(w, "--jitdump"))
			i++;
	}
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void finish(void)
{
	uint64_t thread = owner_time();
	int64_t times[2] = { thread > thread_start ? (int64_t)(thread - thread_start) : 0, (int64_t)(sampler_process_time() - process_start) };
	uint64_t samples;

	if (!owner_is_process())
		return;
	/* The VM may be closed next. */
	sampler_stop();
	if (!emit_is_open()) {
		/* It says so where the script took the file away. */
		emit_end();
		return;
	}
	modules_look();
	samples = emit_samples();
	emit_row(&(struct row){
		.type = PROFILE_RUN_END, .address = now(CLOCK_MONOTONIC), .information = (int64_t)emit_lost(), .count = samples,
		.numbers = times, .n = 2,
	});
	export_end();
	if (emit_end())
		msg_detail(emit_path(), "%" PRIu64 " samples", samples);
}

/* A forked child runs on without us; the files and the clock are its parent's. */
static void in_child(void)
{
	signals_detach();
	sampler_detach();
	emit_detach();
	export_detach();
}

static void write_run(void)
{
	int64_t numbers[] = { getpid(), (int64_t)now(CLOCK_REALTIME), vm.known };
	char why[512];

	snprintf(why, sizeof why, "%s%s%s", sampler.why ? sampler.why : "", sampler.why && vm.why ? "; " : "", vm.why ? vm.why : "");
	emit_row(&(struct row){
		.type = PROFILE_RUN, .address = now(CLOCK_MONOTONIC), .information = (int64_t)sampler.period, .count = hertz,
		.kind = sampler.kind, .name = LUAJIT_VERSION, .why = *why ? why : NULL, .numbers = numbers, .n = 3,
	});
}

static int on_close(lua_State *L)
{
	(void)L;
	finish();
	return 0;
}

/* Finalizers run when the VM is closed, in the reverse of their order: the oldest object's is the last. */
static void finish_at_close(lua_State *L)
{
	static char key;

	lua_pushlightuserdata(L, &key);
	lua_newuserdata(L, 1);
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, on_close);
	lua_setfield(L, -2, "__gc");
	lua_setmetatable(L, -2);
	lua_rawset(L, LUA_REGISTRYINDEX);
}

/* The script's thread; before its first Lua code. */
static void ready(lua_State *L)
{
	owner_take();
	finish_at_close(L);
	vm_probe(L);
	if (!vm.known)
		msg_warn(NULL, "%s: no lines, no VM state", vm.why);
	signals_begin();
	sampler_prepare(&sampler, hertz);
	signals_end();
	write_run();
	modules_look();
	events_attach(L);
	loaders_watch(L);
	pthread_atfork(NULL, NULL, in_child);
	atexit(finish);
	thread_start = owner_time();
	process_start = sampler_process_time();
	sampler_start();
}

static void loaded(lua_State *L)
{
	loaders_learn(L, -1);
}

static struct script_option *jit_options(int *n)
{
	struct script_option *v = xcalloc((size_t)(1 + optimize.n + commands.n), sizeof *v);

	*n = 0;
	for (int i = 0; i < commands.n; i++)
		v[(*n)++] = (struct script_option){ 'j', commands.v[i] };
	for (int i = 0; i < optimize.n; i++)
		v[(*n)++] = (struct script_option){ 'O', optimize.v[i] };
	if (hotloop)
		v[(*n)++] = (struct script_option){ 'O', xasprintf("hotloop=%u", number("--hotloop", hotloop, HOT_MAX)) };
	return v;
}

static char *absolute(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : xstrdup(path);
}

int main(int argc, char **argv)
{
	struct script script = { .ready = ready, .loaded = loaded };
	struct sigaction pipe;
	lua_State *L;
	int at, status;

	complete_words(argc, argv);
	/* A filter's message system wants SIGPIPE to end it; a script gets what its parent left. */
	sigaction(SIGPIPE, NULL, &pipe);
	at = opt_parse(&tool, argc, argv);
	sigaction(SIGPIPE, &pipe, NULL);
	if (at == argc)
		opt_usage(&tool, "no script");
	hertz = hertz_text ? number("-F", hertz_text, HERTZ_MAX) : HERTZ;
	script.options = jit_options(&script.n_options);
	script.words = argv + at;
	script.path = strcmp(argv[at], "-") || !strcmp(argv[at - 1], "--") ? argv[at] : NULL;
	if (!emit_open(output, &(struct emit_object){ script.path ? absolute(argv[at]) : "standard input", argv[at], "x86_64" }))
		return 1;
	if ((perf_map && !export_perf_map()) || (jitdump && !export_jitdump(jitdump)))
		return 1;
	L = luaL_newstate();
	if (!L) {
		fprintf(stderr, "luajit: cannot create state: not enough memory\n");
		return 1;
	}
	status = script_run(L, &script);
	if (!script.ran) {
		sampler_stop();
		emit_remove();
	}
	lua_close(L);
	finish();
	return status;
}
