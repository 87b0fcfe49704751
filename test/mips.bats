#!/usr/bin/env bats
# MIPS o32, both byte orders, under qemu: the run-time code, the oracle, and a short selection of programs (test/mips/all has the rest).
load common
bats_require_minimum_version 1.5.0

need_tools() {
	local tool
	for tool in {mips,mipsel}-linux-gnu-gcc qemu-{mips,mipsel}; do
		command -v $tool > list || skip "$tool is not installed (test/install-packages test/packages-mips)"
	done
}

setup_file() {
	local endian
	REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	for endian in mips mipsel; do
		command -v $endian-linux-gnu-gcc > "$BATS_FILE_TMPDIR/list" || continue
		$endian-linux-gnu-gcc -std=c11 -Wall -Wextra -I"$REPO" -D_GNU_SOURCE -O1 -pthread -static \
			-o "$BATS_FILE_TMPDIR/host-$endian" "$REPO/test/input/runtime-host.c"
	done
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir d
	D=$PWD/d
	unset SOPROF_DIR SOPROF_MAX
}

teardown() {
	! mountpoint -q "$BATS_TEST_TMPDIR/full" || umount "$BATS_TEST_TMPDIR/full"
}

host() { "qemu-$endian" "$BATS_FILE_TMPDIR/host-$endian" "$@"; }
field() { "$PYTHON" "$REPO/test/counter_file.py" --field "$1" "$2"; }
counter() { "$PYTHON" "$REPO/test/counter_file.py" --counter "$1" "$2"; }
total() { "$PYTHON" "$REPO/test/counter_file.py" --total "$@"; }
totals() { for f in "$@"; do total "$f"; done | sort -n | tr '\n' ' '; }
need_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

# both FUNCTION: runs it for each byte order in a folder of its own.
both() {
	need_tools
	for endian in mips mipsel; do
		mkdir "$endian"
		cd "$endian"
		mkdir d
		D=$PWD/d
		"$1"
		cd ..
	done
}

@test "run-time code: the counts up to a SIGKILL are in the file, those made before it was opened too" { both killed; }
killed() {
	run -137 host object libx.so.1 "$D" 3000 count 0 5 count 2999 7 init count 0 1000003 kill 9
	f=$(echo "$D"/libx.so.1.*.0)
	[ "$(counter 0 "$f")" = 1000008 ]
	[ "$(counter 2999 "$f")" = 7 ]
	[ "$(total "$f")" = 1000015 ]
}

@test "run-time code: header, mode, size and blocks of the file; no descriptor stays open; errno stays" { both header; }
header() {
	before=$(date +%s%N)
	run -0 host object lib/y.so "$D" 1000 descriptor init state descriptor
	[[ ${lines[1]} =~ ^first\ lib/y.so\ pid\ ([0-9]+)\ state\ 1\ error\ 0\ alive\ [01]\ flags\ 0$ ]]
	pid=${BASH_REMATCH[1]}
	[ "${lines[0]}" = "${lines[2]}" ]
	f=$D/y.so.$pid.0
	[ "$(stat -c '%a %s' "$f")" = "600 131072" ]
	[ "$(stat -c %b "$f")" -ge 256 ]
	[ "$(field pid "$f")" = "$pid" ]
	[ "$(field page "$f")" = 65536 ]
	[ "$(field serial "$f")" = 0 ]
	[ "$(field executable "$f")" = "$(realpath "$BATS_FILE_TMPDIR/host-$endian")" ]
	[ "$(field limit "$f")" = 8589934592 ]
	[ "$(field start_ns "$f")" -ge "$before" ]
	[ "$(field start_ns "$f")" -le "$(date +%s%N)" ]
	# the number of units, in the byte order of the machine
	od -An -tu4 --endian="$([ "$endian" = mips ] && echo big || echo little)" "$D/.soprof-usage" | tr -s ' ' > usage
	[ "$(cat usage)" = " 32 0 0 0" ]
}

@test "run-time code: RLIMIT_FSIZE: no signal, no file" { both large; }
large() {
	run -0 host object x "$D" 1000 fsize 131071 init state count 0 5 print 0
	[[ ${lines[0]} == *"state 4 error 0 alive 1 "* ]]
	[ "${lines[1]}" = "first 5" ]
	[ -z "$(ls -A "$D")" ]
	host object x "$D" 1000 fsize 131072 init count 0 6
	[ "$(total "$D"/x.*.0)" = 6 ]
}

@test "run-time code: SOPROF_DIR and SOPROF_MAX; no directory; no free descriptor" { both settings; }
settings() {
	mkdir elsewhere
	SOPROF_DIR=$PWD/elsewhere host object x /none 10 init count 0 9
	[ "$(total elsewhere/x.*.0)" = 9 ]
	SOPROF_MAX=0 host object x "$D" 10 init
	[ -z "$(ls -A "$D")" ]
	for i in 1 2 3; do SOPROF_MAX=262144 host object x "$D" 10 init; done
	[ "$(ls "$D" | wc -l)" = 2 ]
	run -0 host object x "$PWD/none" 10 init state count 0 5 print 0
	[[ ${lines[0]} == *"state 3 error 2 alive 1 "* ]]
	[ "${lines[1]}" = "first 5" ]
}

