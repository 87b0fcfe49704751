# so-run.bats - every object counts however the loader finds it; nothing else changes.
load common
bats_require_minimum_version 1.5.0

setup_file() {
	load common
	export T=$BATS_FILE_TMPDIR
	cd "$T" || return 1
	mkdir none rpath runpath opened opened/deps twice-a twice-b "with space"
	lib() { gcc -O2 -g -fPIC -shared -o "$1" "$REPO/test/input/loader-lib.c" "${@:2}"; }
	app() { gcc -O2 -D_GNU_SOURCE -o "$1" "$REPO/test/input/loader-app.c" "${@:2}"; }
	lib none/libnone.so
	app linked-none -DLINKED -Lnone -lnone
	lib rpath/librpath.so
	app linked-rpath -DLINKED -Lrpath -lrpath -Wl,--disable-new-dtags,-rpath,"$T/rpath"
	lib rpath/librorigin.so
	app linked-rorigin -DLINKED -Lrpath -lrorigin -Wl,--disable-new-dtags,-rpath,'$ORIGIN/rpath'
	lib runpath/librunpath.so
	app linked-runpath -DLINKED -Lrunpath -lrunpath -Wl,--enable-new-dtags,-rpath,"$T/runpath"
	lib runpath/liborigin.so
	app linked-origin -DLINKED -Lrunpath -lorigin -Wl,--enable-new-dtags,-rpath,'$ORIGIN/runpath'
	lib "with space/libslash.so"
	app linked-slash -DLINKED "$T/with space/libslash.so"
	lib opened/libfirst.so -Wl,--enable-new-dtags,-rpath,'$ORIGIN/deps'
	lib opened/deps/libsecond.so
	lib opened/libthird.so
	lib none/libsoname-file.so -Wl,-soname,libsoname.so.1
	ln -s libsoname-file.so none/libsoname.so.1
	lib opened/librelative.so
	lib opened/libspace.so
	lib twice-a/libtwice.so
	lib twice-b/libtwice.so
	app opens -Wl,--enable-new-dtags,-rpath,'$ORIGIN/twice-b'
	cp opens unprofiled
	app by-got -fno-plt
	for a in linked-*; do LD_LIBRARY_PATH=none so-input --with-app "$a"; done >list
	so-input --with-app opens opened/*.so opened/deps/*.so none/libsoname.so.1 twice-*/libtwice.so >>list
	reloc-extract list 2>said | so-gen -q -o out
}

# matrix CALLS LIBRARY PROGRAM [HOW NAME]...: the same output, and so many calls counted in the library
matrix() {
	local calls=$1 library=$2
	shift 2
	"$@" >plain
	so-run -d "$T/out" -r run "$@" >profiled 2>messages
	diff plain profiled
	[ ! -s messages ]
	count-extract -q run >profile
	counted=$("$PYTHON" "$REPO/test/counts.py" profile "$library" called)
	echo "$counted calls of $library"
	[ "$counted" = "$calls" ]
	rm -r run
}

@test "DT_NEEDED: no rpath, RPATH, RUNPATH, \$ORIGIN in both, a slash in the name" {
	export LD_LIBRARY_PATH=$T/none
	matrix 1001 libnone.so "$T/linked-none"
	unset LD_LIBRARY_PATH
	matrix 1001 librpath.so "$T/linked-rpath"
	matrix 1001 librorigin.so "$T/linked-rorigin"
	matrix 1001 librunpath.so "$T/linked-runpath"
	matrix 1001 liborigin.so "$T/linked-origin"
	matrix 1001 libslash.so "$T/linked-slash"
}

@test "dlopen: by soname, absolute, relative, \$ORIGIN, by the caller's RUNPATH, twice" {
	LD_LIBRARY_PATH=$T/none matrix 1001 libsoname.so.1 "$T/opens" dlopen libsoname.so.1
	matrix 1001 libthird.so "$T/opens" dlopen "$T/opened/libthird.so"
	ln -s "$T/opened" here
	matrix 1001 librelative.so "$T/opens" dlopen here/librelative.so
	matrix 1001 librelative.so "$T/opens" dlopen ././here/.//././librelative.so
	matrix 1001 libthird.so "$T/opens" dlopen '$ORIGIN/opened/libthird.so'
	matrix 1002 libsecond.so "$T/opens" dlopen "$T/opened/libfirst.so" by libsecond.so
	matrix 1002 libthird.so "$T/opens" dlopen "$T/opened/libfirst.so" by '$ORIGIN/libthird.so'
	matrix 3006 libthird.so "$T/opens" dlopen "$T/opened/libthird.so" dlopen "$T/opened/libthird.so" dlopen "$T/opened/../opened/libthird.so"
}

