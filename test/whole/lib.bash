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

# All by `soprof record`, as a user types it, with a cache and a run directory of the test's own.
export XDG_CACHE_HOME=$WORK/cache
RUN=$WORK/soprof.data
record() { soprof record ${RECORD-} -o "$RUN" "$@"; }
objects() { echo "$XDG_CACHE_HOME"/soprof/*/"${KIND-plain}"; }

not_replaced() { grep -v 'the loader itself$' "$1" | sort -u | while IFS=$'\t' read -r path why; do [ ! -e "$path" ] || echo "$path: $why"; done; }

# What was loaded and did not count: only the loader may, and files that are not there any more.  Report and lists agree on what did.
check_all_replaced() {
	local left listed
	left=$(not_replaced "$RUN/not-profiled")
	[ -z "$left" ] || failed "not replaced: $left"
	soprof report -i "$RUN" -n 1 >"$WORK/report" 2>"$WORK/report.said" || failed "soprof report"
	[ ! -s "$WORK/report.said" ] || failed "soprof report: $(cat "$WORK/report.said")"
	sed -n "s/^instructions executed */$name: instructions executed: /p" "$WORK/report"
	soprof list -i "$RUN" | sed '/ld-linux/d' | xargs -d '\n' realpath -m | sort >"$WORK/listed"
	# Another way to what counted: whose files there are, and what they were made from.
	so-run -d "$(objects)" --list | while IFS=$'\t' read -r original twin _; do
		! compgen -G "$RUN/${twin##*/}.*" >/dev/null || realpath "$original"
	done | sort >"$WORK/counted"
	comm -13 "$WORK/listed" "$WORK/counted" >"$WORK/missing"
	[ ! -s "$WORK/missing" ] || failed "soprof list lacks $(cat "$WORK/missing")"
	echo "$name: objects: $(wc -l <"$WORK/counted") counted, $(soprof list | grep -c " ${KIND-plain} ") in the cache"
}

# Ends every test: the cache is gone.
check_clean() {
	soprof clean && [ -d "$(objects)" ] || failed "soprof clean"
	soprof clean --all
	[ ! -e "$XDG_CACHE_HOME/soprof" ] || failed "soprof clean --all"
}

twin_of() {
	so-run -d "$(objects)" --list | awk -F '\t' -v p="$(realpath "$1")" '{ path = $1; sub("^/lib/", "/usr/lib/", path); if (path == p || $1 == p) print $2 }'
}

# under_callgrind PROGRAM ARG...: becomes the profiled program under callgrind, with the cache's objects, in a run directory of its own.
under_callgrind() {
	local link=$WORK/started/${1##*/}
	rm -rf "$WORK/run" "$WORK/callgrind" "$WORK/started"
	mkdir -p "$WORK/callgrind" "$WORK/started"
	chmod 777 "$WORK/callgrind"	# for processes that give up their rights
	# Some programs look at what they are called.
	ln -s "$(twin_of "$(command -v "$1")")" "$link"
	shift
	exec so-run -q -d "$(objects)" -r "$WORK/run" "$REPO/test/oracle/valgrind" "$WORK/callgrind" "$link" "$@"
}

# measure [FORKED]: every counter of that run compared, of so many forked processes too, and the part of the program's instructions
# that was counted.
measure() {
	local left
	left=$(sed -n 's/^ob=//p' "$WORK"/callgrind/run.* | sort -u | grep -Fxf <(so-run -d "$(objects)" --list | cut -f 1 | sed 'p; s!^/lib/!/usr/lib/!'))
	[ -z "$left" ] || failed "not replaced under callgrind: $left"
	"$PYTHON" "$here/coverage.py" "$name" "$WORK/run" "$(objects)" "$WORK"/callgrind/run.* | tee "$WORK/measured"
	[ "${PIPESTATUS[0]}" = 0 ] || failed "coverage"
	[ -z "${1-}" ] || grep -q ", $1 of them forked" "$WORK/measured" || failed "not $1 forked processes were compared"
}

has_valgrind() { command -v valgrind >/dev/null || { echo "$name: no valgrind: coverage not measured"; false; }; }

# coverage PROGRAM ARG...: its status must be 0.
coverage() {
	has_valgrind || return 0
	(cd "$WORK" && under_callgrind "$@" >"$WORK/callgrind.log" 2>&1) || { tail "$WORK/callgrind.log"; failed "another status under callgrind"; }
	measure
}
