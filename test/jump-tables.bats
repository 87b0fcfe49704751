#!/usr/bin/env bats
# jump-tables.bats - lib/code: which tables indirect jumps go through, how long they are, and that nothing else is taken for one.
# Lengths are compared with what the compiler wrote; every escape to old text stops the poisoned object.
load common

# build NAME COMPILER OPTION...: libjump.so, host, and the compiler's assembly
build() {
	local name=$1 cc=$2
	shift 2
	command -v "$cc" > /dev/null || skip "$cc is not installed (test/install-packages)"
	"$cc" -O2 -fPIC -fno-ident "$@" -S -o lib.s "$REPO/test/input/$name.c"
	"$cc" -shared -Wl,-z,relro -o libjump.so lib.s $MORE
	"$cc" -o host "$REPO/test/input/jump-host.c" -L. -ljump
	LD_LIBRARY_PATH=. ./host > expected
	so=$PWD/libjump.so
	LD_LIBRARY_PATH=. so-input --only "$so" host > list
	reloc-extract -v -o table list 2> said
	map-dump --json table > rows
}

# Every table that the compiler wrote is found, whole, and everything moves.
all_tables() {
	cat said
	[ -s expected ]
	[ "$("$PYTHON" "$REPO/test/oracle/jump-tables.py" rows < rows)" = "$("$PYTHON" "$REPO/test/oracle/jump-tables.py" asm lib.s)" ]
	! grep 'fde.*stays\|stays: unresolved' said
}

# The poisoned object does what the original does.
poisoned() {
	mkdir -p out
	so-gen --identity --poison-old -o out table
	LD_LIBRARY_PATH=out:. ./host > got
	diff expected got
}

with() {
	build "$@"
	all_tables
	poisoned
}

@test "two switches, both tables hoisted out of the loop: gcc" { with jump-hoisted gcc; }
@test "two switches, both tables hoisted out of the loop: clang" { with jump-hoisted clang-14; }
@test "the same at -O3 and -Os: gcc" { with jump-hoisted gcc -O3; with jump-hoisted gcc -Os; }
@test "tables of two and three entries, one behind the other: gcc" { with jump-short gcc --param case-values-threshold=2; }
@test "tables of two and three entries, one behind the other: clang" { with jump-short clang-14 -mllvm -min-jump-table-entries=2; }
@test "300 cases whose bound only the caller knows: gcc" { with jump-wide gcc; }
@test "300 cases whose bound only the caller knows: clang" { with jump-wide clang-14; }
@test "computed goto through relocated labels: gcc" { with jump-goto gcc; }
@test "computed goto through relocated labels: clang" { with jump-goto clang-14; }
# Two tables of seven entries; padding behind them holds zeros, which lead to the label that is the base.
labels() {
	build jump-labels "$1"
	! grep 'stays: unresolved' said
	"$PYTHON" "$REPO/test/oracle/jump-tables.py" rows < rows | grep '^[78] [78]$'
	poisoned
}
@test "label differences relative to a label, several tables: gcc" { labels gcc; }
@test "label differences relative to a label, several tables: clang" { labels clang-14; }
@test "cases that cannot happen, a last block that never returns: gcc" { with jump-last gcc; }
@test "cases that cannot happen, a last block that never returns: clang" { with jump-last clang-14; }
@test "jumps with entry marks: gcc -fcf-protection" { with jump-hoisted gcc -fcf-protection; }

odd() { MORE=$REPO/test/input/jump-odd.s build jump-odd gcc; }

# count TABLE: the length of a table of jump-odd.s
count() {
	local at
	at=0x$(nm libjump.so | awk -v s="$1" '$3 == s { sub(/^0+/, "", $1); print $1 }')
	"$PYTHON" -c 'import json, sys
for line in sys.stdin:
	row = json.loads(line)
	if row.get("row") == "jump-table" and row["information"] == sys.argv[1]:
		print(row["details"].get("count", 0), row["details"]["kind"])' "$at" < rows
}

