/* mips-step.c - a library whose blocks are counted by each of the forms that MIPS has, and with -DHOST a program that calls it in
   rounds until a debugger sets `done`, and once more from a signal handler each time that SIGUSR1 arrives.  Prints both numbers, a sum
   of what the library returned, and the places that the handler interrupted. */
#ifdef HOST
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
unsigned step_work(unsigned x);
volatile int done;
static unsigned long long sum;
static unsigned long at[1 << 16];
static volatile unsigned handled, rounds;

static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	sum += step_work(5);
	if (handled < sizeof at / sizeof *at)
		at[handled] = (unsigned long)((ucontext_t *)context)->uc_mcontext.pc;
	handled++;
}

__attribute__((noinline)) void marker(void) { __asm__ volatile("" ::: "memory"); }

int main(void)
{
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	sigaction(SIGUSR1, &a, NULL);
	for (;; rounds++) {
		marker();
		if (done)
			break;
		unsigned long long now = step_work(5);
		sum += now;
	}
	printf("rounds %u handled %u sum %llu\n", rounds, handled, sum);
	for (unsigned i = 0; i < handled; i++)
		printf("0x%lx\n", at[i]);
	return 0;
}
#else
unsigned step_stack(unsigned x), step_links(unsigned x);
static __attribute__((noinline)) unsigned leaf(unsigned x)	/* no gp, several blocks: one is made for it */
{
	unsigned s = 0;
	for (unsigned i = 0; i < x; i++) {
		if (i & 1)
			s += i * 3;
		else if (i & 2)
			s ^= 0x55;
		else
			s += 7;
	}
	return s;
}

__attribute__((noinline)) unsigned step_callee(unsigned x) { return x * 2 + 1; }

unsigned step_work(unsigned x)
{
	unsigned s = leaf(x);
	s += step_stack(x);
	s += step_callee(s & 7);
	if (s & 1)
		s += step_links(x);
	else
		s += step_links(x + 1);
	return s + leaf(x + 1);
}

#if __mips >= 2
#define LINKS \
	"1:	ll $2, 0($29)\n" \
	"	bne $2, $0, 2f\n"		/* and a block that begins between the two */ \
	"	li $3, 0\n" \
	"	move $1, $4\n" \
	"	sc $1, 0($29)\n" \
	"	beq $1, $0, 1b\n" \
	"	li $3, 1\n"
#else
#define LINKS "1:	sw $4, 0($29)\n	li $3, 1\n	bne $0, $0, 1b\n	nop\n"
#endif
__asm__(
"	.text\n	.set push\n	.set noreorder\n	.set noat\n"
"	.globl step_stack, step_links\n"
"	.type step_stack, @function\n	.type step_links, @function\n	.ent step_stack\n"
"step_stack:\n"				/* the assembler's register has a value between blocks: only the stack is free */
"	move $1, $4\n"
"	move $2, $0\n"
"1:	addu $2, $2, $1\n"
"	addiu $1, $1, -1\n"
"	bne $1, $0, 1b\n"
"	nop\n"
"	beq $2, $0, 3f\n"
"	addiu $2, $2, 1\n"
"	addu $2, $2, $1\n"
"3:	jr $31\n"
"	nop\n"
"	.end step_stack\n	.size step_stack, .-step_stack\n	.ent step_links\n"
"step_links:\n"
"	addiu $29, $29, -8\n"
"	sw $0, 0($29)\n"
LINKS
"2:	lw $2, 0($29)\n"
"	addiu $29, $29, 8\n"
"	addu $2, $2, $3\n"
"	jr $31\n"
"	nop\n"
"	.end step_links\n	.size step_links, .-step_links\n	.set pop\n");
#endif
