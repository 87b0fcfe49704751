# oracle.bats - counters against what callgrind and a single-stepper count in the same run; first the oracles themselves.
# test/oracle/all does it for every workload.
load common

ORACLE=$REPO/test/oracle

fake() {	# [unnamed]: an object profiled by hand
	"$ORACLE/make-fake" "$PWD" "$@"
	mkdir -p counters runs
	export SOPROF_DIR=$PWD/counters LD_LIBRARY_PATH=$PWD/objects
}

compared() { env -u LD_LIBRARY_PATH "$ORACLE/compare" --title fake "$@" counters objects runs/run.*; }

agree() {	# NAME MODE
	run "$REPO/test/workloads/run" "$1" "$2"
	echo "$output"
	[ "$status" != 3 ] || skip "$output"
	[ "$status" = 0 ]
}

@test "callgrind agrees with counters made by hand" {
	fake
	"$ORACLE/valgrind" "$PWD/runs" ./fakehost
	run compared
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"11 counters compared,       8 not zero, 0 differ"* ]]
	# 222 rounds (100 + 101 + 3 * 7), 113 of them odd, in 8 blocks of 4, 5, 4, 1, 2, 1, 1 and 2 instructions
	[[ $output == *"fake_stays: a test: 10 instructions"* ]]
}

@test "the comparison notices one count too many" {
	fake
	FAKE_WRONG=3 "$ORACLE/valgrind" "$PWD/runs" ./fakehost
	run compared
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"block 3 at "*"counter 114, executed 113"* ]]
}

@test "the comparison notices a springboard's wrong count" {
	fake
	FAKE_WRONG=11 "$ORACLE/valgrind" "$PWD/runs" ./fakehost
	run compared
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"springboard at "*"counter 4, executed 3"* ]]
}

@test "the comparison notices old text that no row names" {
	fake unnamed
	"$ORACLE/valgrind" "$PWD/runs" ./fakehost
	run compared
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"NOT NAMED: 10 instructions"* ]]
}

@test "the comparison notices a low coverage" {
	fake
	"$ORACLE/valgrind" "$PWD/runs" ./fakehost
	run compared --at-least 0.9999
	[ "$status" = 1 ]
}

# alter FILE NUMBER BY: adds to one counter of a file
alter() { "$PYTHON" - "$@" <<<'import struct, sys; f = open(sys.argv[1], "r+b"); f.seek(struct.unpack("<8sIII", f.read(20))[2] + 8 * int(sys.argv[2])); n, = struct.unpack("<Q", f.read(8)); f.seek(-8, 1); f.write(struct.pack("<Q", n + int(sys.argv[3])))'; }

@test "forked processes are compared exactly" {
	echo 'long work(long n) { long i = 0; while (i < n) { __asm__ volatile (""); i++; } return i; }' >work.c
	cat >forks.c <<-'END'
	#include <sys/wait.h>
	#include <unistd.h>
	long work(long n);
	int main(void)
	{
		work(1000);
		if (!fork()) {
			work(50);
			if (!fork()) {
				work(7);
				_exit(0);
			}
			wait(0);
			return 0;
		}
		work(300);
		wait(0);
		if (!fork()) {
			work(20);
			return 0;
		}
		wait(0);
		return 0;
	}
	END
	gcc -O1 -shared -fPIC -o libwork.so work.c
	gcc -O1 -o forks forks.c -L. -lwork -Wl,-rpath,"$PWD"
	so-input --with-app forks | reloc-extract | so-gen -q -o objects
	mkdir runs
	so-run -q -d objects -r counters "$ORACLE/valgrind" "$PWD/runs" "$PWD/objects/forks"
	run compared
	echo "$output"
	[ "$status" = 0 ]
	for object in forks libwork.so libc.so.6; do
		[[ $output == *"  $object "*", 0 differ, 3 forked"* ]]
	done
	# by hand: the loop's block of each process
	for file in counters/libwork.so.*; do map-dump --json "$file" >"${file##*/}.json"; done
	[ "$(for dumped in *.json; do grep -o '"count":[0-9]*' "$dumped" | cut -d : -f 2 | sort -n | tail -n 1; done | sort -n | paste -sd ' ')" = "7 20 50 1300" ]
	# one more, then one less, in a child
	child=$(basename "$(grep -l '"count":50}' *.json)" .json)
	block=$(sed -n 's/{"block":\([0-9]*\),"count":50}/\1/p' "$child.json")
	for by in 1 -2; do
		alter "counters/$child" "$block" $by
		run compared
		echo "$output"
		[ "$status" = 1 ]
		[[ $output == *"1 differ, 3 forked"* ]]
	done
}

@test "the stepper counts starts: repeated strings, signals, restarted system calls, retried faults" {
	gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -O2 -o stepper "$ORACLE/stepper.c"
	fake
	./stepper -o "$PWD/runs/run.%p" ./fakehost signals
	run compared
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"11 counters compared,      11 not zero, 0 differ"* ]]
}

@test "the stepper and callgrind agree on every instruction of an unprofiled library" {
	gcc -std=c11 -D_GNU_SOURCE -O2 -o stepper "$ORACLE/stepper.c"
	mkdir runs
	echo 'int main(void){int f(int);return f(30)&1;}' >main.c
	echo 'static int g(int n){return n%3?n*5:n-1;}int f(int n){volatile int s=0;for(int i=0;i<n;i++)s+=i&1?g(i):f(i/4-1);return s;}' >lib.c
	gcc -O1 -shared -fPIC -o libf.so lib.c
	gcc -O1 -o main main.c -L. -lf -Wl,-rpath,"$PWD"
	./stepper -o "$PWD/step.out" ./main || :
	"$ORACLE/valgrind" "$PWD/runs" ./main || :
	run "$PYTHON" -B - "$ORACLE" <<-'P'
	import glob, os, sys
	sys.path.insert(0, sys.argv[1])
	from oracle import Executed
	name = os.path.realpath("libf.so")
	step, call = Executed("step.out").objects[name], Executed(glob.glob("runs/run.*")[0]).objects[name]
	# Callgrind gives what is outside .text (.plt, .init) to no object.
	differ = [hex(a) for a in call if step.get(a) != call[a]]
	print(len(call), "instructions,", sum(call.values()), "executions, differ:", differ)
	sys.exit(len(call) < 20 or bool(differ))
	P
	echo "$output"
	[ "$status" = 0 ]
}

@test "libz: counters equal callgrind's counts" { agree libz callgrind; }
@test "sqlite3: counters equal callgrind's counts" { agree sqlite3 callgrind; }
@test "C++ throws: counters equal callgrind's counts" { agree throw callgrind; }
@test "threads: counters equal callgrind's counts" { agree threads callgrind; }
@test "xz: counters equal the stepper's counts" { agree xz step; }
