/* hazard-frames.c - a runtime that finds the frame of a call by where it returns to: OCaml, in a table of addresses; with -DGO as Go
   does, in one of distances from the beginning of its code, which no unwinding entry covers and which ends where C's begins; with -DV8
   too the same of code that takes a constant out of an instruction. */
#include <stdio.h>

#ifdef V8
#define GO
#define READ " movq 2f + 2(%rip), %rax\n2: movabsq $0x6000000000, %rcx\n"
#else
#define READ ""
#endif
#ifdef GO
#define BEGIN ""
#define END ""
#define WORD(n) ".long 1" #n "b - go_begin, " #n "\n"
#else
#define BEGIN ".cfi_startproc\n"
#define END ".cfi_endproc\n"
#define WORD(n) ".balign 8\n.quad 1" #n "b\n.short 16, " #n "\n"
#endif
#define FUNCTION(n) ".type f" #n ", @function\nf" #n ": " BEGIN READ " subq $8, %rsp\n call look\n1" #n ": addq $8, %rsp\n ret\n" END \
	".size f" #n ", . - f" #n "\n.pushsection .data.frames, \"aw\"\n" WORD(n) ".popsection\n"
__asm__(".text\n.type go_begin, @notype\ngo_begin:\n" FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5)
        "go_end:\nbehind: .cfi_startproc\n leal 1(%rdi), %eax\n ret\n.cfi_endproc\n"
        ".section .data.frames, \"aw\"\nframes_end: .quad 0\n.data\n.balign 8\ncode: .quad go_begin, go_end\n.text\n");
#if defined GO && !defined V8
__asm__(".section .go.buildinfo, \"aw\"\n.quad 0\n.text\n");
#endif
struct frame {
#ifdef GO
	int at, number;
#else
	const char *at;
	short size, number;
#endif
};
extern const struct frame frames[] __asm__(".data.frames"), frames_end[];
extern const char *const code[2];
void f1(void), f2(void), f3(void), f4(void), f5(void);
int behind(int x);

__attribute__((used)) void look(void)
{
	const char *at = __builtin_return_address(0);

	for (const struct frame *f = frames; f < frames_end; f++)
#ifdef GO
		if (code[0] + f->at == at && at < code[1] && code[1] - code[0] < 4096)
#else
		if (f->at == at)
#endif
			printf("%d", f->number);
}

int main(void)
{
	f1(), f2(), f3(), f4(), f5();
	printf(" %d\n", behind(6));
	return 0;
}
