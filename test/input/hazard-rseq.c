/* hazard-rseq.c - a restartable sequence: the kernel compares the program counter with addresses in data and goes to one of them. */
#include "hazard.h"
#include <signal.h>
#include <sys/rseq.h>
#include <sys/time.h>
int rseq_wait(void *area);
#ifdef HOST
static void on_alarm(int number) { (void)number; }
int main(void)
{
	struct itimerval soon = { { 0, 1000 }, { 0, 1000 } };

	if (!__rseq_size) {
		puts("no restartable sequences here");
		return 0;
	}
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (int i = 0; i < 3; i++)
		printf("%d ", rseq_wait((char *)__builtin_thread_pointer() + __rseq_offset));
	puts("");
	return 0;
}
#else
/* Waits within the sequence until a signal ends it. */
__asm__(".text\n.globl rseq_wait\n.type rseq_wait, @function\nrseq_wait: .cfi_startproc\n leaq rseq_sequence(%rip), %rax\n movq %rax, 8(%rdi)\n"
        "1: pause\n jmp 1b\n2: movl $1, %eax\n ret\n .byte 0x0f, 0xb9, 0x3d\n .long 0x53053053\n3: movl $5, %eax\n ret\n.cfi_endproc\n"
        ".size rseq_wait, . - rseq_wait\n"
        ".section __rseq_cs, \"aw\"\n.p2align 5\nrseq_sequence: .long 0, 0\n .quad 1b, 2b - 1b, 3b\n.text\n");
#endif
