# lib.bash - what the workloads for MIPS and `run` share, beside ../workloads/lib.bash.

# library NAME: its path in the root.
library() {
	find "$ROOT" -path "$ROOT/soprof" -prune -o -name "$1" -print | head -n 1
}

# host SOURCE PROGRAM [FLAG...]: compiles a program of ours; -lz, -lbz2 and -llzma mean the root's.
host() {
	local source=$1 program=$2 flag flags=() cc
	shift 2
	[ -e "$here/host/$source" ] && source=$here/host/$source || source=$REPO/test/workloads/host/$source
	for flag; do
		case $flag in
		-lz) flag=$(library libz.so.1) ;;
		-lbz2) flag=$(library libbz2.so.1.0) ;;
		-llzma) flag=$(library liblzma.so.5) ;;
		esac
		flags+=("$flag")
	done
	case $source in
	*.cc) cc="$ENDIAN-linux-gnu-g++" ;;
	*) cc="$ENDIAN-linux-gnu-gcc -std=gnu11" ;;
	esac
	$cc -O2 -o "$program" -D_GNU_SOURCE -I"$ROOT/soprof/include" $(kind_flags) "$source" "${flags[@]}"
}

# part SOURCE LIBRARY [FLAG...]: a library of ours, as the root's kind wants it.
part() {
	local source=$1 program=$2
	shift 2
	host "$source" "$program" -shared -fPIC -Wl,-soname,"$(basename "$program")" -Wl,-rpath,'$ORIGIN' "$@"
}

# The start files are no MIPS I code, so that programs of that kind are MIPS II.
kind_flags() {
	case $root in
	*-mips1 | *-mips2) echo -mips2 ;;
	*) echo -march=mips32r2 ;;
	esac
}

qemu() { "qemu-$ENDIAN" -L "$ROOT" -E LD_LIBRARY_PATH="$OUT" -E LD_BIND_NOW="${BIND_NOW:-}" "$@"; }

# From here on each of $programs runs under qemu; with TRACES, what it executes is left there.
emulate() {	# [TRACES]
	local p
	TRACES=$1
	for p in $programs; do
		if [ -n "$TRACES" ]; then
			eval "${p##*/}() { \"\$REPO/test/oracle/qemu-trace\" \"\$ENDIAN\" \"\$TRACES\" -L \"\$ROOT\" -E LD_LIBRARY_PATH=\"\$OUT\" \
				-E LD_BIND_NOW=\"\${BIND_NOW:-}\" $(printf %q "$p") \"\$@\"; }"
		else
			eval "${p##*/}() { qemu $(printf %q "$p") \"\$@\"; }"
		fi
	done
}

# make_objects MODE: puts what $programs and $also reference, and is not there yet, into WORK/objects/ROOT/MODE.
make_objects() {
	local mode=$1 folder=$objects/$1 options= f p tools all=true
	local except=() extra=()
	case $mode in
	identity) options=--identity ;;
	poison) options="--identity --poison-old" ;;
	atomic) options=--atomic ;;
	esac
	for f in so-input reloc-extract so-gen; do
		[ -x "$BIN/$f" ] || { echo "no $BIN/$f: make first"; return 1; }
	done
	# Made anew when the tools or the root have changed.
	tools=$(cat "$BIN/so-input" "$BIN/reloc-extract" "$BIN/so-gen" | sha256sum; stat -c %Y "$ROOT/done")
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
		for f in ${LEAVE:-}; do
			except+=(--except "$f")
			rm -f "$folder/$f"
		done
		for f in $also; do
			[ -e "$folder/${f##*/}" ] || extra+=(--also "${f#"$ROOT"}")
		done
		for p in $programs; do
			[ -z "$(not_profiled "$p" "$folder")" ] || all=false
		done
		$all && [ ${#extra[@]} = 0 ] && exit 0
		set -o pipefail
		"$BIN/so-input" --sysroot "$ROOT" "${extra[@]}" "${except[@]}" $programs 2>"$folder.so-input.log" |
			"$BIN/reloc-extract" 2>"$folder.reloc-extract.log" |
			"$BIN/so-gen" $options -o "$folder" 2>"$folder.so-gen.log" || {
			echo "pipeline of $name, $mode: status ${PIPESTATUS[*]}"
			head -n 20 "$folder".so-input.log "$folder".reloc-extract.log "$folder".so-gen.log
			exit 1
		}
	) 8>"$folder.lock"
}

# not_profiled PROGRAM FOLDER: the objects that the loader would take from elsewhere (itself excepted).
not_profiled() {
	"qemu-$ENDIAN" -L "$ROOT" -E LD_LIBRARY_PATH="$2" -E LD_TRACE_LOADED_OBJECTS=1 "$1" 2>/dev/null |
		awk -v dir="$2/" '$2 == "=>" && index($3, dir) != 1 && $1 !~ /ld\.so|vdso/ { print $1 }'
}
