#!/usr/bin/env bats
# permissions.bats - rows deleted at random between reloc-extract and so-gen: the objects run as before, for x86-64 and MIPS
load common

# permitted TABLE COMMAND...: any subset of rows gives the same output and lower counts, and what is left is named
permitted() {
	"$PYTHON" -B "$REPO/test/permissions.py" "$@" >report || { cat report; false; }
	cat report
	grep -q '^range: 0 executions of blocks, [1-9]' report
	! grep -E '^(prologue|50 %|90 %).* 0 messages' report
}

# mips_root: ROOT for $endian; the program there is compiled, $1 and what follows are the compiler's arguments behind its name.
mips_root() {
	local said
	command -v "$endian-linux-gnu-gcc" >list || skip "$endian-linux-gnu-gcc is not installed (test/install-packages test/packages-mips)"
	command -v "qemu-$endian" >list || skip "qemu-$endian is not installed"
	root=$([ "$endian" = mips ] && echo mips-mips32r2 || echo mipsel)
	said=$("$REPO/test/mips/setup" "$root") || { echo "$said"; skip "$said"; }
	ROOT=${WORK:-$REPO/build/mips}/roots/$root
}
library() { find "$ROOT" -path "$ROOT/soprof" -prune -o -name "$1" -print | head -n 1; }

# mips LIBRARY COMPILER SOURCE RANDOM [ARG...]: rows of that library deleted, under a program of ours
mips() {
	mips_root
	mkdir "$endian"
	cd "$endian"
	seq 3000 >data
	"$endian-linux-gnu-$2" -O2 -march=mips32r2 -D_GNU_SOURCE -I"$ROOT/soprof/include" -o program "$REPO/test/$3" "$(library "$1")"
	so-input --sysroot "$ROOT" --only "*$1" program >list 2>said
	reloc-extract -o table list
	permitted -n "$4" --reader "$(reader "$1")" --emulate "qemu-$endian -seed 1 -L $ROOT" --ignore libgcc_s.so.1 -t 0,1,2,3,4,5,6,9 table ./program "${@:5}"
	cd ..
}
# The personality routine of C++ and what stands before it, of the same source: from the end of the function before that.
reader() {
	"$endian-linux-gnu-nm" -DSn "$(library "$1")" | awk '$4 ~ /^__gxx_personality_v0/ { print end "-" $1 " " $2 } NF == 4 && $3 ~ /[TtWw]/ { end = $1 " " $2 }' |
		while IFS='- ' read -r a n b m; do printf '%x-%x' $((0x$a + 0x$n)) $((0x$b + 0x$m)); done
	[ "$1" = libstdc++.so.6 ] || echo 0-0
}
both() { for endian in mips mipsel; do "$@"; done; }

pointers() {	# COMPILER [OPTION...]: the library, and a program that compares what it gives
	"$1" -O2 -fPIC -shared -Wl,-soname,libpointers.so -o libpointers.so "${@:2}" "$REPO/test/input/permit-pointers.c"
	"$1" -O2 -DHOST -o program "$REPO/test/input/permit-pointers.c" -L. -lpointers -Wl,-rpath,"$PWD"
	so-input --only '*libpointers*' "$PWD/libpointers.so" 2>said | reloc-extract -o table
}

@test "a function has one address, whichever rows are deleted" {
	pointers gcc
	./program >plain
	grep -q '^9: .* 1 1 ' plain
	permitted -n 12 table ./program
}

@test "MIPS: a function has one address, whichever rows are deleted" {
	for endian in mips mipsel; do
		command -v $endian-linux-gnu-gcc >list || skip "$endian-linux-gnu-gcc is not installed (test/install-packages test/packages-mips)"
		mkdir $endian
		cd $endian
		pointers $endian-linux-gnu-gcc
		"$PYTHON" "$REPO/test/cddl_check.py" "$REPO/formats/relocations.cddl" relocations table
		permitted -n 12 --emulate "qemu-$endian -seed 1 -L /usr/$endian-linux-gnu" table ./program
		[ "$(grep -cE '^reference.* 0 messages' report)" = 0 ]
		cd ..
	done
}

