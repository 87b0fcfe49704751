# soprof.bats - record, report, list, clean: the cache, runs at the same moment, what passes through.
load common
bats_require_minimum_version 1.5.0

setup_file() {
	load common
	# What every test starts with: the C library is profiled already.
	export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
	cd "$BATS_FILE_TMPDIR" || return 1
	soprof record -o first true
}

cached() { ls "$XDG_CACHE_HOME"/soprof/*/plain | grep -c "^$1"; }

@test "record runs the program, report tells what it did" {
	seq 2000 >numbers
	soprof record sort -n numbers >sorted
	cmp numbers sorted
	soprof report -n 3 >report
	grep -q 'instructions executed' report
	grep -q ' sort$' report
	grep -q ' libc.so.6$' report
	grep -q 'the loader itself' report
	[ "$(soprof report --json | "$PYTHON" -c 'import json, sys; print([o["processes"] for o in json.load(sys.stdin)["objects"] if o["object"] == "sort"])')" = "[1]" ]
	soprof list -i soprof.data | grep -qx /usr/bin/sort
	soprof list | grep -q 'plain  libc.so.6~'
}

@test "a second record profiles nothing, a newer file is profiled again" {
	cp /usr/bin/true true
	soprof record ./true
	[ "$(cached true~)" = 2 ]	# and that of /usr/bin
	before=$(ls -l --time-style=full-iso "$XDG_CACHE_HOME"/soprof/*/plain | grep -v total)
	soprof record ./true
	[ "$(ls -l --time-style=full-iso "$XDG_CACHE_HOME"/soprof/*/plain | grep -v total)" = "$before" ]
	cp /usr/bin/false true
	run -1 soprof record ./true
	[ -z "$output" ]
	[ "$(cached true~)" = 3 ]
	soprof report -n 1 | grep -q ' true$'
	[ -e soprof.data.old/.soprof-index ]
}

@test "status, arguments, standard input and signals pass through" {
	run -7 soprof record sh -c 'exit 7'
	run -127 soprof record no-such-program
	run -2 soprof record
	run -2 soprof
	[ "$(echo 'a  b' | soprof record cat)" = "a  b" ]
	[ "$(soprof record printf '%s|' 'a b' '' '*' "\$x")" = 'a b||*|$x|' ]
	soprof record -o run sleep 60 &
	pid=$!
	until ls run/sleep~*.$pid.0 >list 2>&1; do sleep 0.02; done
	kill -INT $pid || true
	kill $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 143 ]
}

@test "the environment is the program's own, with three names more" {
	env | sort >before
	soprof record env | sort >after
	"$BIN/soprof" record env | sort >after2
	"$BIN/soprof" record --discover env | sort >after3
	for file in after after2 after3; do
		[ "$(diff before $file | sed -n 's/^\([<>]\) \([A-Z_]*\)=.*/\1 \2/p' | grep -v '[<>] _$' | paste -sd ' ')" = "> GLIBC_TUNABLES > LD_AUDIT > SOPROF_DIR" ]
	done
}

@test "plug-ins and what a program starts: seen in one record, counted in the next, or at once with --discover" {
	gcc -shared -fPIC -O2 -o plugin.so "$REPO/test/input/loader-lib.c"
	gcc -O2 -D_GNU_SOURCE -o opens "$REPO/test/input/loader-app.c"
	printf '#!/bin/sh\necho run >>runs\n./opens dlopen "$PWD/plugin.so"\n' >script
	chmod +x script
	entered() { soprof report "$@" --json --function hit 2>said | "$PYTHON" -c 'import json, sys; print([f["entered"] for f in json.load(sys.stdin)["functions"]])'; }
	./script >plain
	soprof record ./script >first
	[ "$(entered)" = "[]" ]
	grep -q '^soprof: 2 objects were seen first in this run, and not counted' said
	soprof record ./script >second
	[ "$(entered)" = "[1]" ]
	[ ! -s said ]
	[ "$(grep -v 'the loader itself' soprof.data/not-profiled)" = "" ]
	[ "$(wc -l <runs)" = 3 ]
	# another run directory, and a run that another program's took the place of
	soprof record -o other ./script >third
	[ "$(entered -i other)" = "[1]" ]
	# at once: it runs twice, and shows one run's output
	export XDG_CACHE_HOME=$PWD/cache
	soprof record -o discovered --discover ./script >fourth 2>said
	[ "$(entered -i discovered)" = "[1]" ]
	[ "$(wc -l <runs)" = 6 ]
	[ "$(cat fourth)" = "$(cat plain)" ]
	cmp plain first && cmp plain second && cmp plain third
	# input that is a file is read by both; a message of the last run only
	seq 3 >numbers
	[ "$(soprof record -o cat --discover cat <numbers)" = "$(cat numbers)" ]
	[ "$(seq 3 | soprof record -o cat2 --discover cat)" = "$(cat numbers)" ]
	run -7 soprof record -o sh --discover sh -c 'echo once >&2; exit 7'
	[ "$output" = once ]
	# of another program nothing is learned
	soprof record true
	[ "$(cat "$XDG_CACHE_HOME"/soprof/*/seen/*true* 2>/dev/null)" = "" ]
}

