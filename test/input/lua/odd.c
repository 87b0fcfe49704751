/* odd.c - a Lua module that does to signals, stacks and processes what C libraries do. */
#include <luajit-2.1/lauxlib.h>
#include <luajit-2.1/lua.h>
#include <luajit-2.1/lualib.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST = 8, STACK = 1 << 20 };
extern char **environ;
static volatile sig_atomic_t caught;
static pthread_t threads[MOST];
static int n_threads;
static const char *chunk;
static jmp_buf back;
static ucontext_t outer, inner;
static lua_State *in_context;

static int all_default(lua_State *L)
{
	for (int i = 1; i <= SIGRTMAX; i++)
		signal(i, SIG_DFL);
	return lua_gettop(L);
}

static void on_signal(int number)
{
	(void)number;
	caught++;
}

static int all_caught(lua_State *L)
{
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		sigaction(i, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	return lua_gettop(L);
}

static int signals_caught(lua_State *L)
{
	lua_pushinteger(L, caught);
	return 1;
}

static int block(lua_State *L)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(lua_toboolean(L, 1) ? SIG_BLOCK : SIG_UNBLOCK, &all, NULL);
	return 0;
}

static void *run_chunk(void *none)
{
	lua_State *L = luaL_newstate();

	(void)none;
	luaL_openlibs(L);
	if (luaL_loadstring(L, chunk) || lua_pcall(L, 0, 0, 0))
		abort();
	lua_close(L);
	return NULL;
}

/* begin(n, text): n threads, each with a Lua state that runs the text. */
static int begin(lua_State *L)
{
	chunk = luaL_checkstring(L, 2);
	for (n_threads = 0; n_threads < luaL_checkinteger(L, 1) && n_threads < MOST; n_threads++)
		pthread_create(&threads[n_threads], NULL, run_chunk, NULL);
	return 0;
}

static int join(lua_State *L)
{
	while (n_threads > 0)
		pthread_join(threads[--n_threads], NULL);
	return lua_gettop(L);
}

static void *leave(void *status)
{
	usleep(200000);
	exit((int)(intptr_t)status);
}

static int exit_elsewhere(lua_State *L)
{
	pthread_create(&threads[0], NULL, leave, (void *)(intptr_t)luaL_checkinteger(L, 1));
	return 0;
}

static int child(lua_State *L)
{
	char *words[] = { "sh", "-c", "exit 7", NULL };
	int status;
	pid_t pid;

	if (lua_toboolean(L, 1)) {
		posix_spawn(&pid, "/bin/sh", NULL, NULL, words, environ);
	} else if (!(pid = vfork())) {
		execv("/bin/sh", words);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	lua_pushinteger(L, WEXITSTATUS(status));
	return 1;
}

static __attribute__((noinline)) void down(volatile int n)
{
	if (n-- > 0)
		down(n);
	else
		longjmp(back, 1);
	n++;
}

static int jump(lua_State *L)
{
	lua_pushinteger(L, 1);
	if (!setjmp(back))
		down((int)luaL_checkinteger(L, 1));
	return 1;
}

static void body(void)
{
	lua_call(in_context, 0, 1);
}

/* on_other_stack(f) */
static int on_other_stack(lua_State *L)
{
	in_context = L;
	getcontext(&inner);
	inner.uc_stack.ss_sp = malloc(STACK);
	inner.uc_stack.ss_size = STACK;
	inner.uc_link = &outer;
	makecontext(&inner, body, 0);
	swapcontext(&outer, &inner);
	free(inner.uc_stack.ss_sp);
	return 1;
}

int luaopen_odd(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "all_default", all_default }, { "all_caught", all_caught }, { "signals_caught", signals_caught }, { "block", block },
		{ "begin", begin }, { "join", join }, { "exit_elsewhere", exit_elsewhere }, { "child", child }, { "jump", jump },
		{ "on_other_stack", on_other_stack }, { NULL, NULL }
	};

	lua_newtable(L);
	luaL_register(L, NULL, functions);
	return 1;
}
