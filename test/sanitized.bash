# sanitized.bash - the filters under test, built with the address and undefined behaviour sanitizers; kept between runs
SANITIZED=${SANITIZED:-$REPO/build/sanitized/bin}
PATH=$SANITIZED:$PATH
export SANITIZED PATH

# To be called once a file.
sanitized() {
	local dir=$REPO/build/sanitized flags='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined'
	[ "$SANITIZED" = "$dir/bin" ] || return 0
	mkdir -p "$dir"
	(
		flock 9
		cd "$REPO" && make -s -j2 BUILD=build/sanitized BIN=build/sanitized/bin CFLAGS="$flags" LDFLAGS="$flags" \
			build/sanitized/bin/{so-input,reloc-extract,so-gen} >build/sanitized/log 2>&1 || { cat build/sanitized/log; exit 1; }
	) 9>"$dir/lock"
}

# refused STATUS TEXT COMMAND...: one line that has the text, that status, and nothing from a sanitizer
refused() {
	local want=$1 text=$2
	shift 2
	run "$@"
	echo "$*: status $status: $output"
	[ "$status" -eq "$want" ] || return 1
	[[ $output != *Sanitizer* && $output != *"runtime error"* ]] || return 1
	[ "$want" -eq 2 ] || [ "${#lines[@]}" -eq 1 ] || return 1
	[[ $output == *"$text"* ]]
}
