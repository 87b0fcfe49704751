# pipeline.bats - list, table, object, run, counts: what survives how a program ends, forks, threads, signals; deleted rows
load common
bats_require_minimum_version 1.5.0

N=1000003

setup_file() {
	load common
	export T=$BATS_FILE_TMPDIR
	cd "$T" || return 1
	gcc -O2 -fPIC -shared -o libsurvive.so "$REPO/test/input/survive-lib.c"
	gcc -std=gnu11 -O2 -D_GNU_SOURCE -o survive "$REPO/test/input/survive.c" -L. -lsurvive -pthread -Wl,-rpath,"$T"
	gcc -std=gnu11 -O2 -D_GNU_SOURCE -o lazy "$REPO/test/input/survive-lazy.c"
	so-input --also "$T/libsurvive.so" survive | reloc-extract | so-gen -q -o out
	so-input survive --only '*libsurvive*' | reloc-extract | so-gen -q --atomic -o atomic
}

# run_with OBJECTS COMMAND...: counter files go to counters/
run_with() {
	local objects=$1
	shift
	mkdir -p counters
	LD_LIBRARY_PATH=$T/$objects SOPROF_DIR=$PWD/counters "$@"
}

# calls OBJECTS FILE...: how often the function was called
calls() {
	local objects=$1
	shift
	count-extract -q "$T/$objects/libsurvive.so" "$@" >profile
	"$PYTHON" "$REPO/test/counts.py" profile libsurvive.so called
}

