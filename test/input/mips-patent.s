# mips-patent.s - a MIPS I object in the very forms that JP2795309B2 describes: the prologue of three instructions, a text address
# from the GOT as lw, nop, addiu, and one in a data word.
	.set noreorder
	.text
	.align 4
	.globl start
	.type start, @function
	.ent start
start:
	.cpload $25
	lw $2, %got(inner)($28)
	nop
	addiu $2, $2, %lo(inner)
	bne $4, $0, 1f
	nop
	addiu $2, $2, 0
1:	jr $31
	nop
	.end start
	.size start, . - start
	.align 4
	.type inner, @function
	.ent inner
inner:
	.cpload $25
	addiu $2, $4, 1
	jr $31
	nop
	.end inner
	.size inner, . - inner
	.data
	.align 4
	.globl word
word:	.word inner
	.word 12345
