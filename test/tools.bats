# tools.bats - later tools on profiled objects: readelf, eu-elflint, gdb, strip, objcopy, nm; a second rewriting, stale objects
load common

LIBS="/lib/x86_64-linux-gnu/libc.so.6 /lib/x86_64-linux-gnu/libm.so.6 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 /lib/x86_64-linux-gnu/liblzma.so.5"

setup_file() {
	load common
	export T=$BATS_FILE_TMPDIR
	cd "$T" || return 1
	gcc -O2 -fPIC -shared -o libtools.so "$REPO/test/input/tools-lib.c"
	gcc -O1 -o host "$REPO/test/input/tools-host.c" -L. -ltools -Wl,-rpath,"$T"
	g++ -O2 -o throws "$REPO/test/input/permit-throw.cc"
	mkdir twins
	so-input host throws /usr/bin/xz --also /lib/x86_64-linux-gnu/libm.so.6 | reloc-extract | so-gen -q -o twins
}

lint() { eu-elflint --gnu-ld "$1" | sed 's/[0-9]\+/N/g' | grep -vx 'No errors' | sort -u; }

@test "readelf -a says nothing new on standard error" {
	for lib in $LIBS "$T/libtools.so"; do
		readelf -aW "$lib" 2>old >/dev/null
		readelf -aW "$T/twins/${lib##*/}" 2>new >/dev/null
		[ "$(wc -l <new)" -le "$(wc -l <old)" ] || { cat new; false; }
	done
}

@test "eu-elflint --gnu-ld says nothing that it does not say of the original" {
	for lib in $LIBS "$T/libtools.so"; do
		comm -13 <(lint "$lib") <(lint "$T/twins/${lib##*/}") >new
		[ ! -s new ] || { echo "$lib"; cat new; false; }
	done
}

@test "nm -D shows the same names, types and versions" {
	for lib in $LIBS "$T/libtools.so"; do
		diff <(nm -D "$lib" | sed 's/^[0-9a-f ]\{17\}//' | sort) <(nm -D "$T/twins/${lib##*/}" | sed 's/^[0-9a-f ]\{17\}//' | sort)
	done
}

