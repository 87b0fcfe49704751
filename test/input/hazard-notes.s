# Three notes of unequal alignment behind each other, and the function that the program calls.
	.section .note.a, "a", @note
	.p2align 2
	.long 2, 4, 1
	.asciz "A"
	.p2align 2
	.long 7
	.section .note.b, "a", @note
	.p2align 3
	.long 2, 8, 1
	.asciz "B"
	.p2align 3
	.quad 9
	.section .note.c, "a", @note
	.p2align 2
	.long 2, 0, 1
	.asciz "C"
	.p2align 2
	.section .note.GNU-stack, "", @progbits
