#!/bin/bash
# glib.sh - GLib's installed tests: hash tables, strings, regular expressions, variants, main loops.
name=glib
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
tests=/usr/libexec/installed-tests/glib
[ -x $tests/hash ] || { echo "$name: skipped: no libglib2.0-tests"; exit 3; }
TESTS="hash array-test string strfuncs utf8-misc list slist queue tree sequence regex gvariant mainloop asyncqueue base64 checksum date option-context keyfile uri unix slice once markup-parse"
verdicts() { grep -E '^(not )?ok ' "$1" | sort; }
run_all() {
	local t
	for t in $TESTS; do
		[ -x $tests/$t ] || continue
		echo "# $t"
		(cd "$WORK" && "$@" $tests/$t --tap 2>&1)
		echo "# status $?"
	done
}
again() { rm -rf "$WORK/one" && so-run -q -d "$WORK/out" -r "$WORK/one" "$@"; local status=$?; cp -r --backup=numbered "$WORK"/one/*.*.* "$WORK/all"; cat "$WORK/one/not-profiled" >>"$WORK/all/not-profiled"; return $status; }

run_all env >"$WORK/plain"
mkdir "$WORK/all" "$WORK/out"
for t in $TESTS; do [ -x $tests/$t ] && echo $tests/$t; done >"$WORK/programs"
so-input -q --with-app $(cat "$WORK/programs") -o "$WORK/list"
reloc-extract -q "$WORK/list" | so-gen -q -o "$WORK/out" || failed "the pipeline"
run_all again >"$WORK/profiled"
lines() { grep -E '^(not )?ok |^# status' "$1" | sed 's/seed:[0-9]*/seed/'; }
diff <(lines "$WORK/plain") <(lines "$WORK/profiled") >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "other verdicts"; }
echo "$name: $(verdicts "$WORK/plain" | wc -l) verdicts of $(wc -l <"$WORK/programs") programs, the same"
grep -v 'the loader itself$' "$WORK/all/not-profiled" | sort -u | sed "s/^/$name: not replaced: /"
coverage $tests/gvariant --tap -p /gvariant/varargs -p /gvariant/parser
