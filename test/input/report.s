# Functions with known blocks, instructions and lines for count-extract.bats and prof-report.bats.
# Local labels without a type are block starts: nm shows them, a report must not take them for functions.
	.file	1 "/src/report.c"
	.file	2 "/src/scale.cc"
	.text
	.globl	sum, __sum
	.type	sum, @function
	.type	__sum, @function
sum:
__sum:
	.cfi_startproc
	.loc 1 3
	endbr64
	.loc 1 4
	xorl	%eax, %eax
	.loc 1 5
	testl	%edi, %edi
	je	sum_out
sum_loop:
	.loc 1 6
	addl	%edi, %eax
	decl	%edi
	.loc 1 5
	jne	sum_loop
sum_out:
	.loc 1 7
	ret
	.cfi_endproc
sum_end:
	.size	sum, .-sum
	.size	__sum, .-__sum

	.globl	never
	.type	never, @function
never:
	.cfi_startproc
	.loc 1 11
	nop
	.loc 1 12
	leal	1(%rdi), %eax
	ret
	.cfi_endproc
never_end:
	.size	never, .-never

	.globl	guarded
	.type	guarded, @function
guarded:
	.cfi_startproc
	.loc 1 17
	testl	%edi, %edi
	js	guarded.cold
guarded_double:
	.loc 1 19
	leal	(%rdi,%rdi), %eax
	ret
	.cfi_endproc
guarded_end:
	.size	guarded, .-guarded

	.globl	_ZN4unit5scaleEi
	.type	_ZN4unit5scaleEi, @function
_ZN4unit5scaleEi:
	.cfi_startproc
	.loc 2 7
	imull	$3, %edi, %eax
	ret
	.cfi_endproc
scale_end:
	.size	_ZN4unit5scaleEi, .-_ZN4unit5scaleEi

# Only an FDE tells of this one, and only its section of the next.
nameless:
	.cfi_startproc
	.loc 2 9
	nop
	ret
	.cfi_endproc
nameless_end:
bare:
	ret
bare_end:

	.globl	stays
	.type	stays, @function
stays:
	.cfi_startproc
	jmp	*%rdi
	.cfi_endproc
stays_end:
	.size	stays, .-stays

	.section .text.unlikely, "ax", @progbits
	.type	guarded.cold, @function
guarded.cold:
	.cfi_startproc
	.loc 1 18
	movl	$-1, %eax
	ret
	.cfi_endproc
cold_end:
	.size	guarded.cold, .-guarded.cold

	.section .note.GNU-stack, "", @progbits
