/* fake.c - a small object that is profiled by hand, for trying the oracles themselves: its new text has counting code at each
   head, and it writes a counter file when the program ends.  make-fake fills in the tables. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "formats/counters.h"

enum { BLOCKS = 11, SPRINGS = 1 };
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) uint64_t fake_counters[BLOCKS + SPRINGS];
__attribute__((visibility("hidden"))) char fake_buffer[64];

#define COUNT(n) "	incq fake_counters+8*" #n "(%rip)\n"

__asm__(
"	.text\n"
"	.globl fake_run_old, fake_run, fake_read, fake_touch\n"
"	.type fake_run, @function\n	.type fake_run_old, @function\n	.type fake_read, @function\n	.type fake_touch, @function\n"
"fake_run_old:\n"
"	jmp stub0\n"
"old_area:\n"
"	.skip 256, 0xcc\n"
"fake_stays:\n"
"	lea 1(%rax), %rax\n"
"	ret\n"
"fake_stays_end:\n"
"	.section .soprof.text, \"ax\", @progbits\n"
"fake_run:\n"
"new0:	endbr64\n"
	COUNT(0)
"	mov %edi, %ecx\n"
"	xor %eax, %eax\n"
"new1:\n" COUNT(1)
"	lea fake_buffer(%rip), %rdi\n"
"	push %rcx\n"
"	mov $64, %ecx\n"
"new2:\n" COUNT(2)
"	rep stosb\n"
"	pop %rcx\n"
"	test $1, %cl\n"
"	jz new4\n"
"new3:\n" COUNT(3)
"	add $3, %eax\n"
"new4:\n" COUNT(4)
"	dec %ecx\n"
"	jnz new1\n"
"new5:\n" COUNT(5)
"	call fake_stays\n"
"new6:\n" COUNT(6)
"	ret\n"
"fake_read:\n"
"new7:\n" COUNT(7)
"	xor %eax, %eax\n"
"new8:\n" COUNT(8)
"	syscall\n"
"	nop\n"
"new9:\n" COUNT(9)
"	ret\n"
"fake_touch:\n"
"new10:\n" COUNT(10)
"	movb $1, (%rdi)\n"
"	ret\n"
"new11:\n"
"stub0:\n" COUNT(11)
"	jmp new0\n"
"	.section .soprof.map, \"a\", @progbits\n"
"	.skip 11*12\n"
"	.section .soprof.springs, \"a\", @progbits\n"
"	.skip 4\n"
"	.section .soprof.info, \"a\", @progbits\n"
"	.skip 256\n"
"	.text\n");

__attribute__((destructor)) static void write_counters(void)
{
	static struct counters_header h = { COUNTERS_MAGIC, COUNTERS_VERSION, COUNTERS_PAGE, COUNTERS_PAGE, 0, BLOCKS + SPRINGS, BLOCKS,
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
	if (readlink("/proc/self/exe", h.executable, sizeof h.executable - 1) < 0)
		h.executable[0] = 0;
	snprintf(path, sizeof path, "%s/libfake.so.%d.0", dir, (int)getpid());
	f = fopen(path, "wb");
	if (!f)
		return;
	fwrite(&h, sizeof h, 1, f);
	fseek(f, COUNTERS_PAGE, SEEK_SET);
	fwrite(fake_counters, sizeof fake_counters, 1, f);
	fclose(f);
}
