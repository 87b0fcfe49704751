/* runtime-host.c - a process with profiled objects that are only their counter segments: calls the run-time code as the stubs of a
   real profiled object do, and does what its arguments say, one after another.  A word that begins with "c:" is for forked
   children only, with "p:" for the first process only. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include "formats/counters.h"
#if defined(__x86_64__)
#include "runtime/blob-x86_64.h"
#define REGISTRY_ADDRESS 0x7e9053504000	/* runtime/x86_64.h */
#define BLOB runtime_blob_x86_64
enum { PAGE = 4096, ALIGN = RUNTIME_X86_64_ALIGN, INIT = RUNTIME_X86_64_INIT, CHILD = RUNTIME_X86_64_CHILD };
#elif defined(__MIPSEB__)
#include "runtime/blob-mips.h"
#define BLOB runtime_blob_mips
enum { PAGE = 65536, ALIGN = RUNTIME_MIPS_ALIGN, INIT = RUNTIME_MIPS_INIT, CHILD = RUNTIME_MIPS_CHILD };
#elif defined(__MIPSEL__)
#include "runtime/blob-mipsel.h"
#define BLOB runtime_blob_mipsel
enum { PAGE = 65536, ALIGN = RUNTIME_MIPSEL_ALIGN, INIT = RUNTIME_MIPSEL_INIT, CHILD = RUNTIME_MIPSEL_CHILD };
#endif

typedef void (*entry)(struct counters_private *, struct counters_header *, char **environment);

struct segment {
	struct counters_private *p;
	struct counters_header *h;
	volatile uint64_t *counts;
};

static entry init, child;
static struct segment segments[32];
static int segment_count;
static bool in_child, on_stack;
static char **given;	/* what constructors are given as the environment */
static struct { pthread_t thread; struct segment *s; uint64_t which, times; } threads[8];
static int thread_count;

static void die(const char *what)
{
	perror(what);
	exit(3);
}

static void *map(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void load_blob(void)
{
	char *p = map(sizeof BLOB + 4096);

	memcpy(p + ALIGN, BLOB, sizeof BLOB);
	__builtin___clear_cache(p, p + sizeof BLOB + ALIGN);
	if (mprotect(p, sizeof BLOB + 4096, PROT_READ | PROT_EXEC))
		die("mprotect");
	init = (entry)(uintptr_t)(p + ALIGN + INIT);
	child = (entry)(uintptr_t)(p + ALIGN + CHILD);
}

/* Between two inaccessible pages, with the private page, the header and the counters as so-gen lays them out. */
static void add_object(const char *name, const char *directory, uint64_t counters)
{
	size_t mapped = (PAGE + counters * 8 + PAGE - 1) & ~(size_t)(PAGE - 1);
	char *all = map(mapped + 3 * PAGE);
	struct segment *s = &segments[segment_count++];

	mprotect(all, PAGE, PROT_NONE);
	mprotect(all + 2 * PAGE + mapped, PAGE, PROT_NONE);
	s->p = (void *)(all + PAGE);
	s->h = (void *)(all + 2 * PAGE);
	s->counts = (void *)(all + 3 * PAGE);
	s->p->alive = 1;
	s->p->mapped_size = mapped;
	strcpy(s->p->directory, directory);
	memcpy(s->h->magic, COUNTERS_MAGIC, 8);
	s->h->version = COUNTERS_VERSION;
	s->h->header_size = s->h->page = PAGE;
	s->h->counters = s->h->blocks = counters;
	s->h->map_hash = 0x1122334455667788;
	s->h->header_address = 0x5000;
	s->h->build_id_size = 20;
	memset(s->h->build_id, 0xab, 20);
	strcpy(s->h->object, name);
}

static ucontext_t back;
static entry stack_call;
static struct segment *stack_segment;

static void on_the_stack(void)
{
	stack_call(stack_segment->p, stack_segment->h, given);
}

/* Calls on a stack of its own that was painted first, and prints how much of it was used. */
static void call_measured(entry call, struct segment *s)
{
	static unsigned char stack[65536];
	ucontext_t there;
	size_t unused;

	memset(stack, 0xa5, sizeof stack);
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof stack;
	there.uc_link = &back;
	stack_call = call;
	stack_segment = s;
	makecontext(&there, on_the_stack, 0);
	swapcontext(&back, &there);
	for (unused = 0; stack[unused] == 0xa5; unused++)
		continue;
	printf("stack %zu\n", sizeof stack - unused);
	fflush(stdout);
}

static void call(entry f, struct segment *s)
{
	errno = 4242;
	if (on_stack)
		call_measured(f, s);
	else
		f(s->p, s->h, given);
	if (!on_stack && errno != 4242)
		die("errno was changed");
}

static void *count_in_thread(void *argument)
{
	int i = (int)(intptr_t)argument;

	for (uint64_t n = 0; n < threads[i].times; n++)
		threads[i].s->counts[threads[i].which]++;
	return NULL;
}

/* What a stub behind a system call does. */
static void check(void)
{
	for (int i = 0; i < segment_count; i++)
		if (!segments[i].p->alive)
			call(child, &segments[i]);
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		in_child = true;
		check();
	}
}

