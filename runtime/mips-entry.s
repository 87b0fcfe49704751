# mips-entry.s - where the run-time code of MIPS is entered: $gp, which is the caller's, points into the blob while it runs
	.set noreorder
	.text

	.macro entry name, body
	.globl \name
	.hidden \name
	.ent \name
\name:
	addiu $29, $29, -32
	sw $31, 28($29)
	sw $28, 24($29)
	bal 1f
	nop
1:	lui $28, %hi(_gp_disp)
	addiu $28, $28, %lo(_gp_disp)
	addu $28, $28, $31
	bal \body
	nop
	lw $31, 28($29)
	lw $28, 24($29)
	nop
	jr $31
	addiu $29, $29, 32
	.end \name
	.endm

	entry runtime_init, init_body
	entry runtime_child, child_body
