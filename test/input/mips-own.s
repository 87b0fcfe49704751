# mips-own.s - functions in whose first instructions t9 is read: gp made in the slot of a branch, as clang does it, and t9 loaded as any
# other register, in two halves; a function that makes gp of t9 entered by branches on a condition.
	.set noreorder
	.text
	.globl early
	.type early, @function
early:	lui	$2, %hi(_gp_disp)
	addiu	$2, $2, %lo(_gp_disp)
	bltz	$4, 1f
	addu	$28, $2, $25
	lw	$2, %got(words)($28)
	nop
	lw	$2, 0($2)
	jr	$31
	nop
1:	lw	$2, %got(words)($28)
	nop
	lw	$2, 4($2)
	jr	$31
	nop
	.size early, . - early

	.globl either
	.type either, @function
either:	lui	$28, %hi(_gp_disp)
	addiu	$28, $28, %lo(_gp_disp)
	addu	$28, $28, $25
	lw	$25, %got(local)($28)
	nop
	addiu	$25, $25, %lo(local)
	bltz	$4, local
	li	$5, 1
	bnel	$4, $0, local
	li	$5, 16
	jr	$31
	move	$2, $5
	.size either, . - either

	.type local, @function
local:	lui	$28, %hi(_gp_disp)
	addiu	$28, $28, %lo(_gp_disp)
	addu	$28, $28, $25
	lw	$2, %got(words)($28)
	nop
	lw	$2, 0($2)
	jr	$31
	addu	$2, $2, $5
	.size local, . - local

	.globl halves
	.type halves, @function
halves:	lui	$8, 0x1000
	ulw	$25, 1($4)
	nop
	jr	$31
	addu	$2, $25, $8
	.size halves, . - halves

	.data
	.globl words
words:	.word	0x1234, 0x5678