static void do_vfork(uint64_t which, uint64_t times)
{
	pid_t pid = vfork();

	if (pid == 0) {
		/* An emulator's vfork is a fork. */
		if (!segments[0].p->alive && !segments[0].p->by_pid)
			_exit(9);
		check();
		for (uint64_t n = 0; n < times; n++)
			segments[0].counts[which]++;
		_exit(0);
	}
}

static void print_state(void)
{
	for (int i = 0; i < segment_count; i++)
		printf("%s %s pid %d state %u error %u alive %llu flags %u\n", in_child ? "child" : "first", segments[i].h->object,
		       (int)getpid(), segments[i].p->state, segments[i].p->error, (unsigned long long)segments[i].p->alive,
		       segments[i].h->flags);
	fflush(stdout);
}

static void set_limit(int which, uint64_t value)
{
	struct rlimit limit;

	getrlimit(which, &limit);
	limit.rlim_cur = value;
	if (setrlimit(which, &limit))
		die("setrlimit");
}

static uint64_t number(char **words)
{
	return words[0] ? strtoull(words[0], NULL, 0) : 0;
}

static void wait_for_children(void)
{
	int status;

	while (wait(&status) > 0)
		if (status)
			fprintf(stderr, "a child ended with status %#x\n", status);
}

static void start_thread(struct segment *s, uint64_t which, uint64_t times)
{
	threads[thread_count].s = s;
	threads[thread_count].which = which;
	threads[thread_count].times = times;
	if (pthread_create(&threads[thread_count].thread, NULL, count_in_thread, (void *)(intptr_t)thread_count))
		die("pthread_create");
	thread_count++;
}

static void lowest_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	printf("lowest descriptor %d\n", fd);
	fflush(stdout);
	close(fd);
}

/* A page of the program's own where the run-time code has its list. */
static char *list_page;

