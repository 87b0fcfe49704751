# Odd forms of unwinding tables, by hand.  Each function's bytes are nops: only the tables count.
	.text
first:	.fill	16, 1, 0x90			# shares its LSDA with second
second:	.fill	16, 1, 0x90
null_lsda: .fill 16, 1, 0x90			# its CIE promises an LSDA, the pointer is null
by_set_loc: .fill 16, 1, 0x90
foreign_pad: .fill 16, 1, 0x90			# a landing pad in the next function
pad_at_start: .fill 16, 1, 0x90			# LPStart is given, the pad is the function's first byte
by_stack_pointer: .fill 32, 1, 0x90		# expressions over rsp
by_pc:	.fill	16, 1, 0x90			# expression over rip
far:	.fill	70000, 1, 0x90
states:	.fill	64, 1, 0x90			# remembered and restored states
beyond:	.fill	16, 1, 0x90			# advances out of its range
overlap_a: .fill 8, 1, 0x90
overlap_b: .fill 8, 1, 0x90
looping: .fill	16, 1, 0x90			# an LSDA whose actions loop
text_end:

	.section .gcc_except_table, "a"
	.balign	4
lsda:	.byte	0xff, 0x9b
	.uleb128 types_end - 1f
1:	.byte	1
	.uleb128 3f - 2f
2:	.uleb128 0, 4, 8, 1			# first two bytes caught by type 2, then type 1
	.uleb128 4, 4, 0, 0			# no landing pad
	.uleb128 9, 0, 0, 0			# empty
	.uleb128 9, 7, 12, 5			# to the function's end; an exception specification
3:	.sleb128 2, 1, 1, 0			# actions 1 and 3
	.sleb128 -1, 0				# action 5: the first list
	.balign	4
	.long	slot - .
	.long	0				# type 1: catches all
types_end:
	.uleb128 2, 1, 0
lsda_foreign:
	.byte	0xff, 0xff, 1
	.uleb128 2f - 1f
1:	.uleb128 0, 4, 18, 0
2:
lsda_start:
	.byte	0x1b				# LPStart: 8 bytes before the function
	.long	pad_at_start - 8 - .
	.byte	0xff, 1
	.uleb128 2f - 1f
1:	.uleb128 4, 4, 8, 0
2:
lsda_loop:
	.byte	0xff, 0xff, 1
	.uleb128 2f - 1f
1:	.uleb128 0, 4, 8, 1
2:	.sleb128 0, -1				# the next action is this one

	.section .data.rel.ro, "aw"
	.balign	8
slot:	.quad	lsda
personality:
	.quad	first

	.macro	fde	cie, start, size
	.balign	8
	.long	9f - 8f
8:	.long	8b - \cie
	.long	\start - .
	.long	\size
	.endm
	.macro	fde_end
	.balign	8
9:
	.endm

	.section .eh_frame, "a"
	.balign	8
plain:	.long	2f - 1f
1:	.long	0
	.byte	1
	.asciz	"zR"
	.uleb128 1
	.sleb128 -8
	.byte	16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	.balign	8
2:
throws:	.long	2f - 1f
1:	.long	0
	.byte	1
	.asciz	"zPLR"
	.uleb128 1
	.sleb128 -8
	.byte	16, 7, 0x9b
	.long	personality - .
	.byte	0x1b, 0x1b, 0x0c, 7, 8, 0x90, 1
	.balign	8
2:
	.macro	with_lsda start, size, lsda
	fde	throws, \start, \size
	.byte	4
	.long	\lsda
	.endm

	with_lsda first, 16, "lsda - ."
	.byte	0x44, 0x0e, 16			# at 4: CFA = rsp + 16
	.byte	0x2e, 32			# args_size
	fde_end
	with_lsda second, 16, "lsda - ."
	fde_end
	with_lsda null_lsda, 16, 0
	fde_end
	fde	plain, by_set_loc, 16
	.byte	0, 0x01
	.long	by_set_loc + 8 - .
	.byte	0x0e, 24
	fde_end
	with_lsda foreign_pad, 16, "lsda_foreign - ."
	fde_end
	with_lsda pad_at_start, 16, "lsda_start - ."
	fde_end
	fde	plain, by_stack_pointer, 32
	.byte	0, 0x41
	.byte	0x0f, 5, 0x77, 8, 6, 0x23, 16	# CFA: *(rsp + 8) + 16
	.byte	0x43, 0x10, 3, 3, 0x77, 0xf8, 0	# rbx at rsp + 120
	.byte	0x43, 0x83, 2			# rbx at cfa - 16
	.byte	0x43, 0x0c, 7, 16		# CFA: rsp + 16
	.byte	0x43, 0x10, 3, 2, 0x76, 8	# rbx at rbp + 8
	fde_end
	fde	plain, by_pc, 16
	.byte	0, 0x0f, 4, 0x77, 8, 0x80, 0
	fde_end
	fde	plain, far, 70000
	.byte	0, 0x41, 0x0e, 16, 0x02, 63, 0x0e, 24, 0x03
	.short	191
	.byte	0x0e, 32, 0x04
	.long	69000
	.byte	0x0e, 40
	fde_end
	fde	plain, states, 64
	.byte	0
	.byte	0x48, 0x0e, 16			# 8: rsp + 16
	.byte	0x48, 0x0a, 0x0d, 6		# 16: remembered, rbp + 16
	.byte	0x41, 0x0e, 32			# 17: rbp + 32
	.byte	0x4f, 0x0b			# 32: rsp + 16
	.byte	0x41, 0x0a, 0x0e, 24		# 33: remembered, rsp + 24
	.byte	0x4e, 0x0b			# 47: rsp + 16
	fde_end
	fde	plain, beyond, 16
	.byte	0, 0x51, 0x0e, 16
	fde_end
	fde	plain, overlap_a, 12
	.byte	0
	fde_end
	fde	plain, overlap_b, 8
	.byte	0
	fde_end
	fde	plain, slot, 8			# not code
	.byte	0
	fde_end
	fde	plain, first, 0			# empty
	.byte	0
	fde_end
	with_lsda looping, 16, "lsda_loop - ."
	fde_end
	.long	0
	.section .note.GNU-stack, "", @progbits
