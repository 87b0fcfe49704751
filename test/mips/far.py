#!/usr/bin/python3
"""far.py > far.s - prints a library with functions of more than 128 KiB, whose branches go so far that they reach in the original and
not in code that has grown: on a condition forwards and back, likely ones, on a floating-point condition, always, calls; with what
stands in delay slots used on both sides, and with ra free or not.  far_tight has no register left for a longer branch."""

UNITS = 4400


def units(n, tag, bit="$4", extra=()):
    """Blocks of two instructions that a block of one follows or not."""
    for k in range(n):
        yield f"	andi	$5, {bit}, {1 << k % 11}"
        yield f"	beqz	$5, {tag}{k}f"
        yield "	addiu	$2, $2, 1"
        yield f"	addiu	$2, $2, {k % 7 + 2}"
        yield from extra
        yield f"{tag}{k}f:"


def function(name, body):
    print(f"	.globl	{name}\n	.type	{name}, @function\n	.ent	{name}\n{name}:")
    for line in body:
        print(line)
    print(f"	.end	{name}\n	.size	{name}, .-{name}")


def leaf():
    """ra is live throughout.  a0: which blocks, a1 is lost, a2: which way."""
    yield "	move	$2, $0"
    yield "	li	$3, 3"
    yield "	mtc1	$6, $f2"
    yield "	mtc1	$0, $f4"
    yield "	c.eq.s	$f2, $f4"
    yield "top:"
    yield "	beqz	$6, mid"            # taken when a2 is 0
    yield "	addiu	$2, $2, 3"
    yield from units(UNITS, "fa")
    yield "mid:"
    yield "	bc1t	last"               # far forward, taken when a2 is 0
    yield "	addiu	$2, $2, 5"
    yield "	addiu	$3, $3, -1"
    yield "	bgtz	$3, top"            # far back
    yield "	addiu	$2, $2, 7"
    yield "	beql	$4, $6, last"       # far forward, likely: the slot runs only when it is taken
    yield "	addiu	$2, $2, 11"
    yield from units(UNITS, "fb")
    yield "last:"
    yield "	addiu	$3, $3, -1"
    yield "	bgtzl	$3, mid"            # far back, likely
    yield "	addiu	$2, $2, 13"
    yield "	bltz	$6, near"
    yield "	nop"
    yield "	addiu	$2, $2, 17"
    yield "near:"
    yield "	jr	$31"
    yield "	addu	$2, $2, $3"


def calls():
    """ra is saved, and calls and jumps go far both ways; a slot moves the stack pointer."""
    yield "	addiu	$29, $29, -32"
    yield "	sw	$31, 28($29)"
    yield "	move	$2, $0"
    yield "	bal	sub"                # far forward
    yield "	addiu	$2, $2, 1"
    yield "	b	over"               # far forward
    yield "	addiu	$29, $29, -16"
    yield "back:"
    yield "	lw	$31, 28($29)"
    yield "	bnez	$4, out"            # far forward
    yield "	addiu	$2, $2, 19"
    yield "	addiu	$2, $2, 23"
    yield "out2:"
    yield "	jr	$31"
    yield "	addiu	$29, $29, 32"
    yield "before:"
    yield "	jr	$31"
    yield "	addiu	$2, $2, 41"
    yield from units(7900, "ca")
    yield "over:"
    yield "	addiu	$29, $29, 16"
    yield "	bal	before"             # far back
    yield "	addiu	$2, $2, 29"
    yield "	b	back"               # far back
    yield "	addiu	$2, $2, 31"
    yield "out:"
    yield "	b	out2"
    yield "	addiu	$2, $2, 37"
    yield "sub:"
    yield "	jr	$31"
    yield "	addiu	$2, $2, 43"


def tight():
    """All that it uses is in use, the assembler's register too."""
    yield "	move	$2, $0"
    yield "	andi	$1, $4, 1"
    yield "	beqz	$1, tight_end"
    yield "	addiu	$2, $2, 3"
    for k in range(UNITS):
        yield f"	beqz	$1, ta{k}"
        yield "	addiu	$2, $2, 1"
        yield f"ta{k}:	addu	$2, $2, $1"
    yield "tight_end:"
    yield "	jr	$31"
    yield "	addu	$2, $2, $1"


print("	.text\n	.set	noreorder\n	.set	noat\n	.set	nomacro")
function("far_leaf", leaf())
function("far_calls", calls())
function("far_tight", tight())
print("	.align	8")