@test "tables of one and of two entries without a bound end where the next one begins" {
	odd
	[ "$(count one_table)" = "1 scan" ]
	[ "$(count two_table)" = "2 scan" ]
}

@test "a comparison of bytes above 127 bounds a table" {
	odd
	[ "$(count bytes_table)" = "131 bound" ]
}

@test "a bound that is the same on two ways is kept when the second is found late" {
	odd
	[ "$(count late_table)" = "7 bound" ]
	poisoned
}

# compared() adds 1 at a 0; 2 at a 2 and 16 for a 0 behind that, 64 for a 2, 34 for a 1; nothing at a 3 and at a 1, which skips one and
# goes on with the next the other way; a 4 and what is above end it: 1 + 1 + (2 + 16) + (2 + 34) + (2 + 64) + 1 + 1.
@test "MIPS: an index compared on two ways that meet bounds its table, an outdated comparison does not" {
	for endian in mips mipsel; do
		command -v qemu-$endian > list || skip "qemu-$endian is not installed (test/install-packages test/packages-mips)"
		mkdir $endian
		$endian-linux-gnu-as -march=mips32r2 -KPIC -o compared.o "$REPO/test/input/mips-compared.s"
		$endian-linux-gnu-ld -s -shared --build-id -soname libcompared.so -o $endian/libcompared.so compared.o
		cat > host.c <<-'C'
		#include <stdio.h>
		int compared(const char *, int), outdated(const char *, int, const char *);
		int main(void)
		{
			const char bytes[] = "\0\0\2\0\2\1\2\2\3\1\7\0\0\4";
			printf("%d %d %d\n", compared(bytes, 0), compared(bytes, 1), compared("\5", 1));
			printf("%d %d %d %d\n", outdated("\3\4", 0, 0), outdated("\3\4", 1, 0), outdated("\5", 0, "\3"), outdated("\3", 0, "\5"));
		}
		C
		$endian-linux-gnu-gcc -O2 -o $endian/host host.c -L$endian -lcompared
		so-input --only '*libcompared*' "$PWD/$endian/libcompared.so" > list 2> said
		reloc-extract -o table list
		map-dump --json table > rows
		[ "$(grep -c not-moved rows)" = 0 ]
		[ "$(map-dump table | grep -c '^  jump-table ')" = 3 ]
		[ "$("$PYTHON" "$REPO/test/oracle/jump-tables.py" rows < rows)" = "3 5 6" ]
		for how in "--identity --poison-old" --poison-old; do
			rm -rf out
			so-gen $how -o out table 2> said
			[ "$(qemu-$endian -L /usr/$endian-linux-gnu -E LD_LIBRARY_PATH="$PWD/out" $endian/host)" = "$(printf '124 124 0\n3 4 9 5')" ]
		done
	done
}

@test "a table ends with its section, plausible words behind it are no entries" {
	odd
	[ "$(count end_table)" = "2 scan" ]
	[ $((0x$(nm libjump.so | awk '$3 == "words" { print $1 }') - 0x$(nm libjump.so | awk '$3 == "end_table" { print $1 }'))) = 8 ]
	mkdir out
	so-gen --identity -o out table
	[ "$(readelf -x .words libjump.so)" = "$(readelf -x .words out/libjump.so)" ]
}

@test "slots of fixed size keep their place" {
	odd
	at=$(nm libjump.so | awk '$3 == "slots" { sub(/^0+/, "", $1); print $1 }')
	grep "0x$at+[0-9]* stays" said
}

@test "jumps that leave the function are tail calls, through a table of functions too" {
	odd
	for f in tail pick; do
		! grep "0x$(nm libjump.so | awk -v f=$f '$3 == f { sub(/^0+/, "", $1); print $1 }')+[0-9]* stays" said
	done
	[ "$(count functions)" = "" ]
	poisoned
}