@test "--discover: the first run can be ended" {
	soprof record --discover sleep 60 &
	pid=$!
	until pgrep -P $pid -x sleep >child; do sleep 0.02; done
	kill $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 143 ]
	for _ in $(seq 100); do kill -0 "$(cat child)" 2>/dev/null || break; sleep 0.02; done
	run ! kill -0 "$(cat child)"
	[ ! -e soprof.data ]
}

@test "a script: the program that runs it is profiled" {
	printf '#!/usr/bin/env awk -f\n' >awk-script
	printf '#!/bin/sh\necho "$1"; exit 3\n' >script
	chmod +x script
	run -3 soprof record ./script 'x y'
	[ "$output" = "x y" ]
	soprof list -i soprof.data | grep -q 'bin/dash$'
}

@test "--atomic, --no-app, --also" {
	soprof record --no-app true
	[ "$(soprof report --json | "$PYTHON" -c 'import json, sys; d = json.load(sys.stdin); print([o["object"] for o in d["objects"]], [o["object"] for o in d["not_profiled"] if "true" in o["object"]])')" = "['libc.so.6'] ['/usr/bin/true']" ]
	gcc -shared -fPIC -O2 -o 'lib a.so' "$REPO/test/input/loader-lib.c"
	gcc -O2 -D_GNU_SOURCE -o opens "$REPO/test/input/loader-app.c"
	soprof record --also "$PWD/lib a.so" ./opens dlopen "$PWD/lib a.so"
	[ "$(soprof report --json --function hit | "$PYTHON" -c 'import json, sys; print([f["entered"] for f in json.load(sys.stdin)["functions"]])')" = "[1]" ]
}

@test "a program with a fixed address: one row for a kind of reason" {
	soprof record /usr/bin/python3.11 -S -c 1
	soprof report -n 1 | grep ' python3.11 .*room for a jump' >rows
	[ "$(wc -l <rows)" = 1 ]
	count-extract -q soprof.data | map-dump --json | grep -c '"why":"it keeps its old address, and at 0x[0-9a-f]* there is no room' >ranges
	[ "$(awk '{ print $3 }' rows)" = "$(cat ranges)" ]
}

@test "records at the same moment, with an empty cache" {
	export XDG_CACHE_HOME=$PWD/cache
	for i in 1 2 3 4; do
		( soprof record -o run$i /usr/bin/expr $i + $i >out$i ) &
	done
	wait
	for i in 1 2 3 4; do
		[ "$(cat out$i)" = $((i + i)) ]
		[ "$(soprof report -i run$i --json | "$PYTHON" -c 'import json, sys; print(sorted(o["object"] for o in json.load(sys.stdin)["objects"] if o["processes"]))')" = "['expr', 'libc.so.6', 'libgmp.so.10']" ]
	done
	[ -z "$(ls -d cache/soprof/*/work.* 2>/dev/null)" ]
}

@test "the cache is bounded, and clean empties it" {
	export XDG_CACHE_HOME=$PWD/cache SOPROF_CACHE_MAX=6
	for p in true false expr; do soprof record -o $p $p 1 >output || true; done
	[ "$(du -sm cache | cut -f 1)" -le 7 ]
	# what was put out is made again when it is wanted
	soprof record -o again true
	[ "$(soprof report -i again --json | "$PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)["objects"]))')" -ge 1 ]
	soprof clean
	[ -d cache/soprof ]
	soprof clean --all
	[ ! -d cache/soprof ]
	run -1 soprof report -i false
	[[ $output == *"not there any more"* ]]
}

@test "what is no recorded run is not overwritten" {
	mkdir soprof.data && echo mine >soprof.data/file
	run -1 soprof record true
	[ "$(cat soprof.data/file)" = mine ]
	run -1 soprof report
}

@test "wrong use is named, and help asked for is no error" {
	says() { local want=$1; shift; run -2 soprof "$@"; [[ ${lines[0]} == "soprof: $want" ]] && [[ ${lines[1]} == "usage: "* ]]; }
	says "no command"
	says "no command recrod" recrod true
	says "record needs a program" record
	says "record has no option --bogus" record --bogus true
	says "-o needs a directory" record -o
	says "--also needs a file" record --also
	says "list takes no x" list x
	says "clean takes no everything" clean everything
	for words in --help "record --help" "list -h" "clean --help" "report --help"; do
		run -0 --separate-stderr soprof $words
		[[ ${lines[0]} == "usage: "* ]] && [ -z "$stderr" ]
	done
}

