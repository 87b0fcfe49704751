# processes.bats - programs that are counted whole, executable and all: how they end, what confines them, threads, odd moments.
# What the pipeline's own tests show of forks, exec and signals (pipeline.bats) and of directories (runtime.bats) is not repeated.
load common
bats_require_minimum_version 1.5.0

N=1000003

setup_file() {
	load common
	export T=$BATS_FILE_TMPDIR
	cd "$T" || return 1
	gcc -O2 -fPIC -shared -o libprocess.so "$REPO/test/input/process-lib.c"
	gcc -O2 -fPIC -shared -Wl,-init,first -Wl,-fini,last -o libmoments.so "$REPO/test/input/moments-lib.c"
	gcc -O2 -D_GNU_SOURCE -DLINKED -o moments "$REPO/test/input/moments.c" -L. -lmoments -Wl,-rpath,"$T"
	gcc -O2 -D_GNU_SOURCE -o opens "$REPO/test/input/moments.c"
	gcc -O2 -fPIC -shared -o libfault.so "$REPO/test/input/process-fault.c"
	app() { gcc -std=gnu11 -O2 -D_GNU_SOURCE -o "$1" "$REPO/test/input/process-app.c" -L. "${@:2}" -lfault -pthread -Wl,-rpath,"$T"; }
	app process -lprocess
	gcc -O2 -fPIC -nostdlib -shared -DLIB -o libnolibc.so "$REPO/test/input/no-libc.c"
	gcc -O2 -fno-stack-protector -nostdlib -o no-libc "$REPO/test/input/no-libc.c" -L. -lnolibc -Wl,-rpath,"$T"
	so-input --with-app process moments opens no-libc --except '*libfault*' | reloc-extract | so-gen -q -o out
	so-input process --only '*libprocess*' | reloc-extract | so-gen -q --atomic -o atomic
}

# counted SYMBOL OBJECT: how often, in run/
counted() {
	count-extract -q run >profile
	"$PYTHON" "$REPO/test/counts.py" profile "$2" "$1"
}

# ends HOW STATUS [FACTOR]: the status passes through, and every call is in the files of the program and of its library
ends() {
	run so-run -q -d "$T/out" -r run "$T/process" "$1"
	echo "status $status, $output"
	[ "$status" -eq "$2" ]
	[ "$(counted called libprocess.so)" = $((N * ${3-1})) ]
	[ "$(counted own process)" = $((N * ${3-1})) ]
	rm -r run
}

@test "return, exit, _exit, quick_exit: every call is counted" {
	ends return 0
	ends exit 0
	ends _exit 0
	ends quick_exit 0
}

@test "abort, SIGTERM, SIGKILL, a fault in another object: every call is counted, the status is the program's" {
	ends abort 134
	ends term 143
	ends kill 137
	ends fault 132
}

@test "exit handlers of a counted program" { ends at-exit 0 2; }

# moments FILES EXIT-HANDLERS: what each file of libmoments.so has, and how often that is (moments-lib.c has the numbers)
moments() {
	local file files=(run/libmoments.so.*)
	[ "${#files[@]}" = "$1" ]
	for file in "${files[@]}"; do
		count-extract -q "$T/out/libmoments.so" "$file" >profile
		"$PYTHON" "$REPO/test/counts.py" profile libmoments.so in_{resolver,init,constructor,call,handler,exit_handler,destructor,fini} | paste -sd ' ' >counted
		echo "$file: $(cat counted)"
		[ "$(cat counted)" = "10 11 12 13 14 $2 16 17" ]
	done
}

@test "ifunc resolvers, DT_INIT, constructors, signal handlers, exit handlers, and then destructors and DT_FINI" {
	so-run -q -d "$T/out" -r run "$T/moments" linked >said
	printf '%s\n' 'exit handler' destructor fini | diff - said
	moments 1 15
	[ "$(counted in_preinit moments)" = 18 ]
	# one reference to the indirect function, one call of its resolver; and the object has all four ways to begin and end
	[ "$(readelf -rW "$T/libmoments.so" | grep -c 'chosen()')" = 1 ]
	[ "$(readelf -d "$T/out/libmoments.so" | grep -cE '\((INIT|FINI|INIT_ARRAY|FINI_ARRAY)\)')" = 4 ]
}

