# lib.bash - what the whole-program tests share: all that a program loads is profiled, the program itself and its plugins included,
# and it has to show the same as without.

set -u
REPO=$(cd "$here/../.." && pwd)
BIN=${BIN:-$REPO/bin}
PATH=$BIN:$PATH
PYTHON=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
WORK=$(mktemp -d) || exit 1
trap 'leave' EXIT
started=

leave() {
	local pid
	for pid in $started; do kill "$pid" 2>/dev/null; done
	rm -rf "$WORK"
}
need() { command -v "$1" >/dev/null || { echo "$name: skipped: no $1"; exit 3; }; }
failed() { echo "$name: FAILED: $*"; exit 1; }

# profile_what_is_loaded COMMAND...: a run that finds out what is loaded, then profiled objects of all of it.
profile_what_is_loaded() {
	so-run -q -d "$WORK/out" --discover "$@" >"$WORK/discover.log" 2>&1
	so-input -q --from "$WORK/out/last/not-profiled" -o "$WORK/list" || failed "so-input"
	reloc-extract -q "$WORK/list" | so-gen -q ${GEN-} -o "$WORK/out" || failed "the pipeline"
	rm -rf "$WORK"/out/run.* "$WORK/out/last"
}

# profiled COMMAND...: in a run directory of its own, $WORK/run.
profiled() { rm -rf "$WORK/run"; so-run -q -d "$WORK/out" -r "$WORK/run" "$@"; }

# What was loaded and did not count: only the loader may.
check_all_replaced() {
	local left
	left=$(grep -v 'the loader itself$' "$WORK/run/not-profiled")
	[ -z "$left" ] || printf '%s: not replaced: %s\n' "$name" "$left"
	count-extract -q "$WORK/run" | prof-report -n 1 | sed -n "s/^instructions executed */$name: instructions executed: /p; s/^objects */$name: objects: /p"
}

twin_of() {
	so-run -d "$WORK/out" --list | awk -F '\t' -v p="$(realpath "$1")" '{ path = $1; sub("^/lib/", "/usr/lib/", path); if (path == p || $1 == p) print $2 }'
}

# under_callgrind PROGRAM ARG...: becomes the profiled program under callgrind, in a run directory of its own.
under_callgrind() {
	local link=$WORK/started/${1##*/}
	rm -rf "$WORK/run" "$WORK/callgrind" "$WORK/started"
	mkdir -p "$WORK/callgrind" "$WORK/started"
	chmod 777 "$WORK/callgrind"	# for processes that give up their rights
	# Some programs look at what they are called.
	ln -s "$(twin_of "$(command -v "$1")")" "$link"
	shift
	exec so-run -q -d "$WORK/out" -r "$WORK/run" "$REPO/test/oracle/valgrind" "$WORK/callgrind" "$link" "$@"
}

# measure: every counter of that run compared, and the part of the program's instructions that was counted.
measure() {
	rm -f "$WORK/run/not-profiled"
	"$PYTHON" "$here/coverage.py" "$name" "$WORK/run" "$WORK/out" "$WORK"/callgrind/run.* || failed "coverage"
}

has_valgrind() { command -v valgrind >/dev/null || { echo "$name: no valgrind: coverage not measured"; false; }; }

# coverage PROGRAM ARG...
coverage() {
	has_valgrind || return 0
	(cd "$WORK" && under_callgrind "$@" >"$WORK/callgrind.log" 2>&1)
	measure
}
