/* stepper [-o FILE] PROGRAM ARG... - runs the program one instruction at a time and counts how often each instruction of each
   mapped file was started.  Writes callgrind's format (positions: instr; link-time addresses), %p in FILE being the process's id.

   A start is not a trap: a repeated string instruction traps once an iteration with one pc; a system call that is restarted and
   an instruction that faulted and is retried are stepped twice.  Each counts once, as a counter at the block's head would.
   One thread, one process: children that fork run on their own, uncounted.  Of a program that calls exec the last image counts.
   Status: the program's own, 128 + the signal's number when one ended it, 125 when it could not be run. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { KIND_NEW, KIND_PLAIN, KIND_REP, KIND_SYSCALL, KIND_TRAP };

struct mapping {
	uint64_t start, end, offset;
	char *path;
	uint64_t *counts;	/* one a byte; pages that are never touched cost nothing */
	uint8_t *kinds;
	bool live;
};

/* An instruction that was started but did not end before a signal's handler ran. */
struct interrupted { uint64_t pc, sp; };

static struct mapping *maps;
static size_t map_count, map_cap, last_map;
static struct interrupted *stack;
static size_t depth, stack_cap;
static uint64_t steps;
static pid_t child;

static void die(const char *what)
{
	fprintf(stderr, "stepper: %s: %s\n", what, strerror(errno));
	exit(125);
}

static void *grow(void *p, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return p;
	*cap = *cap ? *cap * 2 : 64;
	p = realloc(p, *cap * size);
	if (!p)
		die("memory");
	return p;
}

static void map_add(uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	struct mapping *m;

	for (size_t i = 0; i < map_count; i++) {
		m = &maps[i];
		if (m->start == start && m->end == end && m->offset == offset && !strcmp(m->path, path)) {
			m->live = true;
			return;
		}
	}
	maps = grow(maps, map_count, &map_cap, sizeof *maps);
	m = &maps[map_count++];
	*m = (struct mapping){ start, end, offset, strdup(path), NULL, NULL, true };
	m->counts = calloc(end - start, sizeof *m->counts);
	m->kinds = calloc(end - start, 1);
	if (!m->path || !m->counts || !m->kinds)
		die("memory");
}

static void maps_read(void)
{
	char name[64], line[PATH_MAX + 200], perms[8];
	unsigned long start, end, offset;
	FILE *f;
	int at;

	for (size_t i = 0; i < map_count; i++)
		maps[i].live = false;
	snprintf(name, sizeof name, "/proc/%d/maps", (int)child);
	f = fopen(name, "r");
	if (!f)
		return;
	while (fgets(line, sizeof line, f)) {
		at = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, perms, &offset, &at) < 4 || perms[2] != 'x')
			continue;
		line[strcspn(line, "\n")] = 0;
		map_add(start, end, offset, at ? line + at : "");
	}
	fclose(f);
}

static void maps_forget(void)
{
	for (size_t i = 0; i < map_count; i++) {
		free(maps[i].path);
		free(maps[i].counts);
		free(maps[i].kinds);
	}
	map_count = last_map = depth = 0;
}

static struct mapping *map_find(uint64_t pc)
{
	struct mapping *m;

	for (int try = 0; try < 2; try++) {
		if (last_map < map_count) {
			m = &maps[last_map];
			if (m->live && pc >= m->start && pc < m->end)
				return m;
		}
		for (last_map = 0; last_map < map_count; last_map++) {
			m = &maps[last_map];
			if (m->live && pc >= m->start && pc < m->end)
				return m;
		}
		if (!try)
			maps_read();
	}
	return NULL;
}

static enum kind classify(uint64_t pc)
{
	unsigned char b[16] = { 0 };
	struct iovec to = { b, sizeof b }, from = { (void *)(uintptr_t)pc, sizeof b };
	bool rep = false;
	size_t i = 0;

	if (process_vm_readv(child, &to, 1, &from, 1, 0) < 1) {
		from.iov_len = to.iov_len = 0x1000 - (pc & 0xfff) < sizeof b ? 0x1000 - (pc & 0xfff) : sizeof b;
		if (process_vm_readv(child, &to, 1, &from, 1, 0) < 1)
			return KIND_PLAIN;
	}
	if (b[0] == 0xcc || b[0] == 0xcd || b[0] == 0xf1)
		return KIND_TRAP;
	for (; i < sizeof b - 2; i++) {
		if (b[i] == 0xf3 || b[i] == 0xf2)
			rep = true;
		else if (b[i] != 0x66 && b[i] != 0x67 && b[i] != 0x2e && b[i] != 0x3e && b[i] != 0x26 && b[i] != 0x36 && b[i] != 0x64 && b[i] != 0x65)
			break;
	}
	if ((b[i] & 0xf0) == 0x40)
		i++;
	if (b[i] == 0x0f && b[i + 1] == 0x05)
		return KIND_SYSCALL;
	if (rep && ((b[i] >= 0xa4 && b[i] <= 0xa7) || (b[i] >= 0xaa && b[i] <= 0xaf) || (b[i] >= 0x6c && b[i] <= 0x6f)))
		return KIND_REP;
	return KIND_PLAIN;
}

static bool caught(int sig)
{
	char name[64], line[256];
	unsigned long mask = 0;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/status", (int)child);
	f = fopen(name, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "SigCgt: %lx", &mask) == 1)
			break;
	if (f)
		fclose(f);
	return mask >> (sig - 1) & 1;
}

static bool will_restart(uint64_t rax)
{
	int64_t r = (int64_t)rax;

	return r == -512 || r == -513 || r == -514 || r == -516;
}

