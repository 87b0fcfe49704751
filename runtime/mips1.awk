# mips1.awk - makes what the compiler wrote for MIPS II run on MIPS I, and at any address: absolute jumps and calls become relative
# ones; a register that was loaded is not used by the next instruction, nor HI and LO written behind a read of them.
# (LLVM has no code generator for MIPS I.)  The kernel emulates ll and sc where the processor has none.
# Needs code without filled delay slots, -mllvm -disable-mips-delay-filler.

function fault(what) {
	print FILENAME ":" FNR ": " what > "/dev/stderr"
	failed = 1
	exit 1
}

function uses(line, register,   parts, n, i) {
	sub(/#.*/, "", line)
	n = split(line, parts, /[\t ,()]+/)
	for (i = 1; i <= n; i++)
		if (parts[i] == register)
			return 1
	return 0
}

# Not an instruction.
!/^\t[a-z]/ { print; next }

loaded != "" && uses($0, loaded) { print "\tnop" }
{ loaded = "" }

/^\t(j|jal)\t[^,]*$/ {
	sub(/^\tjal\t/, "\tbal\t")
	sub(/^\tj\t/, "\tb\t")
	print
	next
}
/^\t(ll|sc|sync)(\t|$)/ {
	print "\t.set\tpush\n\t.set\tmips2\n" $0 "\n\t.set\tpop"
	if ($1 != "sync")
		print "\tnop"
	next
}
/^\t(lb|lbu|lh|lhu|lw|lwl|lwr)\t/ {
	loaded = $2
	sub(/,$/, "", loaded)
	print
	next
}
/^\t(mfhi|mflo)\t/ { print $0 "\n\tnop\n\tnop"; next }
/^\t(b[a-z]*l|t[a-z]+|ld|sd|ldc1|sdc1|[a-z0-9.]*\.[ds])\t/ { fault("not for MIPS I: " $0) }
{ print }
END { exit failed }
