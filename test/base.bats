#!/usr/bin/env bats
# Options, messages, the progress bar and memory: lib/base through a small program.
load common
bats_require_minimum_version 1.5.0

setup_file() {
	export TOOL=$BATS_FILE_TMPDIR/base_tool
	(cd "$REPO" && ${CC:-gcc} -std=c11 -Wall -Wextra -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -I. -D_GNU_SOURCE \
		-o "$TOOL" test/base/base_tool.c lib/base/*.c)
}

# says EXPECTED ARG...: the parsed options as the program prints them
says() {
	run --separate-stderr "$TOOL" "${@:2}"
	[ "$output" = "$1" ] || { echo "said: $output $stderr"; return 1; }
}

@test "options: letters, clusters, long names, values in both ways" {
	says 'flag 0 value none level 1'
	says 'flag 1 value none level 1' -f
	says 'flag 1 value 3 level 2' -fvn3
	says 'flag 1 value 3 level 0' -q -n 3 --flag
	says 'flag 0 value none level 1 also a also b=c' --also a --also=b=c
	says 'flag 1 value none level 1' --fl
}

@test "options: operands come behind them, - and what follows -- are operands" {
	says 'flag 1 value 3 level 1 [a] [b] [-]' a -f b -n 3 -
	says 'flag 0 value none level 1 [a] [-f] [--flag]' a -- -f --flag
	STOP=1 says 'flag 1 value none level 1 [a] [-f] [--]' -f a -f --
}

@test "options: wrong usage is status 2, with a reason and the usage line" {
	while read -r reason arguments; do
		run --separate-stderr "$TOOL" $arguments
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "${stderr_lines[0]}" = "base_tool: ${reason//_/ }" ] || { echo "$stderr"; return 1; }
		[ "${stderr_lines[1]}" = "usage: base_tool [-f] [FILE...]" ]
	done <<- 'END'
		no_option_-x -x
		no_option_-x -fx
		-n_needs_a_value -n
		--also_needs_a_value --also
		--flag=1_takes_no_value --flag=1
		no_option_--nonsense,_or_not_the_whole_of_one --nonsense
		no_sense --mode=usage
	END
}

@test "options: help and version go to standard output, and a full disk is noticed" {
	run --separate-stderr "$TOOL" -h
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "usage: base_tool [-f] [FILE...]" ]
	grep -q '^  -f, --flag  *a flag$' <<< "$output"
	grep -q '^  -n N  *a value without a long name$' <<< "$output"
	grep -q '^      --also=FILE  *a list' <<< "$output"
	run "$TOOL" --version
	[[ $output == "base_tool (soprof) "* ]]
	run sh -c '"$TOOL" --help > /dev/full'
	[ "$status" -eq 1 ]
}

@test "messages: one line each, in one form, and no control characters" {
	run --separate-stderr "$TOOL" -m messages
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 4 ]
	[ "${stderr_lines[0]}" = 'base_tool: a?b?[31m: note 1' ]
	[ "${stderr_lines[1]}" = 'base_tool: warning' ]
	[[ ${stderr_lines[2]} == 'base_tool: xxx'* ]]
	[ "${stderr_lines[3]}" = 'base_tool: file: cannot open: No such file or directory' ]
	run --separate-stderr "$TOOL" -q -m messages
	[ "${#stderr_lines[@]}" -eq 2 ]
	run --separate-stderr "$TOOL" -v -m messages
	[ "${#stderr_lines[@]}" -eq 5 ]
}

@test "memory: zeroed, aligned, growing; more than there can be ends the tool" {
	run "$TOOL" -m memory
	[ "$output" = '499500 text' ]
	run --separate-stderr "$TOOL" -m huge
	[ "$status" -eq 1 ]
	[ "$stderr" = 'base_tool: out of memory' ]
}

@test "progress: after two seconds, on a terminal only, wiped before messages and at the end" {
	command -v script > /dev/null || skip "no script(1)"
	"$TOOL" -m progress 2> plain &
	script -qec '"$TOOL" -m progress' /dev/null < /dev/null > seen
	wait
	[ "$(cat plain)" = "base_tool: object: in between" ]
	grep -q 'base_tool: work \[##*\.*\]  *[6-9][0-9] %' seen
	! grep -q ' [0-5][0-9] %' seen || false
	grep -q $'\r\033\\[Kbase_tool: object: in between' seen
	# Nothing is drawn behind the last wipe.
	[ "$(tr -d '\r\n' < seen | sed 's/.*\x1b\[K//')" = "base_tool: object: in between" ]
}
