#!/usr/bin/env bats
# What runs inside a profiled process, called as the stubs of a real object call it (input/runtime-host.c).
load common
bats_require_minimum_version 1.5.0

setup_file() {
	export HOST=$BATS_FILE_TMPDIR/host
	REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	gcc -std=c11 -Wall -Wextra -I"$REPO" -D_GNU_SOURCE -O1 -pthread -static -o "$HOST" "$REPO/test/input/runtime-host.c"
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

field() { "$PYTHON" "$REPO/test/counter_file.py" --field "$1" "$2"; }
counter() { "$PYTHON" "$REPO/test/counter_file.py" --counter "$1" "$2"; }
total() { "$PYTHON" "$REPO/test/counter_file.py" --total "$@"; }
usage() { od -An -tu4 "$1/.soprof-usage" | tr -s ' '; }
# The one counter file whose field has that value.
file_with() {
	local f
	for f in "$D"/*.*.*; do [ "$(field "$1" "$f")" != "$2" ] || echo "$f"; done
}
need_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

@test "the counts up to a SIGKILL are in the file, those made before it was opened too" {
	run "$HOST" object libx.so.1 "$D" 3000 count 0 5 count 2999 7 init count 0 1000003 kill 9
	[ "$status" -eq 137 ]
	f=$(echo "$D"/libx.so.1.*.0)
	[ "$(counter 0 "$f")" = 1000008 ]
	[ "$(counter 2999 "$f")" = 7 ]
	[ "$(total "$f")" = 1000015 ]
}

@test "the other ends: _exit, abort, exit, exec" {
	"$HOST" object a "$D" 10 init count 1 11 _exit
	run "$HOST" object b "$D" 10 init count 1 12 kill 6
	[ "$status" -eq 134 ]
	"$HOST" object c "$D" 10 init count 1 13
	"$HOST" object e "$D" 10 init count 1 14 exec object e "$D" 10 init count 1 15
	[ "$(total "$D"/a.*.0)" = 11 ] && [ "$(total "$D"/b.*.0)" = 12 ] && [ "$(total "$D"/c.*.0)" = 13 ]
	[ "$(total "$D"/e.*.0)" = 14 ] && [ "$(total "$D"/e.*.1)" = 15 ]
}

@test "header, mode, size and blocks of the file" {
	before=$(date +%s%N)
	run "$HOST" object lib/y.so "$D" 1000 descriptor init state descriptor
	[ "$status" -eq 0 ]
	[[ ${lines[1]} =~ ^first\ lib/y.so\ pid\ ([0-9]+)\ state\ 1\ error\ 0\ alive\ 1\ flags\ 0$ ]]
	pid=${BASH_REMATCH[1]}
	[ "${lines[0]}" = "${lines[2]}" ]
	f=$D/y.so.$pid.0
	[ "$(stat -c '%a %s' "$f")" = "600 12288" ]
	[ "$(stat -c %b "$f")" -ge 24 ]
	[ "$(field pid "$f")" = "$pid" ]
	[ "$(field parent "$f")" = 0 ]
	[ "$(field serial "$f")" = 0 ]
	[ "$(field executable "$f")" = "$(readlink -f "$HOST")" ]
	[ "$(field limit "$f")" = 8589934592 ]
	[ "$(field build_id "$f")" = abababababababababababababababababababab ]
	[ "$(field start_ns "$f")" -ge "$before" ] && [ "$(field start_ns "$f")" -le "$(date +%s%N)" ]
	# the host's link-time address is 0x5000; its segments lie on page boundaries
	[ $(($(field load_bias "$f") % 4096)) -eq 0 ]
	[ "$(usage d)" = " 3 0 0 0" ]
}

@test "a taken name: the next number" {
	"$HOST" object x "$D" 10 init count 0 1 exec object x "$D" 10 init count 0 2 exec object x "$D" 10 init count 0 3
	[ "$(ls "$D" | sed 's/.*\.//' | tr '\n' ' ')" = "0 1 2 " ]
	[ "$(total "$D"/x.*.2)" = 3 ]
	[ "$(field serial "$D"/x.*.2)" = 2 ]
}

@test "a symbolic link in the place of the file is not followed" {
	# the same process makes both: its number is known once it runs
	( sh -c 'ln -s "$0/stolen" "$1/x.$$.0"; exec "$2" object x "$1" 10 init count 0 4' "$PWD" "$D" "$HOST" )
	[ ! -e stolen ]
	[ -L "$(echo "$D"/x.*.0)" ]
	[ "$(total "$D"/x.*.1)" = 4 ]
}

@test "a symbolic link in the place of the usage file is not followed, and the cap is kept by looking" {
	echo precious > victim
	ln -s "$PWD/victim" d/.soprof-usage
	"$HOST" object x "$D" 10 init
	SOPROF_MAX=10000 "$HOST" object x "$D" 10 init
	[ "$(cat victim)" = precious ]
	[ "$(ls d/x.* | wc -l)" = 1 ]
}

@test "SOPROF_DIR, also as the last of many variables; too long or empty: the fixed directory" {
	mkdir elsewhere
	env -i A="$(head -c 60000 /dev/zero | tr '\0' a)" XSOPROF_DIR=/no SOPROF_DIRX=/no SOPROF_DIR="$PWD/elsewhere" \
		"$HOST" object x "$D" 10 init count 0 9
	[ "$(total elsewhere/x.*.0)" = 9 ]
	[ -z "$(ls "$D")" ]
	SOPROF_DIR= "$HOST" object x "$D" 10 init count 0 10
	[ "$(total "$D"/x.*.0)" = 10 ]
	SOPROF_DIR=/$(head -c 1023 /dev/zero | tr '\0' a) "$HOST" object z "$D" 10 init count 0 11
	[ "$(total "$D"/z.*.0)" = 11 ]
}

@test "no /proc: the environment that constructors are given, if it is one" {
	need_root
	unshare -m true 2> error || skip "no mount namespaces: $(cat error)"
	mkdir elsewhere
	without_proc() { env -i A="$(head -c 60000 /dev/zero | tr '\0' a)" SOPROF_DIR="$PWD/elsewhere" B=b unshare -m sh -c 'umount -l /proc && exec "$@"' - "$HOST" "$@"; }
	without_proc object x "$D" 10 init count 0 9
	[ "$(total elsewhere/x.*.0)" = 9 ]
	[ -z "$(ls "$D")" ]
	# nothing, an odd address, one that is not mapped, one that is no address at all
	n=0
	for given in 0 1 0x10000 0x7fffffffffff0 0xfffffffffffffff8; do
		without_proc object y "$D" 10 given $given init count 0 7
		n=$((n + 1))
		[ "$(total "$D"/y.*.0 | grep -c '^7$')" = $n ]
	done
	[ "$(ls elsewhere | wc -l)" = 1 ]
}

@test "a privileged program does not listen to the environment" {
	need_root
	cp "$HOST" setuid-host && chown 65534 setuid-host && chmod 4755 setuid-host
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" 2> error || true
	chmod 777 d
	mkdir -m 777 elsewhere
	[ "$(stat -f -c %T .)" != nfs ] && ! findmnt -n -o OPTIONS -T . | grep -q nosuid || skip "no set-user-ID programs here"
	SOPROF_DIR=$PWD/elsewhere ./setuid-host object x "$D" 10 init count 0 9
	[ -z "$(ls -A elsewhere)" ]
	[ "$(total "$D"/x.*.0)" = 9 ]
}

@test "no directory, no right, a file in its place: counting goes on in private memory" {
	run "$HOST" object x "$PWD/none" 10 init state count 0 5 print 0
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *"state 3 error 2 alive 1 "* ]]
	[ "${lines[1]}" = "first 5" ]
	touch f
	run "$HOST" object x "$PWD/f" 10 init state fork state
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *"state 3 error 20 alive 1 "* ]]
	[ "${#lines[@]}" -eq 3 ]
}

@test "an unwritable directory" {
	need_root
	cp "$HOST" h && chmod 755 "$BATS_TEST_TMPDIR" h && chmod 555 d
	run "$HOST" object x "$D" 10 setuid 65534 init state count 0 5 print 0
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *"state 6 error 13 alive 1 "* || ${lines[0]} == *"state 3 error 13 alive 1 "* ]]
	[ -z "$(ls "$D")" ]
}

@test "no free file descriptor" {
	run "$HOST" object x "$D" 10 nofile 3 init state count 0 5 print 0
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *"state 3 error 24 alive 1 "* ]]
	[ "${lines[1]}" = "first 5" ]
}

@test "RLIMIT_FSIZE: no signal, no file" {
	run "$HOST" object x "$D" 1000 fsize 12287 init state count 0 5 print 0
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *"state 4 error 0 alive 1 "* ]]
	[ "${lines[1]}" = "first 5" ]
	[ -z "$(ls -A "$D")" ]
	"$HOST" object x "$D" 1000 fsize 12288 init count 0 6
	[ "$(total "$D"/x.*.0)" = 6 ]
}

@test "a full file system: no SIGBUS, nothing is left" {
	need_root
	mkdir full
	mount -t tmpfs -o size=64k none full 2> error || skip "cannot mount a tmpfs: $(cat error)"
	run "$HOST" object x "$PWD/full" 20000 init state count 19999 5 count 0 1 print 19999
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *"state 7 error 28 alive 1 "* ]]
	[ "${lines[1]}" = "first 5" ]
	[ "$(ls full)" = "" ]
	[ "$(usage full)" = " 0 0 0 0" ]
	# what was reserved is there, whoever fills the disk later
	run "$HOST" object x "$PWD/full" 4000 init p:"wait-file $PWD/full/junk" count 3999 5 &
	until ls full/x.*.0 > list 2> error; do sleep 0.01; done
	head -c 1M /dev/zero > full/fill 2> error || true
	ln -s / full/junk
	wait
	[ "$(counter 3999 full/x.*.0)" = 5 ]
}

@test "a file system that cannot reserve: the zeros are written" {
	command -v strace > list || skip "no strace"
	for error in EOPNOTSUPP ENOSYS EINTR; do
		rm -f d/x.*
		strace -f -e inject=fallocate:error=$error -o trace "$HOST" object x "$D" 1000 count 999 2 init fork count 0 1000003
		grep -q 'fallocate.*INJECTED' trace || skip "strace cannot inject here"
		f=$(file_with parent 0)
		[ "$(total "$f")" = 1000005 ]
		[ "$(stat -c %b "$f")" -ge 24 ]
		g=$(file_with flags 2)
		[ "$(total "$g")" = 1000003 ]
		[ "$(stat -c %b "$g")" -ge 24 ]
	done
}

@test "a file that was not finished begins with zeros" {
	command -v strace > list || skip "no strace"
	run -137 strace -e inject=pwrite64:signal=KILL:when=2 -e trace=pwrite64 -o trace "$HOST" object x "$D" 1000 count 0 1 count 999 2 init
	[ "$(head -c 4096 "$D"/x.*.0 | tr -d '\0' | wc -c)" = 0 ]
	run "$PYTHON" "$REPO/test/counter_file.py" "$D"/x.*.0
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "a directory with a path longer than any that can be opened" {
	p=$PWD/d
	( for i in $(seq 25); do mkdir "$(printf 'a%.0s' {1..200})" && cd "$(printf 'a%.0s' {1..200})" || exit 1; done
	SOPROF_DIR=. "$HOST" object x /none 100 init count 0 5 fork count 0 1000003 print 0 > "$p/../printed"
	"$PYTHON" "$REPO/test/counter_file.py" x.*.0 > "$p/../decoded"; cd "$p/.." )
	[ "$(sort printed | tr '\n' ' ')" = "child 1000003 first 1000008 " ]
	grep -qx 'counter 0: 1000008' decoded
	grep -qx 'flags: 16' decoded
}

@test "every system call that fails leaves a program that works" {
	command -v strace > list || skip "no strace"
	for call in openat fallocate pwrite64 ftruncate prlimit64 madvise mremap readlinkat clock_gettime statx; do
		for error in ENOSYS ENOSPC EPERM ENOMEM; do
			run strace -f -e inject=$call:error=$error -e trace=$call -o trace "$HOST" object x "$D" 1000 init count 0 5 fork count 0 6 print 0
			[ "$status" -eq 0 ]
			grep -q INJECTED trace
			# one memory for both where forks cannot be watched: then the file says so
			case $call in madvise | mremap) values='6|11|17' ;; *) values='6|11' ;; esac
			[ "$(printf '%s\n' "${lines[@]}" | grep -cE "^(first|child) ($values)$")" -eq 2 ]
		done
	done
	[ "$(find d -size 0 | wc -l)" -eq 0 ]
}

@test "a kernel without MADV_WIPEONFORK: the file says so" {
	command -v strace > list || skip "no strace"
	strace -e inject=madvise:error=EINVAL -o trace "$HOST" object x "$D" 10 init count 0 1
	grep -q INJECTED trace || skip "strace cannot inject here"
	[ "$(field flags "$D"/x.*.0)" = 4 ]
}

@test "an emulator that says yes to any advice is found out: forks are told by the process number" {
	command -v strace > list || skip "no strace"
	strace -f -e inject=madvise:retval=0 -o trace "$HOST" object x "$D" 10 object y "$D" 20 init count 0 1 fork count 0 1003 fork count 0 9 state > states
	grep -q INJECTED trace || skip "strace cannot inject here"
	# all four processes have files of their own, and are asked again at each system call
	[ "$(grep -c 'state 1 error 0 alive 0' states)" = 8 ]
	for o in x y; do
		[ "$(for f in "$D"/$o.*; do total "$f"; done | sort -n | tr '\n' ' ')" = "9 9 1012 1013 " ]
		[ "$(for f in "$D"/$o.*; do field flags "$f"; done | sort | tr '\n' ' ')" = "0 2 2 2 " ]
	done
}

@test "fork: parent and child each count into a file of their own, exactly" {
	run "$HOST" object libx "$D" 3000 init count 7 5 fork count 7 1000003 state
	[ "$status" -eq 0 ]
	f=$(file_with parent 0)
	g=$(file_with flags 2)
	[ "$(total "$f")" = 1000008 ]
	[ "$(total "$g")" = 1000003 ]
	[ "$(field parent "$g")" = "$(field pid "$f")" ]
	[ "$(field flags "$f")" = 0 ]
	[ "$g" = "$D/libx.$(field pid "$g").0" ]
	[ "$(field load_bias "$g")" = "$(field load_bias "$f")" ]
	[ "$(field start_ns "$g")" -gt "$(field start_ns "$f")" ]
	[ "$(field executable "$g")" = "$(readlink -f "$HOST")" ]
	[ "$(usage d)" = " 14 0 0 0" ]
}

@test "fork: ten objects, three generations, all exact" {
	objects=()
	for i in 1 2 3 4 5 6 7 8 9 10; do objects+=(object "lib$i.so" "$D" $((i * 600))); done
	run "$HOST" "${objects[@]}" init count 3 10 fork count 3 100 fork count 3 1000 fork count 3 10007 wait
	[ "$status" -eq 0 ]
	for i in 1 10; do
		totals=$(for f in "$D/lib$i.so".*; do total "$f"; done | sort -n | tr '\n' ' ')
		[ "$totals" = "10007 10007 10007 10007 11007 11007 11107 11117 " ]
	done
	[ "$(ls "$D" | wc -l)" -eq 80 ]
}

@test "under valgrind, as the oracles run it: the same files and no message" {
	command -v valgrind > list || skip "no valgrind"
	run valgrind -q --tool=none "$HOST" object x "$D" 1000 init count 0 5 fork count 0 1003
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
	[ "$(total "$(file_with parent 0)")" = 1008 ]
	[ "$(total "$(file_with flags 2)")" = 1003 ]
}

@test "fork from a process with threads; the thread goes on in the parent" {
	run "$HOST" object x "$D" 100 init thread 1 30000019 fork count 2 1000003 p:join
	[ "$status" -eq 0 ]
	f=$(file_with parent 0)
	[ "$(counter 1 "$f")" = 30000019 ] && [ "$(counter 2 "$f")" = 1000003 ]
	[ "$(total "$(file_with flags 2)")" = 1000003 ]
}

@test "vfork shares the memory: nothing is done, nothing is lost" {
	run "$HOST" object x "$D" 100 init vfork 1 1000003 count 1 2
	[ "$status" -eq 0 ]
	[ "$(ls "$D" | wc -l)" -eq 1 ]
	[ "$(total "$D"/x.*.0)" = 1000005 ]
}

@test "fork: spaces in the directory, a deleted file, a changed working directory" {
	mkdir "d/a (deleted)  b"
	run env SOPROF_DIR="d/a (deleted)  b" "$HOST" object "my lib.so" /none 100 init chdir / unlink "$D/none" fork count 1 3
	[ "$status" -eq 0 ]
	D="$D/a (deleted)  b"
	[ "$(ls "$D" | wc -l)" -eq 2 ]
	f=$(file_with parent 0)
	[ "$(total "$f")" = 3 ]
	rm "$D"/*
	run "$HOST" object x "$D" 100 init count 1 2 p:"wait-file $PWD/go" fork count 1 3 state &
	until ls "$D"/x.*.0 > list 2> error; do sleep 0.01; done
	rm "$D"/x.*
	touch go
	wait
	[ "$(ls "$D" | wc -l)" -eq 1 ]
	[ "$(field flags "$D"/x.*)" = 2 ]
	[ "$(total "$D"/x.*)" = 3 ]
}

@test "fork: a mapping in pieces is replaced whole" {
	run "$HOST" object x "$D" 3000 init split 2 count 2999 1 count 600 1 fork count 2999 5 count 600 5
	[ "$status" -eq 0 ]
	f=$(file_with parent 0)
	[ "$(counter 2999 "$f")" = 6 ] && [ "$(counter 600 "$f")" = 6 ]
	g=$(file_with flags 2)
	[ "$(counter 2999 "$g")" = 5 ] && [ "$(counter 600 "$g")" = 5 ]
}

@test "fork: another mapping with a name like ours whose file was cut is not read" {
	run "$HOST" cut-mapping "$D/lib.so.1.0" object x "$D" 10 init cut-mapping "$D/lib.so.1.1" fork count 1 4 state
	[ "$status" -eq 0 ]
	[ "$(total "$(file_with_only)")" = 4 ]
}
file_with_only() {
	local f
	for f in "$D"/x.*; do [ "$(field flags "$f")" != 2 ] || echo "$f"; done
}

@test "fork: no file for the child: the parent's counts stay exact and the parent's file says so" {
	run "$HOST" object x "$D" 1000 init count 0 5 fsize 4096 fork count 0 1000003 state print 0
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '^child x .* state 4 ')" -eq 1 ]
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '^child 1000003$')" -eq 1 ]
	[ "$(ls "$D" | wc -l)" -eq 1 ]
	[ "$(total "$D"/x.*.0)" = 1000008 ]
	[ "$(field flags "$D"/x.*.0)" = 16 ]
}

@test "fork: nothing can be opened: all objects are separated, and the parent's files say so" {
	run "$HOST" object x "$D" 1000 object y "$D" 20 object z "$D" 3000 init count 0 5 nofile 3 fork count 0 1000003 fork count 0 1000 state
	[ "$status" -eq 0 ]
	for o in x y z; do
		[ "$(printf '%s\n' "${lines[@]}" | grep -c "^child $o .* state 9 ")" -eq 3 ]
		[ "$(total "$D"/$o.*.0)" = 1001008 ]
		[ "$(field flags "$D"/$o.*.0)" = 16 ]
	done
}

@test "fork: nothing can be opened, and something else is where the list of objects would be: the one that noticed is separated, and the parent's file says so" {
	run "$HOST" occupy object x "$D" 1000 init count 0 5 nofile 3 fork count 0 1000003 state occupied
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '^child x .* state 9 ')" -eq 1 ]
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '^occupied as before$')" -eq 2 ]
	[ "$(total "$D"/x.*.0)" = 1000008 ]
	[ "$(field flags "$D"/x.*.0)" = 4 ]
}

@test "fork after setuid or chroot: private memory, no crash" {
	need_root
	mkdir root
	chmod 700 d
	run "$HOST" object x "$D" 1000 init count 0 5 setuid 65534 fork count 0 1000003 print 0
	[ "$status" -eq 0 ]
	[ "$(total "$D"/x.*.0)" = 1000008 ]
	rm "$D"/x.*
	run "$HOST" object x "$D" 1000 init count 0 5 chroot "$PWD/root" fork count 0 1000003 print 0
	[ "$status" -eq 0 ]
	[ "$(total "$D"/x.*.0)" = 1000008 ]
	[ -z "$(ls -A root)" ]
}

@test "pid namespaces: process 1 twice in one directory" {
	need_root
	unshare --pid true 2> error || skip "no pid namespaces: $(cat error)"
	unshare --pid --fork "$HOST" object x "$D" 10 init count 0 3
	unshare --pid --fork "$HOST" object x "$D" 10 init count 0 4 fork count 0 5 unshare-pid c:"fork"
	[ "$(total "$D"/x.1.0)" = 3 ]
	[ "$(total "$D"/x.1.1)" = 9 ]
	[ "$(total "$D"/x.2.0)" = 5 ]
}

@test "the cap: files above it are refused and counted; removed files make room again" {
	export SOPROF_MAX=36864
	for i in 1 2 3 4 5; do "$HOST" object x "$D" 1000 init count 0 1; done
	[ "$(ls "$D" | wc -l)" -eq 3 ]
	[[ $(usage d) =~ ^\ 9\ 2\  ]]
	run "$HOST" object x "$D" 1000 init state count 0 5 print 0
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *"state 5 error 0 alive 1 "* ]]
	rm "$(ls "$D"/x.* | head -n 1)"
	sleep 1.1
	"$HOST" object x "$D" 1000 init count 0 77
	[ "$(ls "$D" | wc -l)" -eq 3 ]
	[ "$(total "$D"/x.* | grep -c '^77$')" -eq 1 ]
}

@test "SOPROF_MAX=0 writes nothing at all; a number that is none is the default" {
	SOPROF_MAX=0 "$HOST" object x "$D" 10 init
	[ -z "$(ls -A "$D")" ]
	SOPROF_MAX=1G "$HOST" object x "$D" 10 init
	[ "$(field limit "$D"/x.*.0)" = 8589934592 ]
	SOPROF_MAX=99999999999999999999 "$HOST" object y "$D" 10 init
	[ "$(field limit "$D"/y.*.0)" = 18446744073709551615 ]
}

@test "the cap holds with many processes at once" {
	export SOPROF_MAX=$((50 * 12288))
	for i in $(seq 4); do
		( for j in $(seq 25); do "$HOST" object x "$D" 1000 init count 0 1 fork count 0 1; done ) &
	done
	wait
	[ "$(ls "$D" | wc -l)" -le 50 ]
	# a file may have been counted twice while many were at it: that is put right once a second
	sleep 1.1
	for i in 1 2 3; do "$HOST" object x "$D" 1000 init count 0 1 fork count 0 1; done
	[ "$(ls "$D" | wc -l)" -le 50 ] && [ "$(ls "$D" | wc -l)" -ge 48 ]
	[ "$(total "$D"/x.* | sort -u | tr '\n' ' ')" = "1 2 " ] || [ "$(total "$D"/x.* | sort -u)" = 1 ]
}

@test "a header of another version is left alone" {
	run "$HOST" object "" "$D" 10 init state count 0 1
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *" state 2 "* ]]
	[ -z "$(ls -A "$D")" ]
}

@test "less than 8 KiB of stack" {
	run "$HOST" object x "$D" 10 measure init fork
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	for line in "${lines[@]}"; do [ "${line#stack }" -gt 0 ] && [ "${line#stack }" -lt 8192 ]; done
}

@test "the blob: no vector registers, no call out of it, made again byte by byte" {
	for tool in clang-14 ld.lld-14 llvm-objcopy-14; do command -v $tool > list || skip "no $tool"; done
	mkdir -p build
	cat > m.mk <<-END
		BUILD = $PWD/build
		include runtime/rules.mk
	END
	make -s -C "$REPO" -f "$PWD/m.mk" "$PWD/build/runtime/x86_64/blob.h" > log 2>&1
	cmp build/runtime/x86_64/blob.h "$REPO/runtime/blob-x86_64.h"
	size=$(grep -o '0x..,' "$REPO/runtime/blob-x86_64.h" | wc -l)
	end=0x$(nm build/runtime/x86_64/blob.elf | awk '$3 == "blob_code_end" { print $1 }')
	[ $((end)) -gt 4096 ] && [ $((end)) -lt "$size" ]
	objdump -d -j .blob --stop-address="$end" build/runtime/x86_64/blob.elf > listing
	[ "$(grep -c 'syscall' listing)" -gt 10 ]
	[ "$(grep -cE '%[xyz]mm|%st|%[fg]s|\(bad\)' listing)" = 0 ]
	[ "$(readelf -rW build/runtime/x86_64/blob.elf | grep -c 'R_X86')" = 0 ]
	# every call and jump stays inside
	grep -oE '\s(call|jmp|j[a-z]+) +[0-9a-f]+ <' listing | awk '{ print $2 }' | sort -u > targets
	[ "$(wc -l < targets)" -gt 50 ]
	while read -r to; do [ $((0x$to)) -lt $((end)) ]; done < targets
	[ "$(grep -cE '\s(call|jmp) +\*' listing)" = 0 ]
}
