# programs.bats - programs of distributions show the same with profiled objects as without: output, messages, status and files.
# test/workloads/NAME.sh says what each does; all objects that it references are profiled, the loader excepted.
load common

same() {	# NAME MODE
	run "$REPO/test/workloads/run" "$1" "$2"
	echo "$output"
	[ "$status" != 3 ] || skip "$output"
	[ "$status" = 0 ]
}

# moved, traps in old text
@test "bash poison" { same bash poison; }
@test "bzip2 poison" { same bzip2 poison; }
@test "clang poison" { same clang poison; }
@test "configure poison" { same configure poison; }
@test "curl poison" { same curl poison; }
@test "gawk poison" { same gawk poison; }
@test "gdb poison" { same gdb poison; }
@test "git poison" { same git poison; }
@test "libz poison" { same libz poison; }
@test "llc poison" { same llc poison; }
@test "openssl poison" { same openssl poison; }
@test "perl poison" { same perl poison; }
@test "python poison" { same python poison; }
@test "qt poison" { same qt poison; }
@test "sort poison" { same sort poison; }
@test "sqlite3 poison" { same sqlite3 poison; }
@test "tar poison" { same tar poison; }
@test "threads poison" { same threads poison; }
@test "throw poison" { same throw poison; }
@test "xmllint poison" { same xmllint poison; }
@test "xz poison" { same xz poison; }

# moved, not counted
@test "bash identity" { same bash identity; }
@test "bzip2 identity" { same bzip2 identity; }
@test "clang identity" { same clang identity; }
@test "configure identity" { same configure identity; }
@test "curl identity" { same curl identity; }
@test "gawk identity" { same gawk identity; }
@test "gdb identity" { same gdb identity; }
@test "git identity" { same git identity; }
@test "libz identity" { same libz identity; }
@test "llc identity" { same llc identity; }
@test "openssl identity" { same openssl identity; }
@test "perl identity" { same perl identity; }
@test "python identity" { same python identity; }
@test "qt identity" { same qt identity; }
@test "sort identity" { same sort identity; }
@test "sqlite3 identity" { same sqlite3 identity; }
@test "tar identity" { same tar identity; }
@test "threads identity" { same threads identity; }
@test "throw identity" { same throw identity; }
@test "xmllint identity" { same xmllint identity; }
@test "xz identity" { same xz identity; }

# counted
@test "bash counted" { same bash counted; }
@test "bzip2 counted" { same bzip2 counted; }
@test "clang counted" { same clang counted; }
@test "configure counted" { same configure counted; }
@test "curl counted" { same curl counted; }
@test "gawk counted" { same gawk counted; }
@test "gdb counted" { same gdb counted; }
@test "git counted" { same git counted; }
@test "libz counted" { same libz counted; }
@test "llc counted" { same llc counted; }
@test "openssl counted" { same openssl counted; }
@test "perl counted" { same perl counted; }
@test "python counted" { same python counted; }
@test "qt counted" { same qt counted; }
@test "sort counted" { same sort counted; }
@test "sqlite3 counted" { same sqlite3 counted; }
@test "tar counted" { same tar counted; }
@test "threads counted" { same threads counted; }
@test "throw counted" { same throw counted; }
@test "xmllint counted" { same xmllint counted; }
@test "xz counted" { same xz counted; }