@test "dlmopen: each namespace has files of its own" {
	export LD_LIBRARY_PATH=$T/none
	matrix 2003 libsoname.so.1 "$T/opens" dlopen libsoname.so.1 dlmopen libsoname.so.1
	matrix 3006 libsoname.so.1 "$T/opens" dlmopen libsoname.so.1 dlmopen libsoname.so.1 dlopen libsoname.so.1
	matrix 3006 libthird.so "$T/opens" dlmopen "$T/opened/libthird.so" dlmopen "$T/opened/libthird.so" dlopen "$T/opened/libthird.so"
	cd "$T"
	matrix 1001 librelative.so "$T/opens" dlmopen opened/librelative.so
	matrix 1001 librelative.so "$T/opens" dlmopen ././opened/.//librelative.so
	matrix 4010 libthird.so "$T/opens" dlmopen "$T/opened/libthird.so" dlmopen-same opened/libthird.so dlmopen-base "$T/opened/libthird.so" dlopen "$T/opened/libthird.so"
	# for a spelling longer than the original's path there is no room: then it is that
	so-run -q -d "$T/out" -r run "$T/opens" dlmopen "$(printf './%.0s' {1..200})opened/librelative.so" >profiled
	[ "$(cat profiled)" = "$T/opened/librelative.so: $T/opened/librelative.so 1001" ]
	rm -r run
	matrix 1000 libthird.so "$T/opens" two-threads "$T/opened/libthird.so" "$T/opened/libspace.so"
}

@test "dlmopen by a program that is not profiled itself, through a PLT and without one" {
	# calls PROGRAM NAME: of libthird.so
	calls() {
		"$1" dlmopen "$2" >plain
		so-run -q -d "$T/out" -r run "$1" dlmopen "$2" >profiled
		diff plain profiled
		mv run/not-profiled .
		count-extract -q run >profile
		"$PYTHON" "$REPO/test/counts.py" profile "$3" called
		rm -r run
	}
	[ "$(calls "$T/unprofiled" "$T/opened/libthird.so" libthird.so)" = 1001 ]
	grep -qx "$T/unprofiled	not among the profiled objects" not-profiled
	[ "$(LD_LIBRARY_PATH=$T/none calls "$T/unprofiled" libsoname.so.1 libsoname.so.1)" = 1001 ]
	[ "$(LD_LIBRARY_PATH=$T/none calls "$T/by-got" libsoname.so.1 libsoname.so.1)" = 1001 ]
	# readelf tells the two kinds of binding
	readelf -rW "$T/unprofiled" | grep -q 'JUMP_SLO.* dlmopen@'
	readelf -rW "$T/by-got" | grep -q 'GLOB_DAT.* dlmopen@'
	[ "$(calls "$T/by-got" "$T/opened/libthird.so" libthird.so)" = 1001 ]
}

@test "two objects of one file name" {
	[ "$(ls "$T/out" | grep -c '^libtwice\.so')" = 2 ]
	"$T/opens" dlopen "$T/twice-a/libtwice.so" dlopen "$T/twice-b/libtwice.so" >plain
	so-run -d "$T/out" -r run "$T/opens" dlopen "$T/twice-a/libtwice.so" dlopen "$T/twice-b/libtwice.so" >profiled
	diff plain profiled
	count-extract -q run | map-dump --json - >dumped
	"$PYTHON" - "$T" <<-'END'
	import json, sys
	here = None
	found = {}
	for line in open("dumped"):
	    item = json.loads(line)
	    here = item.get("object", {}).get("path", here)
	    if "count" in item and "libtwice" in here:
	        found.setdefault(here, set()).add(item["count"])
	T = sys.argv[1]
	assert 1001 in found[T + "/twice-a/libtwice.so"] and 1002 in found[T + "/twice-b/libtwice.so"], found
	END
}

# replaced PROGRAM...: how many objects count in a run of it
replaced() {
	so-run -q -d out -r run "$@" >said 2>&1
	count-extract -q run | map-dump --json | grep -c '"profiled":'
	rm -r run
}

