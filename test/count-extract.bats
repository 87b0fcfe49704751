#!/usr/bin/env bats
# count-extract: sums of counter files that are written by hand (fabricate.py), against sums done by hand.
load common
bats_require_minimum_version 1.5.0

BLOCKS="block=guarded.cold-cold_end block=sum-sum_loop block=sum_loop-sum_out block=sum_out-sum_end block=never-never_end
	block=guarded-guarded_double block=guarded_double-guarded_end"

fabricate() { "$PYTHON" "$REPO/test/fabricate.py" "$@"; }

# out/libreport.so: 7 blocks, springboards at sum and never; one counter file.
one_object() {
	${CC:-gcc} -shared -nostdlib -Wl,--build-id -o libreport.so "$REPO/test/input/report.s"
	mkdir -p out
	fabricate object libreport.so out/libreport.so $BLOCKS spring=sum spring=never "stays=stays-stays_end:an indirect jump" "$@"
	fabricate counts out/libreport.so out/libreport.so.100.0 2 1 3 1 0 4 2 5 0
}

# Each item of a stream on a line of its own.
items() {
	"$PYTHON" -c '
import cbor2, sys
while True:
    try: print(cbor2.load(sys.stdin.buffer))
    except EOFError: break'
}

# The counts of the block rows, in their order.
counts() { items | sed -n 's/^\[0, .*, \([0-9]*\)\]$/\1/p' | paste -sd ' '; }
field() { items | "$PYTHON" -c 'import ast, re, sys; print(ast.literal_eval(sys.stdin.read().split("\n")[1]).get(sys.argv[1]))' "$1"; }

fails_with() {
	run --separate-stderr "${@:2}"
	[ "$status" -eq 1 ] || { echo "status $status: $stderr"; return 1; }
	[[ $stderr == *"$1"* ]] || { echo "said: $stderr"; return 1; }
	[[ $stderr != *runtime\ error* && $stderr != *Sanitizer* ]] || { echo "$stderr"; return 1; }
}

@test "count-extract: one counter file" {
	one_object
	count-extract out > p
	[ "$(counts < p)" = "2 1 3 1 0 4 2" ]
	[ "$(field processes < p)" = 1 ]
	[ "$(field blocks < p)" = 7 ]
	[ "$(field path < p)" = "$PWD/libreport.so" ]
	[ "$(field profiled < p)" = "$PWD/out/libreport.so" ]
	[ "$(field note < p)" = None ]
	sum=$(nm libreport.so | awk '$3 == "sum" { print $1 }')
	items < p | grep -qx "\[1, $((0x$sum)), 0, 5\]"		# never's springboard, unused, has no row
	[ "$(items < p | grep -c '^\[1,')" = 1 ]
	items < p | grep -q "^\[2, .*, 2, 0, {'why': 'an indirect jump', 'name': 'stays'}\]"
	items < p | tail -n 1 | grep -qx '\[-1, 9\]'
}

@test "count-extract: the stream is what its schema says" {
	one_object
	count-extract out > p
	"$PYTHON" "$REPO/test/cddl_check.py" "$REPO/formats/profile.cddl" profile p
}

@test "count-extract: addresses and sizes are those that nm tells" {
	one_object
	count-extract out > p
	at() { echo $((0x$(nm libreport.so | awk -v s="$1" '$3 == s { print $1 }'))); }
	items < p | grep -qx "\[0, $(at sum_loop), $(($(at sum_out) - $(at sum_loop))), 3\]"
	items < p | grep -qx "\[0, $(at guarded.cold), $(($(at cold_end) - $(at guarded.cold))), 2\]"
	# Code that FDEs or sized functions cover: all but the single ret of "bare".
	text=$(readelf -SW libreport.so | awk '$2 == ".text" || $3 == ".text" { for (i = 1; i <= NF; i++) if ($i == "PROGBITS") print $(i + 3) }')
	[ "$(field text-bytes < p)" = $((0x$text - 1)) ]
}

@test "count-extract: several processes are summed" {
	one_object
	fabricate counts out/libreport.so out/libreport.so.200.0 0 2 4 2 0 6 6 0 1
	fabricate counts out/libreport.so out/libreport.so.200.1 1 1 1 1 1 1 1 1 1
	count-extract -o p out
	[ "$(counts < p)" = "3 4 8 4 1 11 9" ]
	[ "$(field processes < p)" = 3 ]
	# Given one by one, only those; the object beside them is found.
	count-extract out/libreport.so.100.0 out/libreport.so.200.1 out/libreport.so.100.0 > q
	[ "$(counts < q)" = "3 2 4 2 1 5 3" ]
	# The object and a file of its own directory: nothing counts twice.
	count-extract out/libreport.so out/libreport.so.100.0 > r
	[ "$(counts < r)" = "3 4 8 4 1 11 9" ]
}

