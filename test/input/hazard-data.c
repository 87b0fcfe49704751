/* hazard-data.c - data in text that looks like code for a while: a "jump" into the middle of an instruction of another function,
   then bytes that are no instruction; tables before, behind and within functions; an object symbol in text. */
#include "hazard.h"
int data_good(void), data_before(int n), data_object(int n);
void data_bad(void);
#ifdef HOST
int main(void)
{
	data_bad();
	printf("%d", data_good());
	for (int i = 0; i < 4; i++)
		printf(" %d %d", data_before(i), data_object(i));
	printf("\n");
	return 0;
}
#else
__asm__(".text\n"
        ".globl data_bad\n.type data_bad, @function\ndata_bad: .cfi_startproc\n ret\n .byte 0xe9\n .long data_in_good - . - 4\n .byte 6, 6, 6\n"
        ".cfi_endproc\n.size data_bad, . - data_bad\n"
        ".globl data_good\n.type data_good, @function\ndata_good: .cfi_startproc\n .byte 0xb8, 77\ndata_in_good: .byte 0, 0, 0\n addl $1, %eax\n ret\n"
        ".cfi_endproc\n.size data_good, . - data_good\n"
        "1: .byte 0xe8, 1, 0x0f, 0x05, 0xe9, 0xff\n"
        ".globl data_before\n.type data_before, @function\ndata_before: .cfi_startproc\n leaq 1b(%rip), %rdx\n movzbl (%rdx,%rdi), %eax\n ret\n.cfi_endproc\n"
        ".size data_before, . - data_before\n.globl data_words\n.type data_words, @object\n.p2align 3\ndata_words: .quad 0x1122334455e9e8eb, 5, 6, 0x0fe9\n"
        ".size data_words, . - data_words\n"
        ".globl data_object\n.type data_object, @function\ndata_object: .cfi_startproc\n leaq 2f(%rip), %rdx\n movl (%rdx,%rdi,8), %eax\n ret\n"
        " .p2align 3\n2: .quad 0x0123456789abcde8, 7, 8, 9\n.cfi_endproc\n.size data_object, . - data_object\n");
#endif
