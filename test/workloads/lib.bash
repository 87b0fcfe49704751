# lib.bash - what the workloads and `run` share.

# words N SEED: N lines of eight made-up words, the same every time.
words() {
	awk -v n="$1" -v s="$2" 'BEGIN {
		for (i = 0; i < n; i++) {
			line = ""
			for (j = 0; j < 8; j++) {
				s = (s * 16807) % 2147483647
				w = ""
				for (k = s % 7 + 2; k > 0; k--) {
					s = (s * 16807) % 2147483647
					w = w substr("etaoinshrdlucmfwypvbgk", int((s % 1000) * (s % 997) / 996003 * 22) + 1, 1)
				}
				line = line (j ? " " : "") w
			}
			print line
		}
	}'
}

# status COMMAND...: runs it and prints its status, so that failures are part of the output.
status() {
	"$@"
	echo "status $?"
}

# under COMMAND...: from here on each of $programs runs as COMMAND... PROGRAM.
under() {
	local p
	for p in $programs; do
		eval "${p##*/}() { $(printf '%q ' "$@" "$p") \"\$@\"; }"
	done
}

# host NAME.c|NAME.cc PROGRAM [FLAG...]: compiles a program of ours from host/.
host() {
	local source=$here/host/$1 program=$2
	shift 2
	case $source in
	*.cc) g++ -O2 -g -o "$program" "$source" "$@" ;;
	*) gcc -std=c11 -D_GNU_SOURCE -O2 -g -o "$program" "$source" "$@" ;;
	esac
}

# What may differ from run to run without meaning anything.
normalise() {
	sed -E -i \
		-e 's/0x0*(7[ef]|5[56])[0-9a-f]{10}/0xADDRESS/g' \
		-e 's/^[0-9A-F]{16}:error:/THREAD:error:/' \
		-e 's/\b[0-9]+\.[0-9]+ ?(s|sec|seconds)\b/TIME/g' \
		-e 's/\b(line [0-9]+:) +[0-9]+ +(Aborted|Killed|Terminated|Segmentation fault|Trace\/breakpoint trap)/\1 PID \2/' \
		"$@"
}

# make_objects MODE: puts what $programs and $also reference, and is not there yet, into WORK/objects/MODE.
make_objects() {
	local mode=$1 folder=$WORK/objects/$1 options= except=() extra=() f tools
	case $mode in
	identity) options=--identity ;;
	poison) options="--identity --poison-old" ;;
	esac
	for f in so-input reloc-extract so-gen; do
		[ -x "$BIN/$f" ] || { echo "no $BIN/$f: make first"; return 1; }
	done
	# Made anew when the tools or the system's packages have changed.
	tools=$(cat "$BIN/so-input" "$BIN/reloc-extract" "$BIN/so-gen" | sha256sum; stat -c %Y /var/lib/dpkg/status)
	(
		flock 8
		if [ "$(cat "$folder.stamp" 2>/dev/null)" != "$tools" ]; then
			rm -rf "$folder"
			mkdir -p "$folder"
			echo "$tools" >"$folder.stamp"
		fi
		for f in "$folder"/*; do
			[ -f "$f" ] && except+=(--except "${f##*/}")
		done
		for f in $also; do
			[ -e "$folder/${f##*/}" ] || extra+=(--also "$f")
		done
		local all=true p
		for p in $programs; do
			[ -z "$(not_profiled "$p" "$folder")" ] || all=false
		done
		$all && [ ${#extra[@]} = 0 ] && exit 0
		set -o pipefail
		"$BIN/so-input" "${extra[@]}" "${except[@]}" $programs 2>"$folder.so-input.log" |
			"$BIN/reloc-extract" 2>"$folder.reloc-extract.log" |
			"$BIN/so-gen" $options -o "$folder" 2>"$folder.so-gen.log" || {
			echo "pipeline of $name, $mode: status ${PIPESTATUS[*]}"
			head -n 20 "$folder".so-input.log "$folder".reloc-extract.log "$folder".so-gen.log
			exit 1
		}
	) 8>"$folder.lock"
}

# not_profiled PROGRAM FOLDER: the objects that the loader would take from elsewhere (itself and the vdso excepted).
# A script is seen to by its interpreter.
not_profiled() {
	LD_LIBRARY_PATH=$2 LD_TRACE_LOADED_OBJECTS=1 /lib64/ld-linux-x86-64.so.2 "$1" 2>/dev/null |
		awk -v dir="$2/" '$2 == "=>" && index($3, dir) != 1 && $1 !~ /ld-linux/ { print $1 }'
}
