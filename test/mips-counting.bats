#!/usr/bin/env bats
# MIPS counting code under qemu, both byte orders: a signal at each of its instructions, 64 bits, the program's own ll and sc, functions
# that grow beyond the reach of branches.
load common
bats_require_minimum_version 1.5.0

setup() {
	local tool
	for tool in {mips,mipsel}-linux-gnu-gcc qemu-{mips,mipsel}; do
		command -v $tool > /dev/null || skip "$tool is not installed (test/install-packages test/packages-mips)"
	done
	cd "$BATS_TEST_TMPDIR" || return 1
	export WORK=$BATS_FILE_TMPDIR
	unset SOPROF_MAX
}

# both FUNCTION [ARG...]: runs it for each byte order in a folder of its own.
both() {
	for endian in mips mipsel; do
		mkdir "$endian"
		cd "$endian"
		mkdir d
		export SOPROF_DIR=$PWD/d
		"$@"
		cd ..
	done
}

cc() { "$endian-linux-gnu-gcc" -O1 "$@"; }
profile() {	# LIBRARY OUT [OPTION...]
	so-input "$PWD/$1" > list
	reloc-extract -o table list
	so-gen -v "${@:3}" -o "$2" table 2> "$2.log"
}
emulated() { "qemu-$endian" -L "/usr/$endian-linux-gnu" -E LD_LIBRARY_PATH="$@"; }	# OBJECTS PROGRAM

# A step library, in out; which forms its blocks are counted by, as so-gen says.
step_library() {	# OPTION...
	cc ${ARCH:--march=mips32r2} -fPIC -shared -Wl,-soname,libstep.so -o libstep.so "$REPO/test/input/mips-step.c"
	cc -DHOST -no-pie -o host "$REPO/test/input/mips-step.c" libstep.so
	profile libstep.so out "$@"
	sed -n 's/.*: \([0-9]*\) blocks counted by .*/\1/p' out.log > forms
	[ "$(wc -l < forms)" = 6 ]
	! grep -qx 0 forms
}

step() {	# OPTION...
	"$PYTHON" "$REPO/test/mips/step.py" "$@" d out/libstep.so host "$endian" -L "/usr/$endian-linux-gnu" -E LD_LIBRARY_PATH=out
}

# The counts that count-extract has for libstep.so are those in the file.
extracted() {
	count-extract -O d out > p
	map-dump p | awk '$1 == "block" { print $4 }' | sort -n > counts
	"$PYTHON" - d/libstep.so.*.0 <<-'P' > from-file
	import os, sys
	sys.path.insert(0, os.environ["REPO"] + "/test")
	sys.path.insert(0, os.environ["REPO"] + "/test/oracle")
	sys.dont_write_bytecode = True
	import counter_file, qemu
	obj, (head, counters) = qemu.Object("out/libstep.so"), counter_file.decode(open(sys.argv[1], "rb").read())
	for n in sorted(counters[i] for i in range(obj.blocks) if not obj.size_flags[i] >> 22 & 1):
	    print(n)
	P
	diff counts from-file
	[ "$(tail -n 1 counts)" -gt 4294967296 ]
}

@test "--atomic: a signal at each instruction loses nothing, at the carry into the high word neither" { both atomic_signals; }
atomic_signals() {
	step_library --atomic
	run -0 step --signal --start 0x100000000
	echo "$output"
	[[ ${lines[1]} =~ ^blocks\ ([0-9]+)\ places\ ([0-9]+)\ rounds\ ([0-9]+)\ interrupted\ ([0-9]+)\ at\ ([0-9]+)\ carries\ ([0-9]+)\ missed\ 0\ tolerated\ 0\ wrong\ 0$ ]]
	# every executed block of the six forms, 17 instructions of counting code and more in each
	[ "${BASH_REMATCH[1]}" -ge 25 ]
	[ "${BASH_REMATCH[5]}" -ge $((17 * BASH_REMATCH[1])) ]
	# once without a start, three times with one: each place is reached at least once, and each counter overflows in two of them
	[ "${BASH_REMATCH[3]}" = $((4 * BASH_REMATCH[2] + 4)) ]
	[ "${BASH_REMATCH[6]}" -gt $((2 * BASH_REMATCH[1] * BASH_REMATCH[2])) ]
	# what the program itself counted
	[[ ${lines[0]} =~ ^rounds\ ([0-9]+)\ handled\ ([0-9]+)\ sum ]]
	[ "${BASH_REMATCH[1]}" = $((4 * $(sed -n 's/.*places \([0-9]*\) .*/\1/p' <<< "${lines[1]}") + 7)) ]
	extracted
}