@test "run-time code: a full file system: no SIGBUS, nothing is left" { need_root; both full; }
full() {
	mkdir -p ../full
	mountpoint -q ../full || mount -t tmpfs -o size=256k none ../full 2> error || skip "cannot mount a tmpfs: $(cat error)"
	run -0 host object x "$(realpath ../full)" 60000 init state count 59999 5 print 59999
	[[ ${lines[0]} == *"state 7 error 28 alive 1 "* ]]
	[ "${lines[1]}" = "first 5" ]
	[ "$(ls ../full)" = "" ]
	rm -f ../full/.soprof-usage
}

@test "run-time code: fork: two objects, two generations, all exact, also where the emulator wipes no memory" { both forks; }
forks() {
	run -0 host object libx "$D" 3000 object liby "$D" 10 init count 7 5 fork count 7 100003 fork count 7 1009 state
	[ "$(totals "$D"/libx.*)" = "1009 1009 101012 101017 " ]
	[ "$(totals "$D"/liby.*)" = "1009 1009 101012 101017 " ]
	[ "$(for f in "$D"/libx.*; do field flags "$f"; done | sort | tr '\n' ' ')" = "0 2 2 2 " ]
	for f in "$D"/libx.*; do
		parent=$(field parent "$f")
		[ "$parent" = 0 ] || [ -e "$D/libx.$parent.0" ]
	done
}

@test "run-time code: fork from a process with threads; a vfork; no file for the child; a mapping in pieces" { both fork_kinds; }
fork_kinds() {
	host object x "$D" 100 init thread 1 3000019 fork count 2 100003 p:join
	[ "$(totals "$D"/x.*)" = "100003 3100022 " ]
	rm "$D"/x.*
	host object x "$D" 100 init vfork 1 1003 count 1 2
	# qemu's vfork is a fork
	[ "$(totals "$D"/x.*)" = "2 1003 " ]
	rm "$D"/x.*
	host object x "$D" 1000 init count 0 5 fsize 4096 fork count 0 10003 > list
	[ "$(totals "$D"/x.*)" = "10008 " ]
	[ "$(field flags "$D"/x.*.0)" = 16 ]
	rm "$D"/x.*
	host object x "$D" 30000 init split 2 count 29999 1 count 600 1 fork count 29999 5 count 600 5
	[ "$(for f in "$D"/x.*; do counter 29999 "$f"; counter 600 "$f"; done | sort | tr '\n' ' ')" = "5 5 6 6 " ]
}

@test "run-time code: less than 8 KiB of stack" { both stack; }
stack() {
	run -0 host object x "$D" 10 measure init fork
	[ "${#lines[@]}" -ge 1 ]
	for line in "${lines[@]}"; do
		[ "${line#stack }" -gt 0 ]
		[ "${line#stack }" -lt 8192 ]
	done
}

@test "run-time code: MIPS I instructions, at any address, made again byte by byte" {
	for tool in clang-14 ld.lld-14 llvm-objcopy-14; do command -v $tool > list || skip "no $tool"; done
	cat > m.mk <<-END
		BUILD = $PWD/build
		include runtime/rules.mk
	END
	for endian in mips mipsel; do
		make -s -C "$REPO" -f "$PWD/m.mk" "$PWD/build/runtime/$endian/blob.h" > log 2>&1
		cmp "build/runtime/$endian/blob.h" "$REPO/runtime/blob-$endian.h"
		elf=build/runtime/$endian/blob.elf
		[ "$(readelf -rW "$elf" | grep -c R_MIPS)" = 0 ]
		llvm-objcopy-14 -O binary -j .blob "$elf" blob
		end=0x$(nm "$elf" | awk '$3 == "blob_code_end" { print $1 }')
		[ $((end)) -gt 8192 ]
		[ $((end)) -lt "$(stat -c %s blob)" ]
		"$PYTHON" "$REPO/test/mips/mips1-check.py" "$([ $endian = mips ] && echo big || echo little)" blob "$end" > report
		grep -qE ' syscall [1-9][0-9]+ .* lui ' report
		# HI and LO are the caller's, gp is not
		for entry in runtime_init runtime_child; do [ "$(nm "$elf" | grep -c " $entry\$")" = 1 ]; done
	done
}

# trace FOLDER [--log] ARG...: of the host's run in an environment that is always the same.
trace() {
	local folder=$1 log=
	shift
	[ "$1" != --log ] || { log=--log; shift; }
	mkdir -p "$folder"
	env -i PATH="$PATH" WORK="$BATS_FILE_TMPDIR" "$REPO/test/oracle/qemu-trace" $log "$endian" "$folder" \
		-seed 1 -U SHLVL -U _ -U PWD -U OLDPWD "$BATS_FILE_TMPDIR/host-$endian" "$@"
}