@test "what cannot be run is named with the reason, as a shell would tell it" {
	mkdir folder
	printf 'text' >text
	run -126 soprof record ./folder
	[[ $output == "soprof: ./folder: a directory" ]]
	run -126 soprof record ./text
	[[ $output == "soprof: ./text: cannot run it: no permission" ]]
	run -127 soprof record ./none
	run -127 soprof record ""
	[ ! -e soprof.data ]
	printf '#!%s/loop\n' "$PWD" >loop
	chmod +x loop
	run -126 soprof record ./loop
	[[ $output == *"scripts that run scripts, without end" ]]
}

@test "a script by env: behind its options and variables" {
	for line in "-S cat" "-Scat" "-S X=1 cat" "cat"; do
		printf '#!/usr/bin/env %s\ntext\n' "$line" >script
		chmod +x script
		cp script before
		[ "$(soprof record ./script)" = "$(cat before)" ]
		soprof report | grep -q ' cat$'
	done
}

@test "-q, -v, and options glued to what they take; report -i of a source file" {
	run -0 --separate-stderr soprof record -v -orun true
	[[ $stderr == *"$PWD/run"* ]]
	run -0 --separate-stderr soprof record --no-app -q -o run true
	[ -z "$stderr" ]
	soprof list -irun | grep -q libc
	soprof report -irun -n 1 | grep -q libc
	run -1 soprof list -i nothing
	[[ $output == "soprof: nothing: no recorded run here"* ]]
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >source.c
	gcc -g -o app source.c
	soprof record ./app
	soprof report -i source.c | grep -qE '^ +1 .*return 0;'
}

@test "a program that may be run and not read" {
	[ "$(id -u)" -eq 0 ] || skip "only root can run a program as somebody else"
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups env)
	open=$(mktemp -d)		# the test's own folder is root's alone
	chmod 777 "$open"
	cp /usr/bin/true "$open/secret"
	chmod 711 "$open/secret"
	if ! "${as[@]}" test -x "$BIN/so-run"; then
		rm -rf "$open"
		skip "the programs are in a folder that others cannot read"
	fi
	run -0 --separate-stderr "${as[@]}" XDG_CACHE_HOME="$open/cache" "$BIN/soprof" record -o "$open/one" "$open/secret"
	rm -rf "$open"
	[ "$(grep -c 'secret: Permission denied' <<<"$stderr")" -eq 1 ]
	[[ $stderr != *"parameter not set"* ]]
}

@test "no place for the cache; no counter files" {
	touch file
	XDG_CACHE_HOME=$PWD/file run -1 soprof record true
	[[ $output == "soprof: $PWD/file/soprof/"*": cannot make the cache; XDG_CACHE_HOME says where" ]]
	SOPROF_MAX=0 soprof record true
	run -0 --separate-stderr soprof report
	[[ $stderr == "soprof: soprof.data: no counter files: "* ]]
	soprof record true
	run -0 --separate-stderr soprof report
	[ -z "$stderr" ]
}

@test "a static program, with an empty cache too" {
	printf '#include <stdio.h>\nint main(void) { puts("static"); return 3; }\n' >static.c
	gcc -static -o static static.c
	for cache in "$XDG_CACHE_HOME" "$PWD/empty"; do
		XDG_CACHE_HOME=$cache run -3 --separate-stderr soprof record ./static
		[ "$output" = static ]
		[[ $stderr == *"a static program"* ]]
	done
}

@test "what other programs in the cache have of thread-local storage is not taken from this one's stacks" {
	printf '__thread char big[100000]; int f(int i) { return big[i]; }\n' >big.c
	printf 'int f(int i); int main(void) { return f(3); }\n' >user.c
	gcc -shared -fPIC -o libbig.so big.c
	gcc -o user user.c -L. -lbig -Wl,-rpath,"$PWD"
	cat >small.c <<-'END'
	#include <limits.h>
	#include <pthread.h>
	#include <stdio.h>
	static void *thread(void *x) { return x; }
	int main(void)
	{
		pthread_attr_t a;
		pthread_t t;

		pthread_attr_init(&a);
		pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
		printf("%d\n", pthread_create(&t, &a, thread, NULL));
		return 0;
	}
	END
	gcc -pthread -o small small.c
	soprof record ./user
	soprof record ./small >printed
	[ "$(cat printed)" = "$(./small)" ] && [ "$(./small)" = 0 ]
	soprof record ./user
}
