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
recorded() { rm -rf "$RUN" && record --discover "$@"; local status=$?; cat "$RUN/not-profiled" >>"$WORK/not-profiled"; return $status; }

run_all env >"$WORK/plain"
run_all recorded >"$WORK/profiled"
lines() { grep -E '^(not )?ok |^# status' "$1" | sed 's/seed:[0-9]*/seed/'; }
diff <(lines "$WORK/plain") <(lines "$WORK/profiled") >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "other verdicts"; }
echo "$name: $(verdicts "$WORK/plain" | wc -l) verdicts of $(grep -c '^# status' "$WORK/plain") programs, the same"
left=$(not_replaced "$WORK/not-profiled")
[ -z "$left" ] || failed "not replaced: $left"
check_all_replaced
# Some of the others leave a thread in poll, which valgrind 3.19 can wait for without end.
coverage $tests/regex --tap
coverage $tests/tree --tap
coverage $tests/gvariant --tap -p /gvariant/parser
check_clean