@test "an object that is younger than its profiled one, or another file now, is not replaced, and that is said" {
	cp -r "$T/rpath" . && cp "$T/linked-rorigin" app
	so-input --with-app app --except 'libc.so*' | reloc-extract | so-gen -q -o out
	[ "$(replaced ./app)" = 2 ]
	sleep 0.01
	touch rpath/librorigin.so
	run --separate-stderr so-run -d out -r run ./app
	[ "$status" -eq 0 ]
	[[ $stderr == *"$PWD/rpath/librorigin.so: not profiled: its profiled object is older than it"* ]]
	# once: the second process says nothing
	[ "$(grep -c librorigin <<<"$stderr")" = 1 ]
	count-extract -q run | prof-report | grep -q "$PWD/rpath/librorigin.so *its profiled object is older than it"
	rm -r run
	touch -d '2 hours ago' rpath/librorigin.so
	[ "$(replaced ./app)" = 2 ]
	# with an old time, as packages have them, but other bytes
	gcc -O1 -g -fPIC -shared -o rpath/librorigin.so "$REPO/test/input/loader-lib.c" -Wl,--build-id=0x1234
	touch -d '1 hour ago' rpath/librorigin.so
	[ "$(replaced ./app)" = 1 ]
	so-run -d out --list | grep -q "librorigin.so	it has changed since it was profiled"
	so-input app --only '*librorigin*' | reloc-extract | so-gen -q -o out
	[ "$(replaced ./app)" = 2 ]
}

@test "--discover: what a run loads can be profiled" {
	so-run -q -d new --discover "$T/opens" dlopen "$T/opened/libfirst.so" by libsecond.so >plain
	[ "$(wc -l <new/last/not-profiled)" = 5 ]
	so-input --from new/last/not-profiled -o list
	map-dump --json list | grep -o '"path":"[^"]*"' | sort >listed
	printf '"path":"%s"\n' "$T/opens" "$T/opened/libfirst.so" "$T/opened/deps/libsecond.so" "$(realpath /lib/x86_64-linux-gnu/libc.so.6)" | sort | diff - listed
	reloc-extract list | so-gen -q -o new
	so-run -d new "$T/opens" dlopen "$T/opened/libfirst.so" by libsecond.so >profiled 2>said
	diff plain profiled
	[ ! -s said ]
	[ "$(cut -f 2 new/last/not-profiled)" = "the loader itself" ]
	[ "$(readlink new/last)" = run.1 ]
	so-run -q -d new -r labelled --label 'a  b' "$T/opens"
	[ "$(cat labelled/.soprof-label)" = 'a  b' ]
}

# plugin FILE FUNCTION TIMES COMMAND...: what the command opens is discovered, profiled and counted; the output stays
plugin() {
	local file=$1 function=$2 times=$3
	shift 3
	rm -rf plug
	"$@" >plain
	so-run -q -d plug --discover "$@" >discovered
	cmp plain discovered
	grep -q "/$file	not among" plug/last/not-profiled
	so-input -q --from plug/last/not-profiled --only "*/$file" | reloc-extract | so-gen -q -o plug
	so-run -q -d plug "$@" >profiled
	cmp plain profiled
	count-extract -q plug/last >profile
	echo "$file: $("$PYTHON" "$REPO/test/counts.py" profile "$file" "$function")"
	[ "$("$PYTHON" "$REPO/test/counts.py" profile "$file" "$function")" = "$times" ]
}

@test "the usual plug-ins: gconv, NSS, Python and perl modules, OpenSSL providers, Qt" {
	plugin UTF-16.so gconv_init 1 sh -c 'echo text | iconv -t UTF-16BE -f LATIN1 | od -c'
	plugin libnss_compat.so.2 _nss_compat_getpwuid_r 3 getent -s compat passwd 0 0 1
	plugin "_json.cpython-311-x86_64-linux-gnu.so" PyInit__json 1 /usr/bin/python3 -S -c 'import _json; print(_json.encode_basestring("a"))'
	plugin Util.so boot_List__Util 1 perl -MList::Util=sum -e 'print sum(1 .. 10)'
	plugin legacy.so OSSL_provider_init 1 sh -c 'echo text | openssl dgst -provider legacy -provider default -md4'
	g++ -O2 -fPIC -w -o qthost "$REPO/test/workloads/host/qthost.cc" -I/usr/include/x86_64-linux-gnu/qt5 -lQt5Gui -lQt5Core
	mkdir -m 700 runtime
	XDG_RUNTIME_DIR=$PWD/runtime QT_QPA_PLATFORM=offscreen QT_HASH_SEED=0 plugin libqoffscreen.so qt_plugin_instance 1 ./qthost picture.png
}