# Page and word of the GOT, called functions and compared ones; the program's output is the x86-64 one's.
@test "MIPS: with all rows but one reference's, that function has its old address everywhere" {
	pointers gcc
	./program >x86
	for endian in mips mipsel; do
		command -v $endian-linux-gnu-gcc >list || skip "$endian-linux-gnu-gcc is not installed (test/install-packages test/packages-mips)"
		mkdir $endian
		cd $endian
		pointers $endian-linux-gnu-gcc
		$endian-linux-gnu-nm libpointers.so >symbols
		map-dump table >rows
		for name in pointers_static3 pointers_hidden3; do
			"$PYTHON" - $name <<-'P'
			import cbor2, sys
			start = next(int(l.split()[0], 16) for l in open("symbols") if l.split()[-1] == sys.argv[1])
			f, items = open("table", "rb"), []
			while f.peek(1):
			    items.append(cbor2.load(f))
			rows, said = items[2:-1], [i for i in items if isinstance(i, list) and i[0] == 3 and i[1] == start]
			refs = [r for r in rows if r[0] == 2 and r[2] == start]
			# in is_, again_, get_ and pointers_which, and hidden ones in nothing else
			assert said[0][3]["count"] == len(refs) and len(refs) >= 4, (said, refs)
			for k, gone in enumerate(refs):
			    left = [r for r in rows if r != gone]
			    with open(f"{sys.argv[1]}.{k}", "wb") as out:
			        for item in [*items[:2], *left, [-1, len(left)]]:
			            out.write(cbor2.dumps(item, canonical=True))
			P
			at=$(awk -v n=$name '$3 == n { print $1 }' symbols)
			for table in $name.*; do
				rm -rf out
				run so-gen -o out "$table"
				[ "$status" = 0 ]
				[[ $output =~ ", "[1-9]+" in code, " || $output == *"it keeps its old address, and at 0x$(printf %x "0x$at") there is no room"* ]]
				"qemu-$endian" -L /usr/$endian-linux-gnu -E LD_LIBRARY_PATH=out program | cmp - ../x86
				# what the loader relocates: no word of data has another address than the function's own
				[ "$($endian-linux-gnu-objdump -s -j .data -j .data.rel.ro out/libpointers.so | grep -c "$(reversed "$at")")" -ge 1 ]
			done
		done
		cd ..
	done
}
# As objdump -s prints the word.
reversed() { [ "$endian" = mips ] && echo "$1" || echo "${1:6:2}${1:4:2}${1:2:2}${1:0:2}"; }

@test "MIPS: deleted rows: libz" { both mips libz.so.1 gcc workloads/host/zhost.c 2 data; }
@test "MIPS: deleted rows: libbz2" { both mips libbz2.so.1.0 gcc mips/host/bzhost.c 1 data; }
@test "MIPS: deleted rows: liblzma" { both mips liblzma.so.5 gcc mips/host/lzmahost.c 1 data; }
@test "MIPS: deleted rows: libstdc++ with a program that throws" { both mips libstdc++.so.6 g++ input/permit-throw.cc 1; }
@test "MIPS: deleted rows: jump tables, computed gotos, callbacks" {
	for endian in mips mipsel; do
		command -v $endian-linux-gnu-gcc >list || skip "$endian-linux-gnu-gcc is not installed (test/install-packages test/packages-mips)"
		mkdir $endian
		cd $endian
		$endian-linux-gnu-gcc -O2 -fPIC -shared -o libjump.so "$REPO/test/mips/host/jumplib.c"
		$endian-linux-gnu-gcc -std=gnu11 -O2 -o program "$REPO/test/mips/host/jumphost.c" -L. -ljump -Wl,-rpath,"$PWD"
		so-input --only '*libjump*' "$PWD/libjump.so" 2>said | reloc-extract -o table
		permitted -n 4 --emulate "qemu-$endian -seed 1 -L /usr/$endian-linux-gnu" table ./program
		[ "$(grep -cE '^(table|entry).* 0 messages' report)" = 0 ]
		cd ..
	done
}