static void occupy(void)
{
#ifdef REGISTRY_ADDRESS
	list_page = mmap((void *)REGISTRY_ADDRESS, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(list_page, 0x5a, PAGE);
#endif
}

static void is_occupied(void)
{
	for (int i = 0; list_page && i < PAGE; i++)
		if (list_page[i] != 0x5a)
			die("the page was changed");
	puts("occupied as before");
	fflush(stdout);
}

static void wait_for_file(const char *path)
{
	while (access(path, F_OK))
		usleep(1000);
}

/* Does one word; returns how many further ones it took. */
static int act(char **w)
{
	const char *word = *w++;

	if (!strcmp(word, "init")) {
		for (int i = 0; i < segment_count; i++)
			call(init, &segments[i]);
	} else if (!strcmp(word, "count")) {
		for (int i = 0; i < segment_count; i++)
			for (uint64_t n = 0; n < number(w + 1); n++)
				segments[i].counts[number(w)]++;
		return 2;
	} else if (!strcmp(word, "count-in")) {
		segments[number(w)].counts[number(w + 1)] += number(w + 2);
		return 3;
	} else if (!strcmp(word, "thread")) {
		start_thread(&segments[0], number(w), number(w + 1));
		return 2;
	} else if (!strcmp(word, "join")) {
		while (thread_count)
			pthread_join(threads[--thread_count].thread, NULL);
	} else if (!strcmp(word, "fork")) {
		do_fork();
	} else if (!strcmp(word, "unshare-pid")) {
		if (unshare(CLONE_NEWPID))
			die("unshare");
	} else if (!strcmp(word, "vfork")) {
		do_vfork(number(w), number(w + 1));
		return 2;
	} else if (!strcmp(word, "split")) {
		mprotect((char *)segments[0].h + PAGE * number(w), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
		return 1;
	} else if (!strcmp(word, "cut-mapping")) {
		/* a shared mapping of somebody else's file whose content is gone: reading it would be SIGBUS */
		int fd = open(w[0], O_RDWR | O_CREAT, 0600);
		char *two = map(2 * PAGE);

		if (ftruncate(fd, 4096) || mmap(two + PAGE, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ||
		    ftruncate(fd, 0))
			die(w[0]);
		close(fd);
		return 1;
	} else if (!strcmp(word, "exec")) {
		execv("/proc/self/exe", w - 1);
		die("exec");
	} else if (!strcmp(word, "kill")) {
		raise((int)number(w));
		return 1;
	} else if (!strcmp(word, "_exit")) {
		_exit(0);
	} else if (!strcmp(word, "wait")) {
		wait_for_children();
	} else if (!strcmp(word, "wait-file")) {
		wait_for_file(w[0]);
		return 1;
	} else if (!strcmp(word, "fsize")) {
		set_limit(RLIMIT_FSIZE, number(w));
		return 1;
	} else if (!strcmp(word, "nofile")) {
		set_limit(RLIMIT_NOFILE, number(w));
		return 1;
	} else if (!strcmp(word, "umask")) {
		umask((mode_t)number(w));
		return 1;
	} else if (!strcmp(word, "setuid")) {
		if (setgid((gid_t)number(w)) || setuid((uid_t)number(w)))
			die("setuid");
		return 1;
	} else if (!strcmp(word, "chdir")) {
		if (chdir(w[0]))
			die(w[0]);
		return 1;
	} else if (!strcmp(word, "unlink")) {
		unlink(w[0]);
		return 1;
	} else if (!strcmp(word, "chroot")) {
		if (chroot(w[0]) || chdir("/"))
			die(w[0]);
		return 1;
	} else if (!strcmp(word, "given")) {
		given = (char **)(uintptr_t)number(w);
		return 1;
	} else if (!strcmp(word, "occupy")) {
		occupy();
	} else if (!strcmp(word, "occupied")) {
		is_occupied();
	} else if (!strcmp(word, "measure")) {
		on_stack = true;
	} else if (!strcmp(word, "descriptor")) {
		lowest_descriptor();
	} else if (!strcmp(word, "state")) {
		print_state();
	} else if (!strcmp(word, "print")) {
		printf("%s %llu\n", in_child ? "child" : "first", (unsigned long long)segments[0].counts[number(w)]);
		fflush(stdout);
		return 1;
	} else if (!strcmp(word, "object")) {
		add_object(w[0], w[1], number(w + 2));
		return 3;
	} else {
		fprintf(stderr, "what is %s?\n", word);
		exit(2);
	}
	return 0;
}

/* Words that are not for this process still have to be passed over with what follows them, so they are written as one:
   "c:count 1 5". */
static void act_conditionally(char *word)
{
	char *words[8] = { NULL };
	int n = 0;

	if ((word[0] == 'c') != in_child)
		return;
	for (char *part = strtok(word + 2, " "); part && n < 7; part = strtok(NULL, " "))
		words[n++] = part;
	act(words);
}

int main(int argc, char **argv)
{
	given = environ;
	load_blob();
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "c:", 2) || !strncmp(argv[i], "p:", 2))
			act_conditionally(argv[i]);
		else
			i += act(argv + i);
	if (!in_child)
		wait_for_children();
	return 0;
}
