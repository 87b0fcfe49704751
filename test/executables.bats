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

# paths WHERE COMPILER FLAG...: a profiled and an unprofiled program read the same as without so-run, however they were started
paths() {
	local where=$1
	shift
	"$@" -D_GNU_SOURCE -w -o program "$REPO/test/input/own-path.c" -lpthread
	echo "$*"
	ln -sf "$PWD/program" "$where/by-link"
	ln -f program "$where/by-name"
	so-input --with-app program $PROFILED | reloc-extract -q | so-gen -q -o out
	for start in ./program "$where/by-link" "$where/by-name"; do
		rm -rf run
		"$start" >plain
		so-run -q -d out -r run "$start" >profiled
		diff plain profiled
		count-extract -q run >profile
		[ "$("$PYTHON" "$REPO/test/counts.py" profile program main)" = 1 ]
		# and in a process that the program's starts
		rm -rf run
		so-run -q -d out -r run sh -c '"$@"; exit' - "$start" | diff plain -
	done
	rm -rf out
}

@test "the links to its executable: readlink and its kin tell the original's path, by every way to call them" {
	mkdir "a longer name of a directory, so that both cases are there" d
	PROFILED= paths d gcc -O2
	# the program only, and a shorter path for the profiled one than for the original
	PROFILED='--only */program' paths "a longer name of a directory, so that both cases are there" gcc -O2 -Wl,-z,now -D_FORTIFY_SOURCE=2
	nm -D program | grep -q ' __readlink_chk@'
	nm -D program | grep -q ' __realpath_chk@'
	PROFILED='--only */program' paths d gcc -O2 -fno-plt -no-pie
	readelf -rW program | grep -q 'GLOB_DAT.* readlink@'
	PROFILED='--only */program' paths d clang-14 -O1 -Wl,-z,lazy
}

@test "the links to another process's executable; other links that lead to a profiled one stay" {
	gcc -O2 -D_GNU_SOURCE -w -o program "$REPO/test/input/own-path.c"
	cp program reader
	so-input --with-app program --only '*/program' | reloc-extract -q | so-gen -q -o out
	mkfifo hold
	so-run -q -d out -r run ./program wait <hold &
	exec 5>hold
	until [ "$(readlink /proc/$!/exe)" = "$PWD/out/program" ]; do sleep 0.02; done
	# the reader is not profiled, and runs in the same run
	SOPROF_DIR=$PWD/run LD_AUDIT=$BIN/so-run-audit.so ./reader /proc/$!/exe >read
	exec 5>&-
	wait
	grep -qx "readlink [0-9]* $PWD/program" read
	grep -qx "realpath $PWD/program" read
	ln -s "$PWD/out/program" link
	ln -s out/program relative
	for file in link relative out/program /proc/self/cwd /proc/self/root; do
		rm -r run
		./reader $file | sed '/^in a directory/d' >plain
		so-run -q -d out -r run ./reader $file | sed '/^in a directory/d' | diff plain -
		rm -r run
		./program $file | sed '/^in a directory/d' >plain
		so-run -q -d out -r run ./program $file | sed '/^in a directory/d' | diff plain -
	done
}

@test "how the original's path is told to the profiled program: that sees nothing of it" {
	cat >show.c <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/auxv.h>
	extern char **environ;
	int main(void)
	{
		char **e = environ;
		while (*e)
			puts(*e++);
		/* behind it lies the auxiliary vector */
		for (unsigned long *a = (unsigned long *)(e + 1); *a; a += 2)
			if (*a == AT_PAGESZ)
				printf("pages of %lu\n", a[1]);
		puts(getenv("SOPROF_EXE") ? "set" : "not set");
		return 0;
	}
	END
	gcc -O2 -w -o show show.c
	so-input --with-app show --only '*/show' | reloc-extract | so-gen -q -o out
	so-run --no-app -q -d out -r run ./show >plain
	rm -r run
	so-run -q -d out -r run ./show | diff plain -
	count-extract -q run | map-dump --json | grep -q '"name":"show"'
	rm -r run
	so-run -q -d out -r run sh -c './show; exit' | grep -v '^_=' >profiled
	rm -r run
	so-run --no-app -q -d out -r run sh -c './show; exit' | grep -v '^_=' | diff - profiled
}

# beside COMMAND...: the same output as without, and the executable counted
beside() {
	local name
	type -P "$1" >where || skip "no $1 here"
	name=$(basename "$(realpath "$(cat where)")")
	"$@" >plain
	XDG_CACHE_HOME=$PWD/cache soprof record -q -o run "$@" >profiled
	diff plain profiled
	count-extract -q run | map-dump --json | grep '"profiled":' | grep -q "\"name\":\"$name\""
}

@test "sbcl finds its core beside its executable" {
	beside sbcl --noinform --no-userinit --non-interactive --eval '(progn (princ sb-ext:*runtime-pathname*) (princ sb-ext:*core-pathname*))'
}

@test "java finds its home by its executable" {
	echo 'class Home { public static void main(String[] a) { System.out.println(System.getProperty("java.home")); } }' >Home.java
	type -P javac >found && type -P java >>found || skip "no javac and java here"
	beside javac -d . Home.java
	beside java -cp . Home
}