@test "oracle: the plugin's counts are those of qemu's own log, instruction by instruction" { both agree; }
agree() {
	trace one object x "$D" 10 count 0 1003 print 0 > printed
	trace two --log object x "$D" 10 count 0 1003 print 0 > printed
	[ "$(cat printed)" = "first 1003" ]
	run -0 "$REPO/test/oracle/qemu-compare" --same one/trace.* two/trace.0
	[[ $output == *" 0 differ" ]]
}

@test "oracle: each process has a trace, from its fork on, also when it is killed" { both processes; }
processes() {
	run -137 trace one object x "$D" 10 count 0 100 fork count 0 7 kill 9
	[ "$(ls one | wc -l)" = 2 ]
	# the loop that the first process ran 107 times and the child 7 times
	"$PYTHON" - one/* > counts <<-'P'
	import os, sys
	sys.path.insert(0, os.environ["REPO"] + "/test/oracle")
	sys.dont_write_bytecode = True
	import qemu
	traces = [qemu.Trace(f) for f in sys.argv[1:]]
	traces.sort(key=lambda t: -t.total)
	big, small = (t.counts for t in traces)
	print(sum(1 for n in big.values() if n == 107) > 2, sum(1 for n in small.values() if n == 7) > 2, any(n >= 100 for a, n in small.items() if big.get(a) == 107))
	P
	[ "$(cat counts)" = "True True False" ]
}

# fake [unnamed]: an object profiled by hand; runs it.
fake() {	# [ARG...] with FAKE set to "unnamed" perhaps
	mkdir counters runs
	"$REPO/test/oracle/qemu-make-fake" "$endian" "$PWD" "${FAKE:-}"
	SOPROF_DIR=$PWD/counters WORK=$BATS_FILE_TMPDIR "$REPO/test/oracle/qemu-trace" "$endian" runs -L "/usr/$endian-linux-gnu" \
		-E LD_LIBRARY_PATH=objects ./fakehost "$@" > printed
	[ "$(cat printed)" = "251 255 20" ]
}
compared() { "$REPO/test/oracle/qemu-compare" --title fake "$@" counters objects runs/trace.*; }

@test "oracle: qemu agrees with counters made by hand, through a springboard and restarted system calls" { both fake_agrees; }
fake_agrees() {
	fake x
	run -0 compared
	[[ $output == *"9 counters compared,       9 not zero, 0 differ"* ]]
	[[ $output == *"springboard: 1 instructions"* ]]
	# 208 rounds (100 + 101 + 7) of 7, 105 of them with 1 more, in 3 calls of 8; 3 reads of 4: 1597; and 28 of ours behind blocks
	[[ $output == *"1625 in new text"* ]]
	[[ $output == *"fake_stays: a test: 9 instructions"* ]]
	run -1 compared --at-least 0.9
}

@test "oracle: the comparison notices one count too many, a springboard's too, and old text that nothing names" { both fake_notices; }
fake_notices() {
	for wrong in 2 9; do
		rm -rf counters runs
		FAKE_WRONG=$wrong fake
		run -1 compared
		[[ $output == *" 1 differ;"* ]]
	done
	[[ $output == *"springboard at 0x"*": counter 2, executed 1"* ]]
	rm -rf counters runs
	FAKE=unnamed fake
	run -1 compared
	[[ $output == *"in .text, NOT NAMED"* ]]
}

same() {	# NAME MODE ROOT
	need_tools
	run "$REPO/test/mips/run" "$@"
	echo "$output"
	[ "$status" != 3 ] || skip "$output"
	[ "$status" = 0 ]
}

# test/mips/workloads/NAME.sh says what each does; all objects that it references are profiled, the loader excepted.
@test "big endian: libz, moved with traps in old text" { same libz poison mips; }
@test "big endian: libz, each counter as qemu counts" { same libz trace mips; }
@test "big endian: exceptions through three libraries and libstdc++, moved with traps" { same throw poison mips; }
@test "big endian: threads, locks and atomic operations, each counter, 99.99 % of all instructions counted" { same threads trace mips; }
@test "little endian, Debian's: threads, the same" { same threads trace mipsel; }
@test "big endian: jump tables, computed gotos, longjmp, signals: each counter" { same jumps trace mips; }
@test "big endian: several GOTs, whose pages are no entries, each counter" { same multigot trace mips; }
@test "Debian's xz, moved with traps in old text" { same xz poison mipsel; }
@test "Debian's xz, each counter as qemu counts" { same xz trace mipsel; }
@test "Debian's libstdc++: exceptions, counted" { same throw counted mipsel; }
@test "Debian's libpython, counted" { same python counted mipsel; }
@test "little endian: libm, each counter" { same libm trace mipsel; }
@test "little endian: forks, counted" { same fork counted mipsel; }
@test "a counted deflate takes at most twice the instructions" { same libz cost mips; }
