# mips-links.s - loops around ll and sc as compilers do not write them all.  Each function adds 1 to the word at a0.
	.text
	.set	noreorder
	.set	noat

# as gcc compares and exchanges: a block begins between the two and holds the sc
	.globl	links_one
	.type	links_one, @function
	.ent	links_one
links_one:
	lw	$5, 0($4)
1:	ll	$2, 0($4)
	bne	$2, $5, 2f
	li	$6, 0
	addiu	$1, $2, 1		# one_begins
	sc	$1, 0($4)
	beqz	$1, 1b
	li	$6, 1
	sync
2:	jr	$31
	move	$2, $6
	.end	links_one
	.size	links_one, .-links_one

# two blocks begin: the first cannot be counted anywhere
	.globl	links_two
	.type	links_two, @function
	.ent	links_two
links_two:
	lw	$5, 0($4)
1:	ll	$2, 0($4)
	bne	$2, $5, 2f
	li	$6, 0
	bltz	$2, 2f			# two_begins
	addiu	$3, $2, 1
	move	$1, $3			# two_goes_on
	sc	$1, 0($4)
	beqz	$1, 1b
	li	$6, 1
2:	jr	$31
	move	$2, $6
	.end	links_two
	.size	links_two, .-links_two

# the sc in a delay slot; the block that begins before it is counted nowhere
	.globl	links_slot
	.type	links_slot, @function
	.ent	links_slot
links_slot:
1:	ll	$2, 0($4)
	bltz	$2, 3f
	nop
	addiu	$2, $2, 1
	beqz	$2, 2f
	sc	$2, 0($4)
	beqz	$2, 1b
	nop
2:	jr	$31
	li	$2, 1
3:	jr	$31
	move	$2, $0
	.end	links_slot
	.size	links_slot, .-links_slot

# something else leads to the sc
	.globl	links_entered
	.type	links_entered, @function
	.ent	links_entered
links_entered:
1:	ll	$2, 0($4)
	bgez	$2, 2f
	addiu	$3, $2, 1
	addiu	$3, $2, 1		# never
2:	sc	$3, 0($4)
	beqz	$3, 1b
	nop
	jr	$31
	li	$2, 1
	.end	links_entered
	.size	links_entered, .-links_entered

# no sc at all: what follows is counted as anywhere
	.globl	links_none
	.type	links_none, @function
	.ent	links_none
links_none:
	ll	$2, 0($4)
	bltz	$2, 1f
	addiu	$2, $2, 1
	sw	$2, 0($4)
1:	jr	$31
	li	$2, 1
	.end	links_none
	.size	links_none, .-links_none
	.align	8