@test "programs that programs start are counted, whichever way they are found; arguments and names stay" {
	cat >show.c <<-'END'
	#include <stdio.h>
	#include <sys/auxv.h>
	int main(int argc, char **argv)
	{
		for (int i = 0; i < argc; i++)
			printf("%s|", argv[i]);
		puts(*(const char *)getauxval(AT_EXECFN) ? "" : "no name");
		return 5;
	}
	END
	gcc -O2 -o show show.c
	so-input --with-app show | reloc-extract | so-gen -q -o out
	cat >script <<-'END'
	#!/bin/sh
	./show 'a b' "" *.c
	PATH=.:$PATH show
	(exec -a other ./show) 2>/dev/null || exec ./show last
	END
	chmod +x script
	run -5 ./script
	plain=$output
	run -5 so-run -q -d out -r run ./script
	[ "$output" = "$plain" ]
	count-extract -q --by-process run | map-dump --json | grep -c '"name":"show"' >n
	[ "$(cat n)" = "$(printf '%s\n' "$plain" | wc -l)" ]
	# argv[0] as given
	PATH=.:$PATH
	[ "$(so-run -q -d out -r run3 show x || true)" = "show|x|" ]
	[ "$(so-run -q -d out -r run4 ./show x || true)" = "./show|x|" ]
}

@test "what is not among the profiled objects, and the loader: said once for a tree of processes, and in the report" {
	so-run -d "$T/out" -r run sh -c 'for i in 1 2 3; do /usr/bin/true; done; expr 3 + 4' >output 2>said
	[ "$(cat output)" = 7 ]
	# the first process says what it began with; the list has what the others did
	[ "$(grep -c "^so-run: $(realpath "$(type -P sh)"): not profiled: not among the profiled objects$" said)" = 1 ]
	[ "$(wc -l <said)" = 1 ]
	for o in /usr/bin/true /usr/bin/expr "$(realpath "$(type -P sh)")"; do
		[ "$(grep -cx "$o	not among the profiled objects" run/not-profiled)" = 1 ]
		count-extract -q run | prof-report | grep -q "^ *$o *not among the profiled objects"
	done
	[ "$(grep -c 'the loader itself$' run/not-profiled)" = 1 ]
	count-extract -q run | prof-report | grep -q "$(readelf -lW /usr/bin/true | sed -n 's/.*interpreter: \(.*\)]/\1/p') *the loader itself"
}

@test "what an object learns of its own path; AT_EXECFN, and the directory of what is opened by a path, is the profiled one's as the manual says" {
	cat >path.c <<-'END'
	#include <dlfcn.h>
	#include <link.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/auxv.h>
	#include <unistd.h>
	long hit(long n);
	static int name(struct dl_phdr_info *info, size_t size, void *p)
	{
		(void)size, (void)p;
		if (strstr(info->dlpi_name, "librorigin") || strstr(info->dlpi_name, "libthird"))
			printf("headers of %s\n", info->dlpi_name);
		return 0;
	}
	static void origin(const char *what, void *h)
	{
		char at[4096];
		if (h && !dlinfo(h, RTLD_DI_ORIGIN, at))
			printf("origin of %s %s\n", what, at);
	}
	int main(int argc, char **argv)
	{
		char exe[4096] = "";
		Dl_info info;
		(void)argc;
		dladdr((void *)hit, &info);
		printf("dladdr %s\n", info.dli_fname);
		origin("what is needed", dlopen("librorigin.so", RTLD_NOW));
		origin("what is opened", dlopen(argv[1], RTLD_NOW));
		dl_iterate_phdr(name, NULL);
		printf("exe %zd %s\n", readlink("/proc/self/exe", exe, sizeof exe - 1), exe);
		printf("name %s\n", (char *)getauxval(AT_EXECFN));
		return 0;
	}
	END
	gcc -O2 -D_GNU_SOURCE -o path path.c -L"$T/rpath" -lrorigin -Wl,--disable-new-dtags,-rpath,"$T/rpath"
	so-input --with-app path "$T/opened/libthird.so" | reloc-extract | so-gen -q -o out
	./path "$T/opened/libthird.so" >plain
	so-run -d out -r run ./path "$T/opened/libthird.so" | sed 's!///*!/!' >profiled
	grep -qx "origin of what is needed $T/rpath" plain
	sed -e "s!^origin of what is opened $T/opened\$!origin of what is opened $PWD/out!" \
		-e "s!^name ./path\$!name $PWD/out/path!" plain | diff - profiled
	# with the original executable nothing differs but that one
	so-run --no-app -q -d out -r run2 ./path "$T/opened/libthird.so" | sed 's!///*!/!' >profiled
	sed "s!^origin of what is opened $T/opened\$!origin of what is opened $PWD/out!" plain | diff - profiled
}