@test "the same during dlclose, opened again later, and in namespaces of their own" {
	so-run -q -d "$T/out" -r run "$T/opens" "$T/libmoments.so" open open leave >said
	[ "$(grep -c destructor said)" = 3 ]
	moments 3 0
	rm -r run
	so-run -q -d "$T/out" -r run "$T/opens" "$T/libmoments.so" open-new leave-new leave >said
	moments 3 0
	rm -r run
	# by LD_LIBRARY_PATH
	mkdir run
	LD_LIBRARY_PATH=$T/out SOPROF_DIR=$PWD/run "$T/opens" libmoments.so open open-new leave >said
	moments 3 0
}

@test "--atomic is exact with eight threads at a head with live flags" {
	so-run -q -d "$T/atomic" -r run "$T/process" threads
	[ "$(counted flag_head libprocess.so)" = $((8 * 10000000)) ]
	# they are live: what stands before the moved jump keeps them around one locked increment
	at=$(map-dump "$T/atomic/libprocess.so" | awk -v old="0x$(nm "$T/libprocess.so" | awk '$3 == "flag_head" { sub(/^0*/, "", $1); print $1 }')" '$1 == old { print $4, substr($5, 2) }')
	objdump -d --start-address="${at% *}" --stop-address=$((${at% *} + ${at#* })) "$T/atomic/libprocess.so" | awk -F '\t' 'NF > 2 { print $3 }' >inserted
	[ "$(grep -cE '^lock incq' inserted)" = 1 ]
	[ "$(sed -n '/lahf/=;/lock incq/=;/sahf/=' inserted | paste -sd ' ')" = "$(sed -n '/lahf/=;/lock incq/=;/sahf/=' inserted | sort -n | paste -sd ' ')" ]
	[ "$(grep -cE '^[ls]ahf' inserted)" = 2 ]
}

@test "a report of a run with threads and plain increments says so" {
	so-run -q -d "$T/out" -r run "$T/process" threads
	count-extract -q run | prof-report -n 1 >report
	grep -q '^Threads were started, and not all increments were atomic' report
	rm -r run
	so-run -q -d "$T/out" -r run "$T/process" return
	run ! grep -q '^Threads were started' <(count-extract -q run | prof-report -n 1)
}

@test "strict seccomp after the start" { ends seccomp 0 2; }

@test "a daemon: no descriptor, another directory, other rights" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	ends daemon 0
}

@test "exec of another profiled program: each has its own counts" {
	run so-run -q -d "$T/out" -r run "$T/process" exec "$T/moments" linked
	[ "$status" -eq 0 ]
	[ "$(counted called libprocess.so)" = $N ]
	[ "$(counted own process)" = $N ]
	moments 1 15
	# one process number for both
	[ "$(ls run | sed -nE 's/^(process|moments)\.([0-9]+)\.0$/\2/p' | uniq -c | awk '{ print $1 }')" = 2 ]
}

@test "a program without a C library forks and clones by system calls of its own" {
	so-run -q -d "$T/out" -r run "$T/no-libc"
	count-extract -q --by-process run >profile
	for f in 'libnolibc.so called' 'no-libc own'; do
		# shellcheck disable=SC2086
		[ "$("$PYTHON" "$REPO/test/counts.py" profile $f | sort -n | paste -sd ' ')" = "$N $N $((2 * N))" ]
	done
}

@test "a root without the counter directory: counting goes on privately" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	mkdir -p root
	run so-run -q -d "$T/out" -r run "$T/process" chroot "$PWD/root"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	# the program's own go on in the files that it had; its child's are lost, and that is said
	[ "$(counted called libprocess.so)" = $((2 * N)) ]
	count-extract -q run | prof-report -n 1 | grep -q 'the counts of some forked child are missing'
	[ -z "$(ls root)" ]
	# one that begins there
	mkdir -p "root$T" root/lib64 root/lib/x86_64-linux-gnu
	cp "$T"/out/{process,libprocess.so,libc.so.6} "$T/libfault.so" "root$T"
	cp /lib64/ld-linux-x86-64.so.2 root/lib64
	find root | sort >before
	run env LD_LIBRARY_PATH="$T" SOPROF_DIR="$T/out" chroot root "$T/process" return
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	rm "root$T/libc.so.6" && cp /lib/x86_64-linux-gnu/libc.so.6 "root$T"
	run env LD_LIBRARY_PATH="$T" SOPROF_DIR=/nowhere chroot root "$T/process" kill
	[ "$status" -eq 137 ]
	find root | sort | diff before -
}

@test "a program that is started in a root without the audit object runs uncounted, and its loader says so" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	mkdir -p "root$T" root/lib64
	cp "$T"/{process,libprocess.so,libfault.so} "root$T"
	cp /lib64/ld-linux-x86-64.so.2 root/lib64
	cp "$(ldd "$T/process" | sed -n 's/.*libc.so.6 => \([^ ]*\) .*/\1/p')" "root$T"
	run chroot root "$T/process" return
	[ "$status" -eq 0 ]
	run so-run -q -d "$T/out" -r run chroot root "$T/process" return
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == "ERROR: ld.so: object '"*"so-run-audit.so' cannot be loaded as audit interface: "*"ignored." ]]
	[ -z "$(find root -name '*.0')" ]
}