/* True when pc, reached by sigreturn, is where an instruction had been started already. */
static bool resumed(uint64_t pc, uint64_t sp)
{
	for (size_t i = depth; i-- > 0;)
		if (stack[i].pc == pc && stack[i].sp == sp) {
			depth = i;
			return true;
		}
	return false;
}

static void signalled(int sig, uint64_t started, enum kind kind, const struct user_regs_struct *r)
{
	if (!caught(sig) || !(r->rip == started || (kind == KIND_SYSCALL && will_restart(r->rax))))
		return;
	stack = grow(stack, depth, &stack_cap, sizeof *stack);
	stack[depth++] = (struct interrupted){ started, r->rsp };
}

/* A SIGTRAP that the program is to get, not ours. */
static bool own_trap(enum kind kind)
{
	siginfo_t info;

	return kind == KIND_TRAP && !ptrace(PTRACE_GETSIGINFO, child, NULL, &info) && info.si_code == SI_KERNEL;
}

static int step_all(void)
{
	struct user_regs_struct r;
	struct mapping *m;
	uint64_t started = 0, number = 0;
	enum kind kind = KIND_PLAIN;
	bool returning = false, in_signal = false;
	int status, sig = 0;

	for (;;) {
		if (ptrace(PTRACE_GETREGS, child, NULL, &r))
			die("registers");
		/* The trap behind a system call comes before the signal that interrupted it: it may be restarted yet. */
		if (kind == KIND_SYSCALL && r.rip == started + 2 && will_restart(r.rax))
			in_signal = true;
		if (!in_signal && !(kind == KIND_REP && r.rip == started) && !(kind == KIND_SYSCALL && r.rip == started) &&
		    !(returning && resumed(r.rip, r.rsp))) {
			m = map_find(r.rip);
			if (m) {
				m->counts[r.rip - m->start]++;
				if (m->kinds[r.rip - m->start] == KIND_NEW)
					m->kinds[r.rip - m->start] = classify(r.rip);
			}
			kind = m ? m->kinds[r.rip - m->start] : classify(r.rip);
			steps++;
		} else if (!in_signal) {
			kind = classify(r.rip);
		}
		if (!in_signal) {
			started = r.rip;
			number = r.rax;
		}
		returning = !in_signal && kind == KIND_SYSCALL && number == 15;
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)sig))
			die("step");
		sig = 0;
		if (waitpid(child, &status, 0) < 0)
			die("wait");
		if (!WIFSTOPPED(status))
			return status;
		in_signal = false;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			maps_forget();
			kind = KIND_PLAIN;
			started = 0;
			continue;
		}
		if (kind == KIND_SYSCALL && (number == 9 || number == 10 || number == 11 || number == 25))
			maps_read();
		if (WSTOPSIG(status) != SIGTRAP || own_trap(kind)) {
			sig = WSTOPSIG(status);
			in_signal = true;
			if (ptrace(PTRACE_GETREGS, child, NULL, &r))
				die("registers");
			signalled(sig, started, kind, &r);
		}
	}
}

/* The link-time address of an offset in the file, by the program headers. */
static uint64_t link_time(const Elf64_Phdr *ph, size_t n, uint64_t offset)
{
	for (size_t i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X && offset >= (ph[i].p_offset & ~0xfffUL) && offset < ph[i].p_offset + ph[i].p_filesz)
			return ph[i].p_vaddr + (offset - ph[i].p_offset);
	return offset;
}

static void write_mapping(FILE *out, const struct mapping *m)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph[64];
	size_t n = 0;
	int fd;

	if (m->path[0] != '/')
		return;
	fd = open(m->path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && pread(fd, &eh, sizeof eh, 0) == sizeof eh && eh.e_phnum <= 64 &&
	    pread(fd, ph, eh.e_phnum * sizeof *ph, (off_t)eh.e_phoff) == (ssize_t)(eh.e_phnum * sizeof *ph))
		n = eh.e_phnum;
	if (fd >= 0)
		close(fd);
	fprintf(out, "\nob=%s\nfl=???\nfn=???\n", m->path);
	for (uint64_t i = 0; i < m->end - m->start; i++)
		if (m->counts[i])
			fprintf(out, "0x%lx %lu\n", link_time(ph, n, i + m->offset), m->counts[i]);
}

static void write_all(const char *pattern, char **command)
{
	const char *p = strstr(pattern, "%p");
	char name[PATH_MAX];
	FILE *out;

	if (p)
		snprintf(name, sizeof name, "%.*s%d%s", (int)(p - pattern), pattern, (int)child, p + 2);
	else
		snprintf(name, sizeof name, "%s", pattern);
	out = fopen(name, "w");
	if (!out)
		die(name);
	fprintf(out, "# callgrind format\nversion: 1\ncreator: stepper\npid: %d\ncmd:", (int)child);
	for (; *command; command++)
		fprintf(out, " %s", *command);
	fprintf(out, "\npart: 1\n\npositions: instr\nevents: Ir\nsummary: %lu\n", steps);
	for (size_t i = 0; i < map_count; i++)
		write_mapping(out, &maps[i]);
	if (fclose(out))
		die(name);
}

int main(int argc, char **argv)
{
	const char *pattern = "step.out.%p";
	int status, at = 1;

	if (argc > 2 && !strcmp(argv[1], "-o")) {
		pattern = argv[2];
		at = 3;
	}
	if (at >= argc) {
		fputs("usage: stepper [-o FILE] PROGRAM ARG...\n", stderr);
		return 2;
	}
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[at], argv + at);
		die(argv[at]);
	}
	if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
		return 125;
	if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(long)(PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)))
		die("ptrace");
	status = step_all();
	write_all(pattern, argv + at);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
