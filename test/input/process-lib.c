/* process-lib.c - counted calls, and a head with live flags. */
long called(long x);
long called(long x) { return x + 1; }

/* Each round starts the block at flag_head once, with the zero flag of the subtraction live; returns how often it was not set. */
long flagged(long n);
__asm__ (
	".text\n.globl flagged\n.type flagged, @function\n"
	"flagged:\n.cfi_startproc\n"
	"	xor %eax, %eax\n"
	"1:	sub $1, %rdi\n"
	"	js 2f\n"
	"flag_head:\n"
	"	jz 2f\n"
	"	add $1, %rax\n"
	"	jmp 1b\n"
	"2:	ret\n"
	".cfi_endproc\n.size flagged, .-flagged\n"
);
