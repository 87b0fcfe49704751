# hazards.bash - builds a library and its program from one source and compares what the program prints in all modes

# four NAME HOST: plain = moved = moved with traps in old text = counted; lib is lib/libNAME.so.  POISON=no: old text is in use.
four() {
	local name=$1 host=$2 plain mode
	plain=$($host 2>&1)
	[ -n "$plain" ] || { echo "no output"; return 1; }
	so-input "$host" --only "*lib$name.so" >list || return 1
	reloc-extract -o table list || return 1
	for mode in identity poison counted atomic; do
		local flags=()
		case $mode in
		identity) flags=(--identity) ;;
		poison) flags=(--identity --poison-old); [ "${POISON:-}" != no ] || continue ;;
		atomic) flags=(--atomic) ;;
		esac
		rm -rf twins
		so-gen "${flags[@]}" -o twins table 2>said || { cat said; return 1; }
		[ -e "twins/lib$name.so" ] || { echo "no twin"; return 1; }
		got=$(LD_LIBRARY_PATH=$PWD/twins SOPROF_DIR=$PWD/twins $host 2>&1)
		[ "$got" = "$plain" ] || { printf '%s: %s\nplain: %s\n' "$mode" "$got" "$plain"; cat said; return 1; }
		got=$(LD_BIND_NOW=1 LD_LIBRARY_PATH=$PWD/twins SOPROF_DIR=$PWD/twins $host 2>&1)
		[ "$got" = "$plain" ] || { printf '%s, bound at once: %s\nplain: %s\n' "$mode" "$got" "$plain"; return 1; }
	done
}

# hazard NAME [FLAG...]: test/input/hazard-NAME.c or .cc with both compilers (COMPILERS); HOSTFLAGS for the program
hazard() {
	local name=$1 source=$REPO/test/input/hazard-$1.c cc language
	shift
	[ -e "$source" ] || source=${source}c
	for cc in ${COMPILERS:-gcc clang-14}; do
		case $source in
		*.cc) language=${cc/gcc/g++}; language=${language/clang-/clang++-} ;;
		*) language="$cc -std=gnu11" ;;
		esac
		rm -rf lib
		mkdir lib
		$language -w -O2 -fPIC -shared -o "lib/lib$name.so" "$source" "$@" || return 1
		$language -w -O1 -DHOST -o "$name-host" "$source" -Llib -l"$name" -pthread -Wl,-rpath,"$PWD/lib" $HOSTFLAGS || return 1
		four "$name" "./$name-host" || { echo "$cc $*"; return 1; }
	done
}

# program NAME [FLAG...]: the same of a program, itself rewritten, from hazard-NAME.c; what it printed is in $plain
program() {
	local name=$1 mode flags
	shift
	gcc -std=gnu11 -w -O2 -o "$name-app" "$REPO/test/input/hazard-$name.c" "$@" || return 1
	plain=$("./$name-app")
	so-input --with-app --only "*$name-app" "./$name-app" | reloc-extract -o table || return 1
	for mode in --identity -v --atomic; do
		rm -rf twins
		so-gen "$mode" -o twins table 2>said || { cat said; return 1; }
		got=$("twins/$name-app")
		[ "$got" = "$plain" ] || { printf '%s %s: %s\nplain: %s\n' "$mode" "$*" "$got" "$plain"; cat said; return 1; }
	done
}