@test "no descriptor is free; a child that is forked then counts privately" {
	ends descriptors 0
	run so-run -q -d "$T/out" -r run "$T/process" descriptors-fork
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(counted called libprocess.so)" = $((2 * N)) ]
	[ "$(counted own process)" = $((2 * N)) ]
	# each object's file says that a child's counts are missing
	[ "$(count-extract -q run | map-dump --json | grep -c '"note":"the counts of some forked child are missing"')" = 3 ]
}

# confined COMMANDS: the program runs as it does without being profiled
confined() {
	so-run -q -d "$T/out" -r run sh -c "$1; exec \"\$0\" return" "$T/process" >said 2>&1
	cat said
	[ ! -s said ]
}

@test "limits: no file may grow, few descriptors, little address space" {
	confined 'ulimit -f 0'
	[ "$(find run -name 'process.*' -size +0 | wc -l)" = 0 ]
	rm -r run
	confined 'exec 3>&-; ulimit -n 4'
	rm -r run
	# 3 MiB more than the program takes
	need=$("$PYTHON" - "$T/process" <<-'END'
	import resource, subprocess, sys
	for mib in range(1, 64):
	    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))
	    if not subprocess.run([sys.argv[1]], preexec_fn=limit, stderr=subprocess.DEVNULL).returncode:
	        print(mib << 10)
	        break
	END
	)
	confined "ulimit -v $((need + 3072))"
}

@test "no /proc" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -m true 2>error || skip "no mount namespaces: $(cat error)"
	so-run -q -d "$T/out" -r run unshare -m sh -c 'umount -l /proc && exec "$0"' "$T/process" >said 2>&1
	cat said
	[ ! -s said ]
	# the run directory is known all the same
	[ "$(counted called libprocess.so)" = $N ]
	[ "$(counted own process)" = $N ]
	[ -z "$(find "$T/out" -name '*.0')" ]
}

