# jump-odd.s - what compilers do not write.  Each function takes an index and gives a number.
	.text
	.macro function name
	.globl \name
	.hidden \name
	.type \name, @function
	.p2align 4
\name:	.cfi_startproc
	.endm
	.macro done name
	.cfi_endproc
	.size \name, . - \name
	.endm

	# a table of one entry and one of two, without any bound; right behind them a third one
	function one
	movzbl %dil, %edi
	lea one_table(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
.Lone_1:
	mov $11, %eax
	ret
	done one
	function two
	movzbl %dil, %edi
	lea two_table(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
.Ltwo_1:
	mov $21, %eax
	ret
.Ltwo_2:
	mov $22, %eax
	ret
	done two
	# bytes are compared in memory, above 127; the table lies at the end of its section, plausible words follow
	function bytes
	mov %dil, -1(%rsp)
	sub $0x80, %dil
	cmp $0x82, %dil
	ja .Lbytes_3
	movzbl %dil, %eax
	lea bytes_table(%rip), %rdx
	movslq (%rdx,%rax,4), %rax
	add %rdx, %rax
	jmp *%rax
.Lbytes_1:
	mov $31, %eax
	ret
.Lbytes_2:
	mov $32, %eax
	ret
.Lbytes_3:
	mov $33, %eax
	ret
	done bytes
	function end
	movzbl %dil, %edi
	lea end_table(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
.Lend_1:
	mov $41, %eax
	ret
.Lend_2:
	mov $42, %eax
	ret
	done end
	# the second way to the jump, with an index of its own and the same bound, is found when the first was walked often; plausible
	# entries follow the table
	function late
	mov %edi, %eax
	lea late_table(%rip), %rdx
	.irp flag, %r8, %r9, %r10, %r11, %rsi, %rdi
	mov $0, \flag
	.endr
.Llate_1:
	cmp $6, %eax
	ja .Llate_3
.Llate_2:
	movslq (%rdx,%rax,4), %rcx
	add %rdx, %rcx
	jmp *%rcx
	.irp flag, r8, r9, r10, r11, rsi, rdi
.Llate_\flag:
	test %\flag, %\flag
	jne .Llate_3
	inc %\flag
	jmp .Llate_1
	.endr
.Llate_last:
	lea 1(%r8,%r9), %eax
	cmp $6, %eax
	jbe .Llate_2
.Llate_3:
	add $61, %eax
	ret
	done late
	# slots of eight bytes: an address is made of the index, old text keeps its place
	function slots
	lea .Lslots_1(%rip), %rdx
	lea (%rdx,%rdi,8), %rdx
	jmp *%rdx
	.p2align 3
.Lslots_1:
	mov $51, %eax
	ret
	.p2align 3
	mov $52, %eax
	ret
	.p2align 3
	mov $53, %eax
	ret
	done slots
	# a tail call through a register, with the frame gone, and one through a table of functions
	function tail
	push %rbp
	mov %rsp, %rbp
	and $-32, %rsp
	sub $64, %rsp
	lea one(%rip), %rax
	mov %rax, 8(%rsp)
	mov 8(%rsp), %rax
	leave
	jmp *%rax
	done tail
	function pick
	and $1, %edi
	lea functions(%rip), %rax
	mov (%rax,%rdi,8), %rax
	xor %edi, %edi
	jmp *%rax
	done pick

	.section .rodata
	.p2align 2
one_table:
	.long .Lone_1 - one_table
two_table:
	.long .Ltwo_1 - two_table
	.long .Ltwo_2 - two_table
bytes_table:
	.rept 0x82
	.long .Lbytes_1 - bytes_table
	.endr
	.long .Lbytes_2 - bytes_table
late_table:
	.irp label, r8, r9, r10, r11, rsi, rdi, last, r8, r9, 3
	.long .Llate_\label - late_table
	.endr
	.section .tables, "a"
	.p2align 2
end_table:
	.long .Lend_1 - end_table
	.long .Lend_2 - end_table
	.section .words, "a"	# linked right behind: a third entry and more, if the section did not end
	.p2align 2
words:	.rept 8
	.long .Lend_1 + (. - words) + 8 - .
	.endr
	.section .data.rel.ro, "aw"
	.p2align 3
functions:
	.quad one, two
	.section .note.GNU-stack, "", @progbits
