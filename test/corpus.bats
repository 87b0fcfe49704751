# corpus.bats - every shared object of the machine: it moves, it loads, its ifuncs resolve, poisoned twins do not trap.
load common

# Larger files are for `make check-corpus`.
MAX=3000000

@test "every shared object under /usr/lib up to 3 MB moves and loads" {
	run "$REPO/test/corpus/all" --max $MAX /usr/lib
	echo "$output" | tail -n 40
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} =~ ^([0-9]+)\ objects,\ ([0-9]+)\ of\ them\ load ]]
	[ "${BASH_REMATCH[1]}" -ge 20 ]		# a minimal Debian has more
	[ "${BASH_REMATCH[2]}" -ge 10 ]
}
