# mips-compared.s - an index is compared on two ways that meet before the branch; each way has it from elsewhere, in one register.
# Behind the table of five entries lies one of three; its address waits on the stack, and the second entry is in a loop that reads it there:
# taken for an entry of the first table, it would be a way to that loop without the address.
# In outdated() the register has another value by then.
	.set noreorder
	.text
	.globl compared
	.type compared, @function
compared:				# (bytes, take the first one the other way)
	lui	$28, %hi(_gp_disp)
	addiu	$28, $28, %lo(_gp_disp)
	addu	$28, $28, $25
	addiu	$sp, $sp, -16
	lw	$9, %got(first)($28)
	move	$3, $0
	addiu	$9, $9, %lo(first)
	move	$14, $0
next:	lbu	$8, 0($4)
	addiu	$4, $4, 1
	bnez	$5, meet
	sltiu	$2, $8, 5
	beqz	$2, out
	nop
read:	sll	$2, $8, 2
	addu	$2, $9, $2
	lw	$2, 0($2)
	addu	$2, $2, $28
	jr	$2
	move	$5, $0
other:	lbu	$8, 1($4)		# skips one
	addiu	$4, $4, 2
	sltiu	$2, $8, 5
meet:	bnez	$2, read
	nop
out:	move	$2, $3
	jr	$31
	addiu	$sp, $sp, 16

one:	b	next
	addiu	$3, $3, 1
again:	b	next
	move	$14, $0
inner:	lbu	$8, 0($4)
	lw	$12, %got(second)($28)
	addiu	$4, $4, 1
	addiu	$12, $12, %lo(second)
	sll	$8, $8, 2
	addu	$12, $12, $8
	sw	$12, 8($sp)
loop:	lw	$12, 8($sp)
	addiu	$3, $3, 2
	lw	$12, 0($12)
	addu	$12, $12, $28
	jr	$12
	nop
add:	b	next
	addiu	$3, $3, 16
twice:	bnez	$14, next
	nop
	li	$14, 1
	b	loop
	addiu	$3, $3, 32
more:	b	next
	addiu	$3, $3, 64
	.size compared, . - compared

	.globl outdated
	.type outdated, @function
outdated:			# (bytes, take the second, take this in its place): a comparison of a value that the register no longer has
	lui	$28, %hi(_gp_disp)
	addiu	$28, $28, %lo(_gp_disp)
	addu	$28, $28, $25
	lw	$9, %got(third)($28)
	bnez	$5, 1f
	addiu	$9, $9, %lo(third)
	lbu	$8, 0($4)
	b	2f
	sltiu	$2, $8, 5
1:	lbu	$8, 1($4)
	nop
	sltiu	$2, $8, 5
2:	beqz	$6, 3f
	nop
	lbu	$8, 0($6)
	b	2b
	move	$6, $0
3:	beqz	$2, 4f
	sll	$2, $8, 2
	addu	$2, $9, $2
	lw	$2, 0($2)
	nop
	addu	$2, $2, $28
	jr	$2
	li	$2, 1
4:	jr	$31
	li	$2, 9
	.irp n, 0, 1, 2, 3, 4, 5
$L\n:	jr	$31
	li	$2, \n
	.endr
	.size outdated, . - outdated

	.section .rodata
	.p2align 2
first:	.gpword one
	.gpword other
	.gpword inner
	.gpword again
	.gpword out
second:	.gpword add
	.gpword twice
	.gpword more
	.word	0
third:	.irp n, 0, 1, 2, 3, 4, 5
	.gpword $L\n
	.endr
	.word	0
