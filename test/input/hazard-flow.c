/* hazard-flow.c - jumps: setjmp, signals on another stack, tail calls through pointers, and what only assembly does. */
#include "hazard.h"
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
int flow_jump(int n), flow_signal(int n), flow_tail(int n, int x);
long flow_pc(void), flow_lock(long n), flow_loop(long n), flow_table(long n), flow_rcx(long n), flow_begin(void), flow_flags(long n), flow_xlat(long n);
#ifdef HOST
int main(void)
{
	for (int i = 0; i < 5; i++)
		printf("%d %d %d ", flow_jump(i), flow_signal(i), flow_tail(i, 3));
	for (long i = 0; i < 5; i++)
		printf("%ld %ld %ld %ld %ld %ld ", flow_lock(i), flow_loop(i), flow_table(i), flow_rcx(i), flow_flags(i), flow_xlat(i));
	printf("%ld %ld\n", flow_pc(), flow_begin());
	return 0;
}
#else
static jmp_buf there;
static __attribute__((noinline)) void leave(int n) { if (n) longjmp(there, n); }
int flow_jump(int n)
{
	volatile int depth = 1;
	int r = setjmp(there);

	if (r)
		return r * 10 + depth;
	depth = 2;
	leave(n);
	return depth;
}

static volatile sig_atomic_t caught;
static sigjmp_buf out;
static void on_signal(int number, siginfo_t *info, void *context)
{
	char here;

	(void)info, (void)context, (void)here;
	caught += number;
	if (number == SIGUSR2)
		siglongjmp(out, 5);
}

int flow_signal(int n)
{
	static char stack[65536];
	stack_t s = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	int r;

	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	raise(SIGUSR1);
	if (!(r = sigsetjmp(out, 1)))
		raise(n & 1 ? SIGUSR2 : SIGUSR1);
	return caught * 10 + r;
}

static int t0(int x) { return x; }
static int t1(int x) { return x * 2; }
static int (*const steps[])(int) = { t0, t1, abs };
int flow_tail(int n, int x) { return steps[n % 3](x); }

__asm__(".text\n"
        /* its own address by a call */
        ".globl flow_pc\n.type flow_pc, @function\nflow_pc: .cfi_startproc\n call 1f\n1: popq %rdx\n leaq 1b(%rip), %rax\n subq %rdx, %rax\n"
        " addq $42, %rax\n ret\n.cfi_endproc\n.size flow_pc, . - flow_pc\n"
        /* a jump over a lock prefix */
        ".globl flow_lock\n.type flow_lock, @function\nflow_lock: .cfi_startproc\n pushq $40\n .cfi_adjust_cfa_offset 8\n testb $1, %dil\n je 2f + 1\n"
        "2: lock\n addq %rdi, (%rsp)\n popq %rax\n .cfi_adjust_cfa_offset -8\n ret\n.cfi_endproc\n.size flow_lock, . - flow_lock\n"
        /* loop, loopne: short forms only, flags kept */
        ".globl flow_loop\n.type flow_loop, @function\nflow_loop: .cfi_startproc\n leaq 3(%rdi), %rcx\n xorl %eax, %eax\n3: addq $2, %rax\n loop 3b\n"
        " movl $9, %ecx\n4: decq %rdi\n loopne 4b\n leaq (%rax,%rcx,8), %rax\n ret\n.cfi_endproc\n.size flow_loop, . - flow_loop\n"
        /* data in text, read by lea and mov */
        ".globl flow_table\n.type flow_table, @function\nflow_table: .cfi_startproc\n leaq 5f(%rip), %rax\n movzbl (%rax,%rdi), %eax\n addl 6f(%rip), %eax\n"
        " ret\n5: .byte 11, 0xe8, 33, 0xff, 55, 0x0f\n6: .long 1000\n.cfi_endproc\n.size flow_table, . - flow_table\n"
        /* jrcxz and jecxz over more than their reach once code is inserted */
        ".globl flow_rcx\n.type flow_rcx, @function\nflow_rcx: .cfi_startproc\n movq %rdi, %rcx\n xorl %eax, %eax\n jrcxz 7f\n incl %eax\n cmpl $2, %edi\n"
        " je 8f\n incl %eax\n jecxz 7f\n cmpl $3, %edi\n je 8f\n incl %eax\n testl %edi, %edi\n js 8f\n .fill 60, 1, 0x90\n7: addl $7, %eax\n8: ret\n"
        ".cfi_endproc\n.size flow_rcx, . - flow_rcx\n"
        /* flags that live through jumps and blocks, and come back from a call */
        ".globl flow_flags\n.type flow_flags, @function\nflow_flags: .cfi_startproc\n movq %rdi, %rax\n cmpq $2, %rdi\n jb 9f\n nop\n9: jmp 10f\n nop\n"
        "10: seta %al\n movzbl %al, %eax\n call 12f\n jc 11f\n adcq $10, %rax\n ret\n11: sbbq $20, %rax\n ret\n.cfi_endproc\n.size flow_flags, . - flow_flags\n"
        "12: .cfi_startproc\n cmpq $3, %rdi\n ret\n.cfi_endproc\n"
        /* a jump into code from a table of words in text */
        ".globl flow_xlat\n.type flow_xlat, @function\nflow_xlat: .cfi_startproc\n leaq 13f(%rip), %rdx\n andl $3, %edi\n movslq (%rdx,%rdi,4), %rax\n"
        " addq %rdx, %rax\n jmp *%rax\n.p2align 2\n13: .long 14f - 13b, 15f - 13b, 16f - 13b, 14f - 13b\n14: movl $1, %eax\n ret\n15: movl $2, %eax\n"
        "16: addl $3, %edi\n movl %edi, %eax\n ret\n.cfi_endproc\n.size flow_xlat, . - flow_xlat\n");

/* A transaction; where the processor has none, none is tried. */
long flow_begin(void)
{
	unsigned a = 7, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (!(b >> 11 & 1))
		return 1;
	a = ~0u;
	__asm__ volatile("xbegin 1f\n\txend\n1:" : "+a"(a) : : "memory");
	return 1;
}
#endif