@test "count-extract: counter files in another directory" {
	one_object
	mkdir counters
	mv out/libreport.so.100.0 counters/
	count-extract -O counters out > p
	[ "$(counts < p)" = "2 1 3 1 0 4 2" ]
	count-extract --counters=counters out/libreport.so > q
	cmp p q
	count-extract out/libreport.so counters/libreport.so.100.0 > r
	cmp p r
	fails_with 'libreport.so.100.0: its profiled object is not beside it' count-extract counters/libreport.so.100.0
}

@test "count-extract: two names of one object count once" {
	one_object
	ln -s libreport.so out/libreport.so.1
	[ "$(count-extract out | counts)" = "2 1 3 1 0 4 2" ]
}

@test "count-extract: an object whose name looks like another's counter file" {
	one_object
	fabricate object libreport.so out/libreport.so.1.2 $BLOCKS
	fabricate counts out/libreport.so.1.2 out/libreport.so.1.2.300.0 9 9 9 9 9 9 9
	count-extract out > p
	[ "$(counts < p)" = "2 1 3 1 0 4 2 9 9 9 9 9 9 9" ]
}

@test "count-extract: sums stay at the largest number" {
	one_object
	fabricate counts out/libreport.so out/libreport.so.200.0 18446744073709551615 18446744073709551614 0 0 0 0 0 0 0
	count-extract out > p
	[ "$(counts < p)" = "18446744073709551615 18446744073709551615 3 1 0 4 2" ]
	[ "$(field note < p)" = "some sums are larger than 64 bits" ]
}

@test "count-extract: blocks without a counter and blocks moved twice" {
	${CC:-gcc} -shared -nostdlib -Wl,--build-id -o libreport.so "$REPO/test/input/report.s"
	mkdir out
	fabricate object libreport.so out/libreport.so block=sum-sum_loop:uncounted block=sum_loop-sum_out:uncounted block=sum_out-sum_end:twice \
		block=never-never_end
	fabricate counts out/libreport.so out/libreport.so.1.0 0 0 30 12 7
	count-extract out > p
	[ "$(counts < p)" = "42 7" ]
	[ "$(field blocks < p)" = 2 ]
	sum=$((0x$(nm libreport.so | awk '$3 == "sum" { print $1 }')))
	items < p | grep -qx "\[2, $sum, 16, 0, {'why': 'moved without a counter'}\]"
}

@test "count-extract: blocks of several rows, of which the first is counted, a later one, or none" {
	${CC:-gcc} -shared -nostdlib -Wl,--build-id -o libreport.so "$REPO/test/input/report.s"
	mkdir out
	fabricate object libreport.so out/libreport.so block=sum-sum_loop:uncounted block=sum_loop-sum_out:store block=sum_out-sum_end \
		block=never-never_end:uncounted block=guarded-guarded_double block=guarded_double-guarded_end:goes-on
	fabricate counts out/libreport.so out/libreport.so.1.0 0 30 12 0 7 0
	count-extract out > p
	[ "$(field blocks < p)" = 3 ]
	nm libreport.so | awk '$3 ~ /^[a-z_]+$/ { print $3 "=0x" $1 }' > symbols
	. ./symbols
	items < p | sed 1,2d > rows
	printf '[0, %d, %d, %d]\n' $((sum)) $((sum_out - sum)) 30 $((sum_out)) $((sum_end - sum_out)) 12 $((guarded)) $((guarded_end - guarded)) 7 > expected
	printf "[2, %d, %d, 0, {'why': 'moved without a counter'}]\n[-1, 4]\n" $((never)) $((never_end - never)) >> expected
	diff rows expected
}

@test "count-extract: an object that was never loaded has zeros" {
	one_object
	rm out/libreport.so.100.0
	run --separate-stderr count-extract -o p out
	[ "$status" -eq 0 ]
	[[ $stderr == *"libreport.so: no counter file: never loaded" ]]
	[ "$(counts < p)" = "0 0 0 0 0 0 0" ]
	[ "$(field processes < p)" = None ]	# absent is 0
	[ "$(field note < p)" = "never loaded" ]
	run --separate-stderr count-extract -q -o p out
	[ -z "$stderr" ]
}

@test "count-extract: forks that could not be told apart are noted" {
	one_object
	fabricate counts out/libreport.so out/libreport.so.200.0 0 0 0 0 0 0 0 0 0 flags=20
	[ "$(count-extract out | field note)" = "forked: counts may be inexact; the counts of some forked child are missing" ]
}