# ends HOW STATUS FILES: each of so many counter files has all calls
ends() {
	run run_with out "$T/survive" "$1"
	echo "status $status, $output"
	[ "$status" -eq "$2" ]
	set -- "$3" counters/libsurvive.so.*
	[ $# -eq $(($1 + 1)) ]
	shift
	for f in "$@"; do
		[ "$(calls out "$f")" = $N ]
	done
	[ "$(calls out "$@")" = $((N * $#)) ]
}

@test "return, exit, _exit: every call counted" {
	ends return 0 1
	rm -r counters; ends exit 0 1
	rm -r counters; ends _exit 0 1
}

@test "abort, SIGKILL, SIGSEGV: every call counted" {
	ends abort 134 1
	rm -r counters; ends kill 137 1
	rm -r counters; ends segv 139 1
}

@test "exec of a profiled program: both count in files of their own" { ends exec 0 2; }
@test "vfork and exec, posix_spawn, system: the same" {
	ends vfork-exec 0 2
	rm -r counters; ends spawn 0 2
	rm -r counters; ends system 0 1
}

@test "a vfork child counts in its parent's file" { ends vfork-child 0 1; }
@test "fork: parent and child count at the same time" { ends fork 0 2; }
@test "fork by a system call of the program's own" { ends raw-fork 0 2; }
@test "clone without CLONE_VM" {
	ends clone 0 2
	rm -r counters; ends raw-clone 0 2
}
@test "fork from a thread" { ends thread-fork 0 2; }
@test "without a profiled C library forks are not noticed, and that is said where there may be some" {
	so-input "$T/survive" --only '*libsurvive*' | reloc-extract | so-gen -q -o alone
	note() { count-extract -q -O counters alone | map-dump --json | sed -n 's/.*"note":"\([^"]*\)".*/\1/p'; }
	mkdir counters
	LD_LIBRARY_PATH=alone SOPROF_DIR=$PWD/counters "$T/survive" fork
	# readelf tells why
	readelf -W --dyn-syms "$T/survive" | grep -q 'UND fork@'
	[ "$(note)" = "the C library was not profiled: if the program forked, counts may be inexact" ]
	rm counters/*
	LD_LIBRARY_PATH=$PWD/alone SOPROF_DIR=$PWD/counters "$T/lazy" 1
	run ! grep -q 'UND fork@' <(readelf -W --dyn-syms "$T/lazy")
	[ -z "$(note)" ]
	rm counters/*
	run_with out "$T/survive" fork
	[ -z "$(count-extract -q -O counters "$T/out" | map-dump --json | grep 'C library was not')" ]
}
@test "a child's child" { ends grandchild 0 3; }

@test "dlopen, dlclose, dlopen: a file each time" {
	run_with out "$T/lazy" 3
	set -- counters/libsurvive.so.*
	[ $# -eq 3 ]
	for f in "$@"; do
		[ "$(calls out "$f")" = $N ]
	done
}

@test "many processes at once" {
	for _ in $(seq 30); do
		run_with out "$T/survive" fork &
	done
	wait
	set -- counters/libsurvive.so.*
	[ $# -eq 60 ]
	[ "$(calls out "$@")" = $((60 * N)) ]
}

@test "a signal handler counts in the function that it interrupts" {
	expected=$(run_with out "$T/survive" alarm)
	echo "$expected"
	[ "$expected" -gt $((20 * N)) ]
	[ "$(calls out counters/libsurvive.so.*)" = "$expected" ]
}

@test "--atomic is exact with eight threads" {
	run_with atomic "$T/survive" threads
	[ "$(calls atomic counters/libsurvive.so.*)" = $((80 * N)) ]
}

@test "an empty environment, a closed standard error, no file to be had: the program does not notice" {
	mkdir counters
	env -i LD_LIBRARY_PATH="$T/out" SOPROF_DIR="$PWD/counters" "$T/survive" 2>&-
	[ "$(calls out counters/libsurvive.so.*)" = $N ]
	LD_LIBRARY_PATH=$T/out SOPROF_DIR=/nowhere run "$T/survive" return
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

# permitted TABLE COMMAND...: any subset of rows gives the same output and lower counts, and what is left is named
permitted() {
	"$PYTHON" -B "$REPO/test/permissions.py" "$@" >report || { cat report; false; }
	cat report
	grep -q '^range: 0 executions of blocks, [1-9]' report
	! grep -E '^(prologue|table|entry|50 %|90 %).* 0 messages' report
}

@test "deleted rows: libz" {
	gcc -std=c11 -D_GNU_SOURCE -O2 -o zhost "$REPO/test/workloads/host/zhost.c" -lz
	seq 20000 >data
	so-input zhost --only '*libz*' | reloc-extract -o table
	permitted table ./zhost data
}

@test "deleted rows: liblzma with xz" {
	seq 20000 >data
	so-input /usr/bin/xz --only '*liblzma*' | reloc-extract -o table
	permitted table /usr/bin/xz -9c data
}

@test "deleted rows: the C library with bash and sort" {
	so-input /usr/bin/bash --only '*libc.so*' | reloc-extract -o table
	permitted table /usr/bin/bash "$REPO/test/input/permit.sh"
}

@test "deleted rows: libstdc++ and libgcc_s with a program that throws" {
	g++ -O2 -o throws "$REPO/test/input/permit-throw.cc"
	so-input throws --only '*libstdc++*' --only '*libgcc_s*' | reloc-extract -o table
	# The unwinder looks at more or fewer tables.
	permitted --ignore libgcc_s.so.1 table ./throws
}

@test "deleted rows: what is left is named" {
	so-input /usr/bin/xz --only '*liblzma*' | reloc-extract -o table
	so-gen -o whole table 2>said
	[ ! -s said ]
	"$PYTHON" - <<-'END'
	import cbor2
	f = open("table", "rb")
	head, info = cbor2.load(f), cbor2.load(f)
	rows = []
	while (item := cbor2.load(f))[0] != -1:
	    rows.append(item)
	for name, drop in (("all", lambda r: r[0] == 3), ("entries", lambda r: r[0] == 0), ("jumps", lambda r: r[0] == 4), ("words", lambda r: r[0] == 1)):
	    left = [r for r in rows if not drop(r)]
	    with open(name, "wb") as out:
	        for item in [head, info, *left, [-1, len(left)]]:
	            cbor2.dump(item, out, canonical=True)
	one = next(r for r in rows if r[0] == 3 and r[2] > 100 and r[3]["kind"] == "fde")
	rows.remove(one)
	with open("one", "wb") as out:
	    for item in [head, info, *rows, [-1, len(rows)]]:
	        cbor2.dump(item, out, canonical=True)
	open("expected", "w").write(f"0x{one[1]:x}, {one[2]} bytes, not moved: the relocation table has no row for it")
	END
	run so-gen -o o all
	[ "$status" -eq 1 ]
	[[ $output == *"not profiled: nothing in it may move" ]]
	run so-gen -o o one
	[ "$status" -eq 0 ]
	[[ $output == *"$(cat expected)"* ]]
	run so-gen -o o entries
	[[ $output =~ "no rows for "[1-9][0-9]*" function entries" ]]
	run so-gen -o o jumps
	[[ $output =~ " "[1-9][0-9]*" indirect jumps" ]]
	run so-gen -o o words
	[[ $output =~ " "[1-9][0-9]*" addresses in data" ]]
}