@test "a directory that is full, read-only, or not to be written in" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -m true 2>error || skip "no mount namespaces: $(cat error)"
	mkdir small
	# the C library's file does not fit, those of the program and its library do
	run unshare -m sh -c 'mount -t tmpfs -o size=128k none small && so-run -q -d "$0/out" -r small/run "$0/process" return && cp -r small/run run && df --output=used small | tail -n 1' "$T"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" -le 128 ]
	[ "$(stat -c %s "$T/out/libc.so.6" 2>/dev/null || echo 0)" = 0 ] || [ ! -e "$(echo run/libc.so.6.*.0)" ]
	[ "$(counted called libprocess.so)" = $N ]
	# no room at all, and then none to be written
	for options in 'size=4k,nr_inodes=2' 'size=1m,ro'; do
		run unshare -m sh -c 'mount -t tmpfs -o "$1" none small && exec env LD_LIBRARY_PATH="$0/out" SOPROF_DIR="$PWD/small" "$0/out/process" return' "$T" "$options"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
	chmod 755 "$BATS_RUN_TMPDIR" "$T" "$T/out" "$BATS_TEST_TMPDIR" && chmod 755 "$T"/out/* small
	run setpriv --reuid 65534 --clear-groups env LD_LIBRARY_PATH="$T/out" SOPROF_DIR="$PWD/small" "$T/out/process" return
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ -z "$(ls -A small)" ]
}

@test "how files are made: only in the run directory, never through links, for the user alone" {
	command -v strace >/dev/null || skip "no strace"
	(umask 0; so-run -q -d "$T/out" -r run strace -f -e trace=openat,open,creat,unlink,unlinkat,rename,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat -o trace "$T/process" return)
	grep -E '"(process|libprocess\.so|libc\.so\.6)\.[0-9]+\.[0-9]+"' trace >made
	[ "$(grep -cE 'openat\([0-9]+, "[^/]*", O_RDWR\|O_CREAT\|O_EXCL\|O_NOFOLLOW\|O_CLOEXEC, 0600\) = (-1 EEXIST .*|[0-9]+)$' made)" = "$(wc -l <made)" ]
	[ "$(wc -l <made)" -ge 3 ]
	[ "$(find run -name '*.[0-9]' -perm 600 | wc -l)" = "$(find run -name '*.[0-9]' | wc -l)" ]
	# whatever is opened for writing is in a directory that was opened as the run directory, or is its list of what did not count
	sed -nE 's/.*openat\(AT_FDCWD, "([^"]*)", .*O_PATH.*/\1/p' trace | sort -u >directories
	[ "$(cat directories)" = "$PWD/run" ]
	grep -E 'O_(WRONLY|RDWR|CREAT|TRUNC)|^[0-9]+ *(creat|unlink|rename|link|symlink|mkdir)' trace | grep -vE "openat\(AT_FDCWD, \"$PWD/run/(not-profiled|.soprof-said)\"" >others
	[ "$(grep -vcE 'openat\([0-9]+, "(\.soprof-usage|[^/"]*\.[0-9]+\.[0-9]+)", ' others)" = 0 ]
}

@test "a counter file of somebody else, a link planted in its place" {
	mkdir counters
	echo precious >victim
	LD_LIBRARY_PATH=$T/out SOPROF_DIR=$PWD/counters run sh -c 'ln -s "$PWD/victim" counters/libprocess.so.$$.0; ln -s "$PWD/stolen" counters/libprocess.so.$$.1
		echo mine >counters/libprocess.so.$$.2; exec "$0" return' "$T/process"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(cat victim)" = precious ]
	[ ! -e stolen ]
	[ "$(cat counters/libprocess.so.*.2)" = mine ]
	# what is none is named, the rest counts
	run -1 --separate-stderr count-extract -o profile -O counters "$T/out/libprocess.so"
	[[ $stderr == *"libprocess.so."*".2: cut"* ]]
	[ "$("$PYTHON" "$REPO/test/counts.py" profile libprocess.so called)" = $N ]
	[ "$(ls counters/libprocess.so.* | sed 's/.*\.//' | paste -sd ' ')" = "0 1 2 3" ]
}

@test "a program with more rights than its user does not listen to the environment" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	! findmnt -n -o OPTIONS -T . | grep -q nosuid || skip "no set-user-ID programs here"
	chmod 711 "$BATS_RUN_TMPDIR" "$T" "$BATS_TEST_TMPDIR"
	mkdir -m 777 fixed elsewhere
	# set-user-ID programs are not given LD_LIBRARY_PATH, but have their RPATH
	so-input --with-app "$T/process" --only '*/process' --only '*libprocess*' | reloc-extract | so-gen -q -o fixed
	gcc -std=gnu11 -O2 -D_GNU_SOURCE -o process "$REPO/test/input/process-app.c" fixed/libprocess.so "$T/libfault.so" -pthread \
		-Wl,--disable-new-dtags,-rpath,"$PWD/fixed:$T"
	chown 65534 process && chmod 4755 process
	run env SOPROF_DIR="$PWD/elsewhere" SOPROF_MAX=0 ./process return
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ -z "$(ls -A elsewhere)" ]
	[ "$(stat -c '%u %a' fixed/libprocess.so.*.0)" = "65534 600" ]
	count-extract -q fixed >profile
	[ "$("$PYTHON" "$REPO/test/counts.py" profile libprocess.so called)" = $N ]
	# the same without more rights
	chmod 755 process
	SOPROF_DIR=$PWD/elsewhere ./process return
	[ "$(ls elsewhere/libprocess.so.* | wc -l)" = 1 ]
}

