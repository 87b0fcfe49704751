#!/usr/bin/env bats
# mips-objects.bats - what a profiled MIPS object is for kernels with 64 KiB pages; other forms of MIPS are refused by name
load common

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	for endian in mips mipsel; do
		for tool in $endian-linux-gnu-gcc qemu-$endian; do
			command -v $tool >list || skip "$tool is not installed (test/install-packages test/packages-mips)"
		done
		mkdir $endian
	done
}

pipeline() {	# LIBRARY OPTION...
	so-input --only "*$1" "$PWD/$1" 2>said >list && reloc-extract -o table list && so-gen -q "${@:2}" -o out table
}

# Each segment as readelf has it: offset and address congruent to 64 KiB, no page of that size in two of them; what the counter file is
# mapped over is whole pages.
check_pages() {	# READELF OBJECT
	"$PYTHON" - "$1" "$2" <<-'P'
	import re, struct, subprocess, sys
	readelf, path = sys.argv[1:]
	def tool(*args):
	    return subprocess.run([readelf, *args, path], capture_output=True, text=True, check=True).stdout
	loads = [[int(x, 16) for x in m] for m in re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) (0x\w+) [RWE ]+ (0x\w+)", tool("-lW"))]
	assert len(loads) >= 5, loads
	pages = []
	for offset, address, filesz, memsz, align in loads:
	    assert align == 0x10000 and offset % align == address % align, loads
	    pages += range(address // align, (address + memsz - 1) // align + 1)
	assert pages == sorted(set(pages)), loads
	sections = {m[0]: [int(x, 16) for x in m[1:]] for m in re.findall(r"\] (\.soprof\S+) +\w+ +(\w{8}) (\w{6}) (\w{6})", tool("-SW"))}
	private, header, counts = (sections[".soprof." + n] for n in ("private", "counters", "counts"))
	assert private[0] % 0x10000 == 0 and private[2] == 0x10000
	assert header[0] == private[0] + 0x10000 and header[2] == 0x10000 and counts[0] == header[0] + 0x10000 and counts[2] % 0x10000 == 0
	# the R-W segment is these, in whole pages
	assert [l for l in loads if l[1] == private[0]][0][3] == 0x20000 + counts[2]
	print(0x10000 + counts[2])
	P
}

@test "64 KiB pages: alignment of segments, size of the counter file" {
	for endian in mips mipsel; do
		cd $endian
		# 9,000 blocks need two pages for counters, a few need one
		for n in 4 1500; do
			rm -rf out counters
			mkdir counters
			for ((i = 0; i < n; i++)); do
				echo "int f$i(int x) { return x > $i ? x & 1 ? x * 3 : x + $i : x < 0 ? -x : x; }"
			done >f.c
			$endian-linux-gnu-gcc -O1 -fPIC -shared -Wl,--build-id -o libf.so f.c
			echo 'int f1(int); int main(void) { return f1(5) != 15; }' >main.c
			$endian-linux-gnu-gcc -o main main.c -L. -lf
			pipeline libf.so
			size=$(check_pages $endian-linux-gnu-readelf out/libf.so)
			SOPROF_DIR=$PWD/counters qemu-$endian -L /usr/$endian-linux-gnu -E LD_LIBRARY_PATH=out ./main
			[ "$(stat -c %s counters/libf.so.*.0)" = "$size" ]
			[ "$("$PYTHON" "$REPO/test/counter_file.py" --field page counters/libf.so.*.0)" = 65536 ]
			[ $n = 4 ] && [ "$size" = 131072 ] || [ "$size" -gt 131072 ]
		done
		cd ..
	done
}

@test "MIPS16, microMIPS, release 6, n32, n64: refused by name, other objects go on" {
	printf 'int twice(int x) { return x + x; }\nint f(int x) { return twice(x) * 3; }\n' >f.c
	for endian in mips mipsel; do
		cd $endian
		$endian-linux-gnu-gcc -O2 -fPIC -shared -Wl,--build-id -o libgood.so ../f.c
		while IFS=: read -r option flags why; do
			rm -rf out
			$endian-linux-gnu-gcc -O2 -fPIC -shared -nostdlib -Wl,--build-id $option -o libbad.so ../f.c
			# the compiler made what is meant
			$endian-linux-gnu-readelf -h libbad.so | grep -qE "$flags"
			so-input --only '*libbad.so' "$PWD/libbad.so" 2>said >bad
			so-input --only '*libgood.so' "$PWD/libgood.so" 2>said >good
			# between two objects that go on
			cat good bad good >list
			run reloc-extract -o table list
			echo "$option: $output"
			[ "$status" = 1 ]
			[ "${#lines[@]}" = 1 ]
			[ "$output" = "reloc-extract: $PWD/libbad.so: not profiled: $why" ]
			run so-gen -q -o out table
			[ "$status" = 0 ]
			[ "$(ls out)" = libgood.so ]
		done <<-'END'
			-mips16:Flags.* mips16:MIPS16 code is not handled
			-mmicromips:Flags.* micromips:microMIPS code is not handled
			-mips32r6 -mabi=32:Flags.* mips32r6:MIPS release 6 code is not handled
			-mabi=n32 -march=mips64:Flags.* abi2:MIPS n32 code: only o32 is handled
			-mabi=64 -march=mips64:Class.*ELF64:MIPS n64 code: only o32 is handled
			-mabi=64 -march=mips64r6:Flags.* mips64r6:MIPS n64 code: only o32 is handled
		END
		cd ..
	done
}

# An ABI that no compiler of today makes (o64), by the header's flags.
@test "another ABI is refused by name" {
	printf 'int f(int x) { return x * 3; }\n' >f.c
	for endian in mips mipsel; do
		$endian-linux-gnu-gcc -O2 -fPIC -shared -Wl,--build-id -o $endian/libf.so f.c
		"$PYTHON" - $endian <<-'P'
		import struct, sys
		E = ">" if sys.argv[1] == "mips" else "<"
		path = sys.argv[1] + "/libf.so"
		data = bytearray(open(path, "rb").read())
		flags = struct.unpack_from(E + "I", data, 36)[0]
		assert flags & 0xf000 == 0x1000		# o32
		struct.pack_into(E + "I", data, 36, flags & ~0xf000 | 0x2000)
		open(path, "wb").write(data)
		P
		so-input --only '*libf.so' "$PWD/$endian/libf.so" 2>said >list
		run reloc-extract -o table list
		[ "$status" = 1 ]
		[ "$output" = "reloc-extract: $PWD/$endian/libf.so: not profiled: MIPS code of another ABI than o32" ]
	done
}

@test "a function that nothing but a word of data leads to, behind one with a jump table" {
	cat >main.c <<-'C'
	#include <stdio.h>
	int behind_pick(int x, int y);
	extern int (*behind_pointer)(int);
	int main(void)
	{
		for (int i = 0; i < 8; i++)
			printf("%d ", behind_pick(i, 1000 + i));
		printf("%d\n", behind_pointer(6));
	}
	C
	gcc -O2 -o plain main.c "$REPO/test/input/mips-behind.c"
	./plain >expected
	for endian in mips mipsel; do
		cd $endian
		$endian-linux-gnu-gcc -O2 -fno-toplevel-reorder -fPIC -shared -Wl,--build-id -o libb.so "$REPO/test/input/mips-behind.c"
		$endian-linux-gnu-gcc -O2 -o main ../main.c -L. -lb
		at=$($endian-linux-gnu-nm libb.so | awk '$3 == "behind" { print $1 }')
		pick=$($endian-linux-gnu-nm -S libb.so | awk '$4 == "behind_pick" { print $1, $2 }')
		[ $((16#$at)) = $((16#${pick% *} + 16#${pick#* })) ]
		$endian-linux-gnu-strip libb.so
		pipeline libb.so --identity --poison-old
		map-dump table >rows
		grep -qE "^ +prologue +0x$(printf %x 0x$at) " rows
		grep -qE "^ +jump-table " rows
		[ "$(awk '$1 == "virtual-address" { print $3 }' rows | grep -cx "0x$(printf %x 0x$at)")" = 1 ]
		[ "$(grep -c "an address inside" rows)" = 0 ]
		qemu-$endian -L /usr/$endian-linux-gnu -E LD_LIBRARY_PATH=out ./main | cmp - ../expected
		cd ..
	done
}