# gdb PROGRAM OBJECTS COMMAND...: without debug information of the system's, which only the originals have
debug() {
	local program=$1 objects=$2 args=()
	shift 2
	for c in "$@"; do args+=(-ex "$c"); done
	LC_ALL=C gdb -nx -batch -ex 'set debug-file-directory /nonexistent' -ex 'set width 0' -ex 'set debuginfod enabled off' \
		-ex "set env LD_LIBRARY_PATH $objects" "${args[@]}" "$program" 2>&1
}
# The functions of a backtrace
frames() { sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?([^ (]+).*/\2/p'; }

@test "gdb: a breakpoint by name is hit once a call, in new text" {
	debug "$T/host" "$T/twins" 'break twice_through' run 'info symbol $pc' bt c >out
	cat out
	[ "$(grep -c '^Breakpoint 1, ' out)" -eq 1 ]
	grep -q 'twice_through.* in section .soprof.text of .*twins/libtools.so' out
	grep -q 'exited normally' out
	debug "$T/host" "$T/twins" 'break printf' run 'info symbol $pc' c >out
	[ "$(grep -cE '^Breakpoint 1(\.[0-9]+)?, ' out)" -eq 1 ]
	grep -q 'printf in section .soprof.text of .*twins/libc.so.6' out
}

@test "gdb: backtraces through profiled frames have the original's names" {
	for where in compare callback; do
		debug "$T/host" "$T" "break $where" run bt | frames >old
		debug "$T/host" "$T/twins" "break $where" run bt | frames >new
		diff old new
		[ "$(wc -l <new)" -ge 4 ]
	done
	grep -qx middle new
	for where in __cxa_throw std::__throw_regex_error; do
		debug "$T/throws" "$T" 'set breakpoint pending on' "break $where" run bt | frames >old
		debug "$T/throws" "$T/twins" 'set breakpoint pending on' "break $where" run bt | frames >new
		cat new
		diff old new
		[ "$(wc -l <new)" -ge 3 ]
	done
}

@test "gdb: finish and up go through counting code" {
	debug "$T/host" "$T/twins" 'break callback' run finish up 'info symbol $pc' >out
	cat out
	grep -q '^inner' out || grep -q '^middle' out
}

counted() {	# OBJECTS: the counts of libtools.so
	rm -rf counters
	mkdir counters
	LD_LIBRARY_PATH=$1:$T/twins SOPROF_DIR=$PWD/counters "$T/host" >/dev/null
	count-extract -q -O counters "$1/libtools.so" >profile
	"$PYTHON" "$REPO/test/counts.py" profile libtools.so
}

@test "strip, eu-strip, objcopy: the outputs run, with equal counts" {
	counted "$T/twins" >expected
	grep -q ' [1-9]' expected
	mkdir strip eu objcopy zipped
	strip -o strip/libtools.so "$T/twins/libtools.so"
	eu-strip -o eu/libtools.so "$T/twins/libtools.so"
	objcopy "$T/twins/libtools.so" objcopy/libtools.so
	objcopy --strip-unneeded --add-section extra="$T/host" "$T/twins/libtools.so" zipped/libtools.so
	for d in strip eu objcopy zipped; do
		counted "$PWD/$d" | diff expected -
	done
}

@test "the C library, stripped and copied, runs a program" {
	mkdir strip eu objcopy
	strip -o strip/libc.so.6 "$T/twins/libc.so.6"
	eu-strip -o eu/libc.so.6 "$T/twins/libc.so.6"
	objcopy "$T/twins/libc.so.6" objcopy/libc.so.6
	for d in strip eu objcopy; do
		mkdir counters
		LD_LIBRARY_PATH=$PWD/$d SOPROF_DIR=$PWD/counters xz --version >/dev/null
		[ -n "$(find counters -name 'libc.so.6.*')" ]
		count-extract -q -O counters $d/libc.so.6 | prof-report >report
		grep -q libc.so.6 report
		rm -r counters
	done
}

@test "objcopy --only-keep-debug and --add-gnu-debuglink" {
	objcopy --only-keep-debug "$T/twins/libtools.so" libtools.debug
	readelf -sW libtools.debug | grep -q ' middle$'
	mkdir d
	strip -o d/libtools.so "$T/twins/libtools.so"
	objcopy --add-gnu-debuglink=libtools.debug d/libtools.so
	[ "$(LD_LIBRARY_PATH=d "$T/host")" = "$("$T/host")" ]
	cp libtools.debug d/
	LC_ALL=C gdb -nx -batch -ex 'info line middle' d/libtools.so 2>&1 | grep -q middle
}

@test "a second rewriting is refused by every stage, of stripped outputs too" {
	cp "$T/twins/libtools.so" a.so
	strip -o b.so a.so
	eu-strip -o c.so a.so
	objcopy a.so d.so
	for f in a.so b.so c.so d.so; do
		run so-input -o list $f
		[[ $output == *"$f: already profiled"* ]]
		"$PYTHON" "$REPO/test/list-of.py" $f >list
		run reloc-extract -o table list
		[ "$status" -eq 1 ]
		[[ $output == "reloc-extract: $PWD/$f: not profiled: it is a profiled object already" ]]
		"$PYTHON" "$REPO/test/list-of.py" -t $f >table
		run so-gen -o again table
		[ "$status" -eq 1 ]
		[[ $output == "so-gen: $PWD/$f: not profiled: it is a profiled object already" ]]
		[ -z "$(ls again)" ]
	done
}

@test "a twin whose original has changed since is noticed" {
	cp "$T/libtools.so" .
	so-input --only '*libtools*' libtools.so | reloc-extract | so-gen -q -o out
	mkdir counters
	LD_LIBRARY_PATH=$PWD/out SOPROF_DIR=$PWD/counters "$T/host" >/dev/null
	count-extract -O counters out/libtools.so >profile 2>said
	[ ! -s said ]
	gcc -O1 -fPIC -shared -o libtools.so "$REPO/test/input/tools-lib.c"
	run count-extract -O counters -o profile out/libtools.so
	echo "$output"
	[[ $output == *"stale: the original has another build-id now"* ]]
	run prof-report profile
	echo "$output"
	[[ $output == *stale* ]]
}