@test "count-extract: counter files of another object are refused by name" {
	one_object
	f=out/libreport.so.666.0
	for change in map_hash=1:"another map table" build_id=x:"another profiled object" original_build_id=x:"another version of the original" \
			counters=8:"other numbers of counters" blocks=6:"other numbers of counters" version=2:"a version of counters" \
			header_size=100:"impossible sizes" page=0:"impossible sizes" magic=notmagic:"not a counter file"; do
		fabricate counts out/libreport.so $f 1 1 1 1 1 1 1 1 1 "${change%%:*}"
		fails_with "libreport.so.666.0: " count-extract -o p out
		[[ $stderr == *"${change#*:}"* ]] || { echo "$change: $stderr"; false; }
		[ "$(counts < p)" = "2 1 3 1 0 4 2" ]
	done
}

@test "count-extract: a counter file cut anywhere is named and left out" {
	one_object
	fabricate counts out/libreport.so whole 1 1 1 1 1 1 1 1 1
	for n in 0 1 7 8 100 863 864 4095 4096 4103 4167; do
		head -c $n whole > out/libreport.so.666.0
		fails_with "libreport.so.666.0: cut" count-extract -o p out
		[ "$(counts < p)" = "2 1 3 1 0 4 2" ]
	done
	head -c 8192 /dev/zero > out/libreport.so.666.0
	fails_with "libreport.so.666.0: not finished" count-extract -o p out
	cp whole out/libreport.so.666.0
	truncate -s 8192 out/libreport.so.666.0		# as the run-time code makes it: whole pages
	[ "$(count-extract out | counts)" = "3 2 4 2 1 5 3" ]
}

@test "count-extract: a counter file that is cut while it is read" {
	command -v strace >/dev/null || skip "no strace"
	one_object
	fabricate counts out/libreport.so out/libreport.so.200.0 1 1 1 1 1 1 1 1 1
	# between the look at its size and the mapping there are three seconds
	strace -qq -P "$PWD/out/libreport.so.200.0" -e trace=mmap,fstat,newfstatat -e inject=mmap:delay_enter=3000000 -o trace count-extract -o p out 2>said &
	until grep -q 'fstat.*st_size=4168' trace 2>/dev/null; do sleep 0.02; done
	: >out/libreport.so.200.0
	status=0
	wait $! || status=$?
	cat said trace
	[ "$status" -eq 1 ]
	grep -q 'libreport.so.200.0: cut while it was read' said
	[ "$(counts < p)" = "2 1 3 1 0 4 2" ]
}

@test "count-extract: an original that changed or went is noted" {
	one_object
	echo >> libreport.so
	run --separate-stderr count-extract -o p out
	[ "$status" -eq 0 ]
	[[ $stderr == *"out/libreport.so: stale: the original has another size now: $PWD/libreport.so" ]]
	[ "$(field note < p)" = "stale: the original has another size now" ]
	[ "$(counts < p)" = "2 1 3 1 0 4 2" ]
	truncate -s -1 libreport.so
	[ "$(count-extract out | field note)" = None ]
	printf X | dd of=libreport.so bs=1 seek=$(($(stat -c %s libreport.so) - 1)) conv=notrunc status=none
	[ "$(count-extract -q out | field note)" = "stale: the original has changed since" ]
	${CC:-gcc} -shared -nostdlib -Wl,--build-id=0x1234 -o libreport.so "$REPO/test/input/report.s"
	[ "$(count-extract -q out | field note)" = "stale: the original has another build-id now" ]
	rm libreport.so
	[ "$(count-extract -q out | field note)" = "stale: the original $PWD/libreport.so: No such file or directory" ]
}

