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
