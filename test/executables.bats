# executables.bats - the program itself: what it learns of itself and what its headers promise holds for the profiled one.
load common
bats_require_minimum_version 1.5.0

setup_file() {
	load common
	cd "$BATS_FILE_TMPDIR" || return 1
	gcc -O2 -fPIC -shared -DLIB -o libword.so "$REPO/test/input/executable.c"
}

# program RELRO COPIED COMPILER FLAG...: the same output, exact counts; RELRO: what comes of a write to the table; COPIED: relocations
program() {
	local relro=$1 copied=$2
	shift 2
	rm -rf out run
	"$@" -O2 -D_GNU_SOURCE -o program "$REPO/test/input/executable.c" -L"$BATS_FILE_TMPDIR" -lword -Wl,-rpath,"$BATS_FILE_TMPDIR"
	./program 'a b' '' c >plain
	so-input --with-app program --only '*/program' --only '*libword*' | reloc-extract -q | so-gen -q -o out
	so-run -q -d out -r run ./program 'a b' '' c >profiled
	echo "$*"
	diff plain profiled
	grep -qx "a write to the table $relro" profiled
	grep -qx 'the entry is _start: 1' profiled
	[ "$(readelf -rW program | grep -c 'R_X86_64_COPY.* shared_word ')" = "$copied" ]
	count-extract -q run >profile
	# 1,003 rounds and two calls by the function in the table's second word
	[ "$("$PYTHON" "$REPO/test/counts.py" profile program _start main own | paste -sd ' ')" = "1 1 1005" ]
	[ "$("$PYTHON" "$REPO/test/counts.py" profile libword.so where_is_it)" = 2 ]
	[ "$(readelf -lW out/program | grep interpreter:)" = "$(readelf -lW program | grep interpreter:)" ]
}

@test "position-independent: entry, program headers, interpreter, RELRO, copied variables" {
	program 'is refused' 1 gcc -pie
	program 'is refused' 1 gcc -pie -Wl,-z,now -fcf-protection=full
	program 'goes through' 1 gcc -pie -Wl,-z,norelro
	program 'is refused' 1 gcc -pie -fuse-ld=gold
	program 'is refused' 1 gcc -pie -fuse-ld=lld
	program 'is refused' 0 clang-14 -w -pie
	program 'is refused' 1 gcc -pie -s -Wl,--build-id=none -Wl,-E
}

@test "linked to a fixed address: its functions keep their addresses, and count" {
	program 'is refused' 1 gcc -no-pie
	[ "$(readelf -h out/program | awk '$1 == "Type:" { print $2 }')" = EXEC ]
	program 'is refused' 1 gcc -no-pie -Wl,-z,now
	program 'goes through' 1 gcc -no-pie -Wl,-z,norelro
	program 'is refused' 0 clang-14 -w -no-pie
}
