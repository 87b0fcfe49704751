#!/usr/bin/env bats
# frames.bats - lib/elf/frames.c: .eh_frame as readelf decodes it, and what does not hold together
load common

LIBS=/usr/lib/x86_64-linux-gnu

setup_file() {
	cd "$REPO" || return 1
	gcc -std=c11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -I. -D_GNU_SOURCE -o "$BATS_FILE_TMPDIR/unwind-check" \
		test/unwind-check.c tools/so-gen/unwind{,-cfi,-cfi-move,-lsda}.c lib/base/*.c lib/elf/{object,notes,symbols,relocs,frames}.c -lelf -lxxhash -lcbor
	gcc -shared -nostdlib -Wl,--no-eh-frame-hdr -o "$BATS_FILE_TMPDIR/odd.so" test/input/unwind.s
}

frames() { "$BATS_FILE_TMPDIR/unwind-check" -d "$1"; }

readelf_frames() { readelf -wNf "$1" | sed -n 's/.* FDE cie=.* pc=//p' | sort; }

@test "frames: every FDE that readelf shows" {
	for lib in libc.so.6 libstdc++.so.6 libcrypto.so.3; do
		frames $LIBS/$lib > out
		[ "$(tail -n 1 out | cut -d' ' -f3-)" = "others 0 rejected 0" ]
		sed '$d' out > ours
		readelf_frames $LIBS/$lib > theirs
		[ "$(wc -l < theirs)" -gt 3000 ]
		diff ours theirs
	done
}

@test "frames: the same without section headers" {
	"$PYTHON" -c '
import sys
b = bytearray(open(sys.argv[1], "rb").read())
b[0x28:0x30] = bytes(8)
b[0x3c:0x40] = bytes(4)
open("bare.so", "wb").write(b)' $LIBS/libstdc++.so.6
	frames $LIBS/libstdc++.so.6 > with
	frames bare.so > without
	diff with without
}

@test "frames: empty, overlapping and foreign FDEs are passed over and counted" {
	run frames "$BATS_FILE_TMPDIR/odd.so"
	[ "$status" = 0 ]
	first=$(readelf -sW "$BATS_FILE_TMPDIR/odd.so" | awk '$8 == "first" { print $2 }')
	[ "${lines[0]}" = "$first..$(printf %016x $((0x$first + 16)))" ]
	# 15 FDEs: two overlap and one lies in data (kept for copying); the linker has dropped the empty one.
	[ "$(readelf_frames "$BATS_FILE_TMPDIR/odd.so" | wc -l)" = 15 ]
	[ "${#lines[@]}" = 13 ]
	[[ "${lines[12]}" = "cies 2 others 3 rejected 3: first FDE outside code at "* ]]
}

@test "frames: a lying length ends the walk, a lying CIE pointer or an empty range costs its FDE" {
	"$PYTHON" -c '
import re, subprocess, sys
path = sys.argv[1]
text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
offset = int(re.search(r"\.eh_frame +PROGBITS +\S+ (\S+)", text)[1], 16)
whole = open(path, "rb").read()
records, at = [], offset
while length := int.from_bytes(whole[at:at + 4], "little"):
    records.append(at)
    at += 4 + length
def write(name, at, value):
    b = bytearray(whole)
    b[at:at + 4] = value.to_bytes(4, "little")
    open(name, "wb").write(b)
write("long.so", records[4], 0x7fffff00)        # two CIEs and two FDEs before it
write("wide.so", records[4], 0xffffffff)
write("empty.so", records[4] + 12, 0)
write("cie.so", records[4] + 4, 12)
write("before.so", records[4] + 4, 0xfffffff0)' "$BATS_FILE_TMPDIR/odd.so"
	for f in long wide; do
		run frames $f.so
		[ "$status" = 0 ]
		[ "${#lines[@]}" = 3 ]
		[[ "${lines[2]}" = "cies 2 others 0 rejected 1: first record whose length leaves the section at "* ]]
	done
	for f in cie before; do
		run frames $f.so
		[ "$status" = 0 ]
		[ "${#lines[@]}" = 12 ]
		[[ "${lines[11]}" = "cies 2 others 3 rejected 4: first FDE that names no CIE at "* ]]
	done
	run frames empty.so
	[ "${#lines[@]}" = 12 ]
	[[ "${lines[11]}" = "cies 2 others 3 rejected 4: first FDE of no bytes at "* ]]
}

@test "frames: an object without unwinding tables has no FDEs" {
	echo 'int f(void) { return 1; }' > f.c
	gcc -shared -nostdlib -fno-asynchronous-unwind-tables -o f.so f.c
	run frames f.so
	[ "$output" = "cies 0 others 0 rejected 0" ]
}

@test "fuzz: unwinding tables, read and moved" {
	command -v clang-14 > /dev/null || skip "no clang-14"
	(cd "$REPO" && clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -I. -D_GNU_SOURCE \
		-o "$BATS_TEST_TMPDIR/fuzz" test/fuzz/frames.c tools/so-gen/unwind{,-cfi,-cfi-move,-lsda}.c lib/base/*.c lib/elf/{object,notes,symbols,relocs,frames}.c \
		-lelf -lxxhash -lcbor)
	g++ -std=c++14 -w -O2 -fPIC -shared -o throws.so "$REPO/test/input/throws.cc"
	mkdir seeds
	"$PYTHON" "$REPO/test/fuzz/frames-seed.py" seeds throws.so "$BATS_FILE_TMPDIR/odd.so"
	nice ./fuzz -seed=1 -max_len=4096 -max_total_time="${FUZZ_SECONDS:-4}" -verbosity=0 seeds > log 2>&1 || {
		tail -n 40 log
		return 1
	}
}
