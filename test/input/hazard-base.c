/* hazard-base.c - a function's address taken for a base from which data is reached, as nasm's position-independent code does
   ("$$"): without unwinding entries, the table at a fixed distance. */
#ifdef HOST
#include <stdio.h>

int entry(int i);

int main(void)
{
	int (*function)(int) = entry;

	for (int i = 0; i < 4; i++)
		printf("%d %d\n", entry(i), function(i));
	return 0;
}
#else
__asm__(
	".text\n"
	".globl entry\n"
	".type entry, @function\n"
	"entry:\n"
	"	mov	%edi, %eax\n"
	"	nopl	0(%rax)\n"
	"	call	helper\n"
	"	ret\n"
	".size entry, . - entry\n"
	".p2align 4\n"
	"helper:\n"
	"	lea	entry_local(%rip), %rcx\n"
	"	movzbl	table - entry_local(%rcx, %rax), %eax\n"
	"	ret\n"
	".set entry_local, entry\n"
	".section .rodata\n"
	"table: .byte 7, 11, 13, 17\n"
	".text\n");
#endif