@test "static, set-user-ID, not found, not a program: said, and the status is what it would be" {
	gcc -O2 -static -o static -x c - <<<'int main(void) { return 3; }'
	run -3 so-run -d "$T/out" -r run ./static
	[ "$output" = "so-run: ./static: not profiled: a static program" ]
	count-extract -q run | prof-report | grep -q "$PWD/static *a static program"
	run -127 so-run -d "$T/out" -r run2 no-such-program
	run -127 so-run -d "$T/out" -r run2 ./no-such-program
	[ ! -e run2 ]
	echo text >text
	run -126 so-run -d "$T/out" -r run3 ./text
	run -1 so-run -d none true
	run -2 so-run
	[ "$(id -u)" = 0 ] || return 0
	cp /usr/bin/true setuid && chown 65534 setuid && chmod 4755 setuid
	run -0 so-run -d "$T/out" -r run4 ./setuid
	[[ ${lines[0]} == "so-run: ./setuid: not profiled: it runs with other rights than its caller's"* ]]
	count-extract -q run4 | prof-report | grep -q "$PWD/setuid *it runs with other rights"
}

@test "signals pass through: the program has the process number that was started" {
	so-run -q -d "$T/out" -r run sleep 60 &
	pid=$!
	until ls run/libc.so.6.*.0 >list 2>&1; do sleep 0.02; done
	[ "$(cat list)" = "run/libc.so.6.$pid.0" ]
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 143 ]
}

@test "an audit object without dependencies; an index that is damaged is made anew, or does nothing" {
	[ -z "$(readelf -d "$BIN/so-run-audit.so" | grep NEEDED)" ]
	[ "$(readelf -rW "$BIN/so-run-audit.so" | grep -c R_X86)" = 0 ]
	so-run -d "$T/out" --list >list
	cp -r "$T/out" .
	for size in 0 7 23 100 1000; do
		head -c $size "$T/out/.soprof-index" >out/.soprof-index
		LD_LIBRARY_PATH=$T/none so-run -q -d out -r run "$T/linked-none" >output
		[ "$(count-extract -q run | map-dump --json | grep -c '"profiled":')" = 3 ]
		# one that is damaged while the program runs
		head -c $size "$T/out/.soprof-index" >cut && rm run/.soprof-index && mv cut run/.soprof-index
		LD_LIBRARY_PATH=$T/none LD_AUDIT=$BIN/so-run-audit.so SOPROF_DIR=$PWD/run "$T/linked-none" >output 2>&1
		[ "$(cut -d ' ' -f 2 output)" = 1001 ]
		rm -r run
	done
}

@test "much thread-local storage in what a program is linked with" {
	gcc -O2 -fPIC -shared -ftls-model=initial-exec -o libtls.so -x c - <<<'__thread char room[6000]; char *in_room(int i) { return &room[i]; }'
	gcc -O2 -o uses -x c - -x none libtls.so -Wl,-rpath,"$PWD" <<<'char *in_room(int); int main(void) { *in_room(5999) = 7; return *in_room(5999); }'
	so-input --with-app uses | reloc-extract | so-gen -q -o out
	run -7 so-run -d out -r run ./uses
	[ -z "$output" ]
	run -7 so-run -d new --discover ./uses
	GLIBC_TUNABLES=glibc.malloc.check=0 run -7 so-run -d out -r run2 ./uses
}
