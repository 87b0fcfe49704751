# bash: arrays, arithmetic, patterns, subshells, traps and signals, a here-document
programs=/bin/bash

prepare() {
	cat >script <<-'B'
	shopt -s extglob
	declare -A seen
	for ((i = 0; i < 3000; i++)); do key=$((i * i % 97)); seen[$key]=$((${seen[$key]:-0} + 1)); done
	for k in $(printf '%s\n' "${!seen[@]}" | sort -n); do printf '%s=%s ' "$k" "${seen[$k]}"; done; echo
	text="the quick brown fox"; echo "${text^^} ${text//o/0} ${text:4:5} ${#text} ${text##* }"
	fib() { (($1 < 2)) && echo "$1" || echo $(($(fib $(($1 - 1))) + $(fib $(($1 - 2))))); }; fib 7
	trap 'echo caught USR1' USR1; kill -USR1 $$
	(trap 'echo leaving' EXIT; exit 3); echo "status $?"
	mapfile -t lines < <(printf '%s\n' c a b); printf '<%s>' "${lines[@]}"; echo
	[[ abc123 =~ ([a-z]+)([0-9]+) ]] && echo "${BASH_REMATCH[2]}"
	case foobar in +(foo|bar)) echo matched ;; esac
	sleep 0.05 & wait $!; echo "waited $?"
	bash -c 'kill -TERM $$'; echo "status $?"
	printf '%(%F)T %q %5.1f\n' 0 "a b'c" 2.25
	coproc cat; echo through >&"${COPROC[1]}"; read -r line <&"${COPROC[0]}"; echo "$line"
	cat <<< "$((2 ** 40))"
	B
}

workload() {
	TZ=UTC bash "$INPUT/script"
	status bash -c 'nothing_of_that_name'
	status bash -c 'if then'
	status bash --norc -c 'set -u; echo $undefined'
}