@test "what a run directory may hold is capped, and what is missing is told" {
	size=$(SOPROF_MAX=0 so-run -d "$T/out" -r zero "$T/process" && so-run -q -d "$T/out" -r one "$T/process" && stat -c %s one/*.*.0 | awk '{ n += $1 } END { print n }')
	[ -z "$(ls zero/*.*.0 2>/dev/null)" ]
	export SOPROF_MAX=$((7 * size))
	so-run -q -d "$T/out" -r run sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "$0" return || exit; done' "$T/process"
	[ "$(stat -c %s run/*.*.* | awk '{ n += $1 } END { print n }')" -le $SOPROF_MAX ]
	run -0 --separate-stderr count-extract -o profile run
	[[ $stderr =~ ([0-9]+)" counter files were not made because of the cap (SOPROF_MAX): their counts are missing" ]]
	made=$(ls run/libprocess.so.*.0 | wc -l)
	[ "$made" -lt 10 ]
	[ "$("$PYTHON" "$REPO/test/counts.py" profile libprocess.so called)" = $((made * N)) ]
	[ "${BASH_REMATCH[1]}" -ge $((10 - made)) ]
}

@test "a run directory of somebody else, or one that is used" {
	mkdir run
	touch run/file
	run -1 so-run -d "$T/out" -r run "$T/process"
	[[ $output == *"run: not empty"* ]]
	rm run/file
	so-run -q -d "$T/out" -r run "$T/process"
	run -1 so-run -d "$T/out" -r run "$T/process"
}

@test "hundreds of short processes, two runs at once: counts add up, and can be kept apart" {
	for r in a b; do
		so-run -q -d "$T/out" -r run-$r sh -c 'i=0; while [ $i -lt 100 ]; do "$0" return; i=$((i+1)); done' "$T/process" &
	done
	wait
	for r in a b; do
		count-extract -q run-$r >profile
		[ "$("$PYTHON" "$REPO/test/counts.py" profile libprocess.so called)" = $((100 * N)) ]
	done
	count-extract -q run-a run-b >profile
	[ "$("$PYTHON" "$REPO/test/counts.py" profile libprocess.so called)" = $((200 * N)) ]
	count-extract -q --by-process run-a >profile
	[ "$("$PYTHON" "$REPO/test/counts.py" profile libprocess.so called | sort -u)" = $N ]
	[ "$("$PYTHON" "$REPO/test/counts.py" profile libprocess.so called | wc -l)" = 100 ]
	prof-report -n 0 profile | grep -q "libprocess.so \[[0-9]* process\]"
}

@test "--reset: counts begin anew, while the program runs" {
	cat >loop.c <<-'END'
	#include <stdio.h>
	long called(long x);
	int main(void)
	{
		long x = 0, n;
		while (scanf("%ld", &n) == 1) {
			for (long end = x + n; x < end;)
				x = called(x);
			printf("%ld\n", n);
			fflush(stdout);
		}
		return 0;
	}
	END
	gcc -O2 -o loop loop.c -L"$T" -lprocess -Wl,-rpath,"$T"
	mkfifo to
	so-run -q -d "$T/out" -r run ./loop <to >from &
	exec 9>to
	step() { echo "$1" >&9; until [ "$(tail -n 1 from)" = "$1" ]; do sleep 0.02; done; }
	step 1000
	[ "$(counted called libprocess.so)" = 1000 ]
	count-extract -q --reset run
	[ "$(counted called libprocess.so)" = 0 ]
	step 234
	[ "$(counted called libprocess.so)" = 234 ]
	step 6
	[ "$(counted called libprocess.so)" = 240 ]
	count-extract -q --reset run
	step 7
	exec 9>&-
	wait
	[ "$(counted called libprocess.so)" = 7 ]
	rm -r run/.soprof-baseline
	[ "$(counted called libprocess.so)" = 1247 ]
}

@test "counts of a running program: each counter is whole, and none goes back" {
	so-run -q -d "$T/atomic" -r run "$T/process" threads &
	pid=$!
	until ls run/libprocess.so.*.0 >list 2>&1; do sleep 0.02; done
	while kill -0 $pid 2>error; do counted flag_head libprocess.so; done >counts
	wait
	counted flag_head libprocess.so >>counts
	sort -n -c counts
	[ "$(tail -n 1 counts)" = $((8 * 10000000)) ]
	[ "$(sort -u counts | wc -l)" -ge 2 ]
	# none is read by pieces: what is read(2) is no longer than the header
	if command -v strace >/dev/null; then
		strace -e trace=pread64,mmap -y -o trace count-extract -q -o profile run
		[ "$(grep 'pread64.*libprocess.so' trace | grep -cvE ', 8[0-9][0-9], 0\) = 8[0-9][0-9]$')" = 0 ]
		[ "$(grep -c 'MAP_SHARED.*libprocess.so.[0-9]*.0' trace)" = 1 ]
	fi
}

@test "prof-report --top: what was added since; plain when it is no terminal" {
	so-run -q -d "$T/out" -r run "$T/process" threads &
	until ls run/libprocess.so.*.0 >list 2>&1; do sleep 0.02; done
	prof-report --top --every 0.2 --times 3 -n 2 run >top
	wait
	[ "$(grep -c 'instructions in the last' top)" = 3 ]
	grep -q 'flagged' top
	grep -q '^Blocks, by executed instructions' top
	run ! grep -q "$(printf '\033')" top
	# on a terminal each look replaces the one before
	script -qec "prof-report --top --every 0 --times 3 -n 1 run" /dev/null >screen
	[ "$(grep -c "$(printf '^\033\\[H')" screen)" = 3 ]
	# the last of many looks at a program that ended
	prof-report --top --every 0 --times 2 -n 2 run >top
	[[ "$(grep 'instructions in the last' top | tail -n 1)" == "0 instructions in the last "*", "*" since the beginning" ]]
	total=$(count-extract -q run | prof-report -n 1 | awk '$1 == "instructions" { print $3; exit }')
	[[ "$(grep 'instructions in the last' top | tail -n 1)" == *", $total since the beginning" ]]
}

@test "prof-report --diff: what changed, what is newly reached" {
	so-run -q -d "$T/out" -r run "$T/process" return
	count-extract -q run >a
	so-run -q -d "$T/out" -r run2 "$T/process" at-exit
	count-extract -q run2 >b
	prof-report --diff --json a b >diff.json
	"$PYTHON" - <<-'END'
	import json
	d = json.load(open("diff.json"))
	new = {r["function"]: r for r in d["newly_reached"]}
	assert "late" in new and new["late"]["before"] == 0, new
	called = [r for r in d["changed"] if r["function"] == "called"]
	assert called[0]["after"] == 2 * called[0]["before"] == 2 * 2 * 1000003, called
	END
	# two streams in one report add up, joined or as two operands
	[ "$(prof-report --json a b | "$PYTHON" -c 'import json, sys; print(next(f["entered"] for f in json.load(sys.stdin)["functions"] if f["function"] == "called"))')" = $((3 * N)) ]
	[ "$(cat a b | prof-report --json | "$PYTHON" -c 'import json, sys; print(next(f["entered"] for f in json.load(sys.stdin)["functions"] if f["function"] == "called"))')" = $((3 * N)) ]
	# a run on another machine, where the same library lies elsewhere
	mkdir other
	cp "$T/libprocess.so" other
	so-input --also "$PWD/other/libprocess.so" --only "$PWD/other/*" "$T/process" | reloc-extract | so-gen -q -o other-out
	LD_LIBRARY_PATH=other so-run -q -d other-out -r run3 "$T/process" return
	count-extract -q run3 >c
	[ "$(map-dump --json c | grep -c "\"path\":\"$PWD/other/libprocess.so\"")" = 1 ]
	[ "$(prof-report --json a b c | "$PYTHON" -c 'import json, sys; print([f["entered"] for f in json.load(sys.stdin)["functions"] if f["function"] == "called"])')" = "[$((4 * N))]" ]
}