@test "plain counting: 64 bits in each form; a signal loses what its handler counted between load and store, nothing else" { both plain_signals; }
plain_signals() {
	step_library
	run -0 step --start 0x100000000,0x500000000,0xffffffff00000000
	[[ ${lines[1]} == *" interrupted 0 at 0 carries "*" wrong 0" ]]
	[[ ${lines[1]} != *" carries 0 "* ]]
	rm d/*
	run -0 step --signal --plain --start 0x100000000
	echo "$output"
	[[ ${lines[1]} == *" missed 0 tolerated "*" wrong 0" ]]
	[[ ${lines[1]} != *" tolerated 0 "* ]]
	extracted
	# without leave it is noticed
	rm d/*
	run -1 step --signal
	[[ $output == *"WRONG: counter "* ]]
}

@test "plain counting with load delays (MIPS I): the same" { both delays; }
delays() {
	ARCH="-mips1 -mfp32 -nostartfiles" step_library
	run -0 step --signal --plain --start 0x100000000
	echo "$output"
	[[ ${lines[1]} == *" missed 0 tolerated "*" wrong 0" ]]
	extracted
}

# What count-extract says of liblinks.so, as "function+offset size count", or "... not counted".
linked_counts() {
	count-extract -O d "$1" > p
	map-dump p > dump
	"$PYTHON" - "$endian" <<-'P'
	import subprocess, sys
	symbols = sorted((int(f[0], 16), f[2]) for f in (l.split() for l in subprocess.check_output([sys.argv[1] + "-linux-gnu-nm", "liblinks.so"], text=True).splitlines())
	                 if len(f) == 3 and f[2].startswith("links_"))
	for f in map(str.split, open("dump")):
	    if f[:1] == ["block"] or f[:1] == ["not-counted"]:
	        a = int(f[1], 16)
	        base, name = max(s for s in symbols if s[0] <= a)
	        print(f"{name}+{a - base} {f[2]} {f[3] if f[0] == 'block' else 'not counted'}")
	P
}

# Reads nothing that the tools say but the map table: between ll and sc stands in new text what stands there in old text.
nothing_between() {
	"$PYTHON" - "$1" <<-'P'
	import os, sys
	sys.path.insert(0, os.environ["REPO"] + "/test/oracle")
	sys.dont_write_bytecode = True
	import qemu
	with open("liblinks.so", "rb") as f:
	    old = f.read()
	obj = qemu.Object(sys.argv[1] + "/liblinks.so")
	order = "big" if obj.order == ">" else "little"
	word = lambda a: int.from_bytes(old[a:a + 4], order)     # the first segment begins the file
	def place(a):
	    i = max(k for k in range(obj.blocks) if obj.old[k] <= a)
	    inserted = obj.size_flags[i] >> 24
	    return obj.new[i] + a - obj.old[i] + (0 if obj.size_flags[i] & qemu.oracle.MAP_MARK and a == obj.old[i] else inserted)
	text, loops = range(obj.old[0], obj.old[-1] + 64, 4), 0
	for ll in (a for a in text if word(a) >> 26 == 48):
	    sc = next((a for a in range(ll, ll + 32, 4) if word(a) >> 26 == 56), None)
	    for a in range(ll, sc + 4 if sc else ll, 4):
	        new = obj.words[place(a) - obj.text >> 2]
	        assert place(a) == place(ll) + a - ll, hex(a)
	        assert new == word(a) or new >> 16 == word(a) >> 16 and word(a) >> 26 in (1, 4, 5), hex(a)     # branches are aimed anew
	        loops += a == sc
	print(loops)
	P
}

@test "the program's own ll and sc: nothing stands between, and blocks that begin there are counted behind" { both links; }
links() {
	cat > expected <<-'END'
		links_one+0 4 12
		links_one+4 12 12
		links_one+16 16 12
		links_one+32 4 12
		links_one+36 8 12
		links_two+0 4 12
		links_two+4 12 12
		links_two+16 8 not counted
		links_two+24 16 7
		links_two+40 8 12
		links_slot+0 12 12
		links_slot+12 12 not counted
		links_slot+24 8 7
		links_slot+32 8 7
		links_slot+40 8 5
		links_entered+0 12 12
		links_entered+12 4 not counted
		links_entered+16 12 12
		links_entered+28 8 12
		links_none+0 12 12
		links_none+12 4 7
		links_none+16 8 12
	END
	"$endian-linux-gnu-as" -march=mips32r2 -mno-fix-loongson3-llsc -KPIC -o l.o "$REPO/test/input/mips-links.s"
	"$endian-linux-gnu-ld" -shared --build-id -soname liblinks.so -o liblinks.so l.o
	cc -o host "$REPO/test/input/mips-links-host.c" liblinks.so
	emulated . ./host > plain
	[ "$(cat plain)" = $'7 -995 12\n7 -1000 7\n7 -1000 7\n7 -995 12\n7 -1000 12' ]
	for option in -v --atomic; do
		rm -rf d/* out
		profile liblinks.so out $option
		[ "$(nothing_between out)" = 4 ]
		emulated out ./host > counted
		diff plain counted
		linked_counts out > counts
		diff <(sort expected) <(sort counts)
	done
}

@test "functions of more than 128 KiB: branches and calls that no longer reach; one without a free register stays alone" { both far; }
far() {
	"$PYTHON" "$REPO/test/mips/far.py" > far.s
	"$endian-linux-gnu-as" -march=mips32r2 -KPIC -o far.o far.s
	"$endian-linux-gnu-ld" -shared --build-id -soname libfar.so -o libfar.so far.o
	[ $((0x$("$endian-linux-gnu-nm" -S libfar.so | awk '$4 == "far_leaf" { print $2 }'))) -gt 131072 ]
	cc -o host "$REPO/test/input/mips-far-host.c" libfar.so
	emulated . ./host > plain
	[ "$(wc -l < plain)" = 19 ]
	for option in -v --atomic; do
		rm -rf d/* out runs
		mkdir runs
		profile libfar.so out $option
		"$REPO/test/oracle/qemu-trace" "$endian" runs -L "/usr/$endian-linux-gnu" -E LD_LIBRARY_PATH=out ./host > counted
		diff plain counted
		run -0 "$REPO/test/oracle/qemu-compare" d out runs/trace.*
		echo "$output"
		[[ $output == *" 0 differ;"*" 0 uncounted"* ]]
		[[ $output == *"no register is free for a longer one: "* ]]
		tight=$("$endian-linux-gnu-nm" libfar.so | awk '$3 == "far_tight" { print $1 }')
		[ "$(grep -c "not moved: the branch at 0x[0-9a-f]* is out of reach" out.log)" = 1 ]
		grep "not moved: " out.log | grep -q "0x$(printf %x $((0x$tight))), "
		# each way round, at least 131072 bytes from the branch in new text to where it leads
		"$PYTHON" - "$endian" <<-'P' > reaches
		import os, subprocess, sys
		sys.path.insert(0, os.environ["REPO"] + "/test/oracle")
		sys.dont_write_bytecode = True
		import qemu
		obj = qemu.Object("out/libfar.so")
		symbols = {f[2]: int(f[0], 16) for f in (l.split() for l in subprocess.check_output([sys.argv[1] + "-linux-gnu-nm", "libfar.so"], text=True).splitlines()) if len(f) == 3}
		new = {obj.old[i]: obj.new[i] for i in range(obj.blocks)}
		for a, b in ("top", "mid"), ("mid", "last"), ("far_calls", "sub"), ("back", "over"):
		    print(new[symbols[b]] - new[symbols[a]] > 131072)
		P
		[ "$(sort -u reaches)" = True ]
	done
}
