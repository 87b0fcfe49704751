/* qemu-fake.c - fake.c for MIPS: an object that is profiled by hand, for trying the comparison with what qemu executed; with
   -DHOST the program that calls into it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "formats/counters.h"

#ifdef HOST
int fake_run(int n);
int fake_run_old(int n);
long fake_read(int fd, void *to, size_t n);

static int pipes[2];
static volatile sig_atomic_t ticks;

static void tick(int sig)
{
	(void)sig;
	if (++ticks % 4 == 0 && write(pipes[1], "x", 1) != 1)
		_exit(1);
}

/* With an argument: in a system call that is restarted, too. */
int main(int argc, char **argv)
{
	struct itimerval period = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction a = { .sa_handler = tick, .sa_flags = SA_RESTART };
	char c = 0;

	(void)argv;
	printf("%d %d %d\n", fake_run(100), fake_run(101), fake_run_old(7));
	if (argc > 1) {
		if (pipe(pipes))
			return 1;
		sigaction(SIGALRM, &a, NULL);
		setitimer(ITIMER_REAL, &period, NULL);
		for (int i = 0; i < 3; i++)
			fake_read(pipes[0], &c, 1);
	}
	return 0;
}
#else
enum { BLOCKS = 9, SPRINGS = 1, PAGE = 65536 };
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) uint64_t fake_counters[BLOCKS + SPRINGS];

#ifdef __MIPSEB__
#define LOW "4"
#else
#define LOW "0"
#endif
/* 20 bytes. */
#define COUNT(n) "	lw $8, %got(fake_counters)($28)\n	nop\n	lw $9, 8*" #n "+" LOW "($8)\n" \
	"	addiu $9, $9, 1\n	sw $9, 8*" #n "+" LOW "($8)\n"
/* 16 bytes. */
#define GP(at) at ":	lui $28, %hi(_gp_disp)\n	addiu $28, $28, %lo(_gp_disp)\n	addu $28, $28, $25\n	nop\n"
#define ROW(old, new, inserted, size) "	.word old_area+" #old ", " #new ", " #size "|" #inserted "<<24\n"

__asm__(
"	.text\n"
"	.globl fake_run_old, fake_run, fake_read\n"
"	.type fake_run, @function\n	.type fake_run_old, @function\n	.type fake_read, @function\n"
"	.set push\n	.set noreorder\n"
"fake_run_old:\n"
"old_entry:\n"
"	b stub0\n"
"	nop\n"
"old_area:\n"
"	.skip 256, 0\n"
"fake_stays:\n"
"	addiu $2, $2, 1\n"
"	jr $31\n"
"	nop\n"
"fake_stays_end:\n"
"	.section .soprof.text, \"ax\", @progbits\n"
"start:\n" GP("fake_run")
"new0:\n" COUNT(0)
"	move $2, $0\n"
"new1:\n" COUNT(1)
"	addiu $2, $2, 1\n"
"	andi $10, $4, 1\n"
"	beqz $10, new3\n"
"	nop\n"
"new2:\n" COUNT(2)
"	addiu $2, $2, 3\n"
"new3:\n" COUNT(3)
"	addiu $4, $4, -1\n"
"	bnez $4, new1\n"
"	nop\n"
"new4:\n" COUNT(4)
"	lw $25, %got(fake_stays)($28)\n"
"	addiu $25, $25, %lo(fake_stays)\n"
"	move $11, $31\n"
"	jalr $25\n"
"	nop\n"
"new5:\n" COUNT(5)
"	jr $11\n"
"	nop\n"
GP("fake_read")
"new6:\n" COUNT(6)
"	li $2, 4003\n"
"new7:\n" COUNT(7)
"	syscall\n"
"new8:\n" COUNT(8)
"	jr $31\n"
"	nop\n"
"new9:\n"
"stub0:	move $12, $31\n"
"	bal 1f\n"
"	nop\n"
"1:	lui $28, %hi(_gp_disp)\n	addiu $28, $28, %lo(_gp_disp)\n	addu $28, $28, $31\n"
"	move $31, $12\n"
COUNT(9)
"	lw $25, %got(start)($28)\n"
"	addiu $25, $25, %lo(start)\n"
"	jr $25\n"
"	nop\n"
"	.section .soprof.map, \"aw\", @progbits\n"
ROW(0, new0, 20, 4) ROW(4, new1, 20, 16) ROW(20, new2, 20, 4) ROW(24, new3, 20, 12) ROW(36, new4, 20, 20) ROW(56, new5, 20, 8)
ROW(64, new6, 20, 4) ROW(68, new7, 20, 4) ROW(72, new8, 20, 8)
"	.section .soprof.springs, \"aw\", @progbits\n"
"	.word old_entry\n"
"	.section .soprof.info, \"a\", @progbits\n"
"	.skip 512, 0xf6\n"
"	.set pop\n"
"	.text\n");

__attribute__((destructor)) static void write_counters(void)
{
	static struct counters_header h = { COUNTERS_MAGIC, COUNTERS_VERSION, PAGE, PAGE, 0, BLOCKS + SPRINGS, BLOCKS,
		.object = "libfake.so" };
	const char *dir = getenv(COUNTERS_DIR_ENV), *wrong = getenv("FAKE_WRONG");
	struct timespec now;
	char path[4096];
	FILE *f;

	if (!dir)
		return;
	if (wrong)
		fake_counters[atoi(wrong)]++;
	h.load_bias = (uint64_t)(uintptr_t)__ehdr_start;
	h.pid = (uint32_t)getpid();
	clock_gettime(CLOCK_REALTIME, &now);
	h.start_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	snprintf(path, sizeof path, "%s/libfake.so.%d.0", dir, (int)getpid());
	f = fopen(path, "wb");
	if (!f)
		return;
	fwrite(&h, sizeof h, 1, f);
	fseek(f, PAGE, SEEK_SET);
	fwrite(fake_counters, sizeof fake_counters, 1, f);
	fclose(f);
}
#endif