@test "count-extract: objects that are none, or lie" {
	one_object
	echo text > out/README
	fails_with "README: cut: a counter file's header is longer" count-extract out/README
	fails_with 'libreport.so: not a profiled object' count-extract libreport.so
	fails_with 'nowhere: cannot open: No such file' count-extract nowhere
	mkdir empty
	fails_with 'empty: no profiled object in this directory' count-extract empty
	cp out/libreport.so whole
	change() { rm -f part; objcopy -O binary --only-section="$1" --set-section-flags "$1=alloc" whole part; "$PYTHON" -c "
import sys; b = bytearray(open('part', 'rb').read()); $2; open('part', 'wb').write(b)"; objcopy --update-section "$1=part" whole out/libreport.so; }
	change .soprof.map 'b[4] ^= 1'
	fails_with 'out/libreport.so: the map table is not the one' count-extract out
	change .soprof.map 'del b[-12:]'
	fails_with "out/libreport.so: the map table's size" count-extract out
	change .soprof.springs 'b.append(0)'
	fails_with "out/libreport.so: the springboard table's size" count-extract out
	change .soprof.counters 'b[31] = 0xff'
	fails_with 'out/libreport.so: impossible sizes in the counter header' count-extract out
	change .soprof.info 'del b[-1:]'
	fails_with 'what it says of its original cannot be read' count-extract out
	change .soprof.info 'b[:] = b[:16]'
	fails_with 'what it says of its original cannot be read' count-extract out
}

@test "count-extract: profiled objects cut at many places" {
	one_object
	cp out/libreport.so whole
	size=$(stat -c %s whole)
	for ((n = 0; n < size; n += 397)); do
		head -c $n whole > out/libreport.so
		run --separate-stderr count-extract -o p out/libreport.so
		[ "$status" -eq 1 ] && [ "${#stderr_lines[@]}" -ge 1 ] || { echo "at $n: $status $stderr"; false; }
	done
}

@test "count-extract: a short run of the fuzz target" {
	command -v clang-14 > /dev/null || skip "no clang-14"
	one_object map_hash=0x1234
	(cd "$REPO" && clang-14 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -I. -D_GNU_SOURCE -g -O1 -Wl,--wrap=XXH3_64bits \
		-o "$BATS_TEST_TMPDIR/target" test/fuzz/{profiled,quiet}.c tools/count-extract/{profiled,sum,baseline,write,cover}.c formats/*.c lib/elf/{frames,notes,object,relocs,symbols}.c \
		lib/base/{mem,json,out,progress}.c -lelf -lcbor -lxxhash)
	mkdir seeds
	strip -o seeds/object out/libreport.so
	nice ./target -seed=1 -max_len=20000 -max_total_time="${FUZZ_SECONDS:-4}" -verbosity=0 -print_final_stats=0 seeds > log 2>&1 || { tail -n 40 log; false; }
}

@test "count-extract: one bad object does not cost the others" {
	one_object
	cp out/libreport.so out/alib.so
	printf '\377' | dd of=out/alib.so bs=1 seek=$(grep -abo soprofct out/alib.so | head -n 1 | cut -d: -f1) conv=notrunc status=none
	fails_with 'out/alib.so: not a counter file' count-extract -o p out
	[ "$(counts < p)" = "2 1 3 1 0 4 2" ]
}

@test "count-extract: moved only, and counter files of nobody" {
	one_object
	fabricate object libreport.so out/moved.so $BLOCKS flags=8
	cp out/libreport.so.100.0 out/gone.so.5.0
	run --separate-stderr count-extract -o p out
	[ "$status" -eq 0 ]
	[[ $stderr == *'out/moved.so: moved only (so-gen --identity): it has no counters'* ]]
	[[ $stderr == *'counter files of "gone.so", which is no profiled object here'* ]]
	[ "$(counts < p)" = "2 1 3 1 0 4 2" ]
	rm out/moved.so out/gone.so.5.0
	for spelt in out/ ./out "$PWD/out//"; do
		run --separate-stderr count-extract -o p "$spelt"
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
	done
}

@test "count-extract: a program that is still running" {
	echo 'void step(void) { __asm__ volatile (""); }' > step.c
	echo '#include <stdio.h>
	void step(void);
	int main(void)
	{
		for (int round = 0; round < 2; round++) {
			for (int i = 0; i < 1000003; i++)
				step();
			puts("done");
			fflush(stdout);
			getchar();
		}
	}' > main.c
	${CC:-gcc} -shared -fPIC -o libstep.so step.c
	${CC:-gcc} -o main main.c -L. -lstep
	mkdir out
	LD_LIBRARY_PATH=$PWD so-input main --only 'libstep*' | reloc-extract | so-gen -o out
	coproc running { exec env LD_LIBRARY_PATH=out ./main; }
	pid=$!
	read -r line <&"${running[0]}"
	count-extract out > p
	printf 'x' >&"${running[1]}"
	read -r line <&"${running[0]}"
	count-extract out > q
	kill -9 $pid
	wait $pid || true
	count-extract out > r
	step=$((0x$(nm -D libstep.so | awk '$3 == "step" { print $1 }')))
	items < p | grep "^\[0, $step, .*, 1000003\]" > /dev/null
	items < q | grep "^\[0, $step, .*, 2000006\]" > /dev/null
	diff <(items < q) <(items < r)
}

@test "count-extract: files that the cap kept from being made are told" {
	one_object
	"$PYTHON" -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("=4I", 1, 3, 0, 0))' > out/.soprof-usage
	run --separate-stderr count-extract -o p out
	[ "$status" -eq 0 ]
	[[ $stderr == "count-extract: out: "*"3 counter files were not made because of the cap (SOPROF_MAX)"* ]]
}

@test "count-extract: usage and outputs" {
	one_object
	run count-extract
	[ "$status" -eq 2 ]
	run count-extract --no-such-option
	[ "$status" -eq 2 ]
	count-extract --help | grep -q '^usage: count-extract'
	fails_with 'cannot' count-extract -o nowhere/p out
	fails_with 'cannot' count-extract -o /dev/full out
	[ -c /dev/full ]
	run script -qec "count-extract out" /dev/null
	[[ $output == *terminal* ]]
}
