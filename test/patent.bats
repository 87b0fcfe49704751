#!/usr/bin/env bats
# What patent JP2795309B2 describes, on a MIPS object in its own forms: rows, new immediates, data words, the map table.
load common

setup() {
	local endian
	cd "$BATS_TEST_TMPDIR" || return 1
	for endian in mips mipsel; do
		command -v $endian-linux-gnu-as > /dev/null || skip "$endian-linux-gnu-as is not installed (test/install-packages test/packages-mips)"
		mkdir -p $endian
		$endian-linux-gnu-as -mips1 -KPIC -o $endian/o.o "$REPO/test/input/mips-patent.s"
		$endian-linux-gnu-ld -shared --build-id -o $endian/libp.so $endian/o.o
	done
}

pipeline() {	# DIRECTORY
	so-input "$PWD/$1/libp.so" > "$1/list" && reloc-extract -o "$1/table" "$1/list" && so-gen -q "${@:2}" -o "$1/out" "$1/table"
}

value() { "$1-linux-gnu-nm" "$1/libp.so" | awk -v n="$2" '$3 == n { print $1 }'; }

# The numbers of the object, its table and its profiled twin, each from another source; all conditions in one place.
check() {	# ENDIAN START INNER WORD
	map-dump "$1/table" > "$1/rows"
	"$PYTHON" - "$1" "$2" "$3" "$4" <<-'P'
	import re, struct, subprocess, sys
	endian, start, inner, word = sys.argv[1], *(int(a, 16) for a in sys.argv[2:])
	E = ">" if endian == "mips" else "<"
	def tool(name, *args):
	    return subprocess.run([f"{endian}-linux-gnu-{name}", *args], capture_output=True, text=True, check=True).stdout
	got = int(re.search(r"PLTGOT\)?\s+(0x\w+)", tool("readelf", "-d", f"{endian}/libp.so"))[1], 16)
	gp = got + 0x7ff0
	rows = [line.split() for line in open(f"{endian}/rows")]
	def row(kind):
	    return {int(r[1], 16): int(r[2], 0) for r in rows if r and r[0] == kind}
	# figure 6: type, address, information
	assert row("prologue") == {start: gp - start, inner: gp - inner}, row("prologue")
	assert row("got-reference") == {start + 20: inner}, row("got-reference")
	assert row("virtual-address") == {word: inner}, row("virtual-address")
	out = f"{endian}/out/libp.so"
	data = open(out, "rb").read()
	sections = {}
	for line in tool("readelf", "-SW", out).splitlines():
	    m = re.match(r"\s*\[\s*\d+\] (\S+)\s+\S+\s+(\w{8}) (\w+) (\w+)", line)
	    if m:
	        sections[m[1]] = [int(x, 16) for x in m.groups()[1:]]
	def at(address, n=1):
	    for a, off, size in sections.values():
	        if a and a <= address < a + size:
	            v = struct.unpack_from(f"{E}{n}I", data, off + address - a)
	            return v if n > 1 else v[0]
	a, off, size = sections[".soprof.map"]
	blocks = {}
	for old, new, flags in struct.iter_unpack(E + "III", data[off:off + size]):
	    blocks[old] = new, flags >> 24
	# the data word leads to the new text
	assert at(word) == blocks[inner][0]
	# the prologue's two immediates make the same gp from the new address
	for entry in start, inner:
	    new, inserted = blocks[entry]
	    hi, lo, add = at(new + inserted, 3)
	    assert hi >> 16 == 0x3c1c and lo >> 16 == 0x279c and add == 0x0399e021, (hex(hi), hex(lo))
	    distance = (hi << 16) + (lo & 0xffff) - (0x10000 if lo & 0x8000 else 0)
	    assert (new + distance) & 0xffffffff == gp, (hex(new), hex(distance))
	# the reference comes out at the new address (lw gives the page, which stays)
	new, inserted = blocks[start]
	offset = int(re.search(rf"^\s*{start + 12:x}:.*lw\s+v0,(-\d+)\(gp\)", tool("objdump", "-d", f"{endian}/libp.so"), re.M)[1])
	page = at(gp + offset)
	code = at(new + inserted + 20, 3)
	value = {2: page}
	for w in code:
	    imm = (w & 0xffff) - (0x10000 if w & 0x8000 else 0)
	    if w >> 26 == 15:
	        value[w >> 16 & 31] = (w & 0xffff) << 16
	    elif w >> 26 == 9:
	        value[w >> 16 & 31] = value[w >> 21 & 31] + imm
	    elif w:
	        value[w >> 11 & 31] = value[w >> 21 & 31] + value[w >> 16 & 31]
	assert value[2] & 0xffffffff == blocks[inner][0], (hex(value[2]), hex(blocks[inner][0]))
	# figure 7: one word for each original instruction, in the new text segment
	a, off, size = sections[".soprof.places"]
	text = sections[".text"][0] & ~63
	segment = [l.split() for l in tool("readelf", "-lW", out).splitlines() if l.strip().startswith("LOAD") and " E " in l][-1]
	assert int(segment[2], 16) <= a < int(segment[2], 16) + int(segment[5], 16)
	for old in (start, inner):
	    assert (old + at(a + old - text)) & 0xffffffff == blocks[old][0]
	assert (start + 4 + at(a + start + 4 - text)) & 0xffffffff == blocks[start][0] + blocks[start][1] + 4
	P
}

@test "prologue, reference and data word: found, moved, mapped" {
	for endian in mips mipsel; do
		pipeline $endian
		check $endian "$(value $endian start)" "$(value $endian inner)" "$(value $endian word)"
	done
}

@test "an object without relocations: data words between the bounds of text" {
	for endian in mips mipsel; do
		"$PYTHON" - $endian <<-'P'
		import re, subprocess, struct, sys
		endian = sys.argv[1]
		E = ">" if endian == "mips" else "<"
		path = f"{endian}/libp.so"
		data = bytearray(open(path, "rb").read())
		s = subprocess.run([f"{endian}-linux-gnu-readelf", "-SW", path], capture_output=True, text=True).stdout
		off, size = (int(x, 16) for x in re.search(r"\.dynamic\s+DYNAMIC\s+\w+ (\w+) (\w+)", s).groups())
		for i in range(off, off + size, 8):
		    if struct.unpack_from(E + "I", data, i)[0] == 18:	# DT_RELSZ
		        struct.pack_into(E + "I", data, i + 4, 0)
		open(path, "wb").write(data)
		P
		pipeline $endian
		check $endian "$(value $endian start)" "$(value $endian inner)" "$(value $endian word)"
	done
}

@test "MIPS I has no atomic counting" {
	so-input "$PWD/mips/libp.so" | reloc-extract > table
	run so-gen --atomic -o out table
	[ "$status" = 1 ]
	[[ $output == *"libp.so: not profiled: --atomic: MIPS I has no atomic instructions"* ]]
}

# The host is a program of ours; early(x) gives a word through gp, halves(p) what stands at p + 1, and 0x10000000, either(x) 1 or that word and 1 or 16.
@test "gp made in the slot of a branch, t9 loaded by halves, a branch on a condition to a prologue: all move" {
	for endian in mips mipsel; do
		command -v qemu-$endian > list || skip "qemu-$endian is not installed"
		cd $endian
		$endian-linux-gnu-as -march=mips32r2 -KPIC -o own.o "$REPO/test/input/mips-own.s"
		$endian-linux-gnu-ld -shared --build-id -soname libown.so -o libown.so own.o
		cat > host.c <<-'C'
		#include <stdio.h>
		unsigned early(int), halves(const void *), either(int);
		int main(void)
		{
			printf("%x %x %x %x %x %x\n", early(1), early(-1), halves("\0\1\1\1\1"), either(-1), either(0), either(1));
		}
		C
		$endian-linux-gnu-gcc -O2 -o host host.c -L. -lown
		cd ..
		so-input --only '*libown*' "$PWD/$endian/libown.so" > list 2> said
		reloc-extract -o table list
		map-dump table > rows
		entry=$((16#$($endian-linux-gnu-nm $endian/libown.so | awk '$3 == "early" { print $1 }')))
		got=$((16#$($endian-linux-gnu-readelf -d $endian/libown.so | awk '/PLTGOT/ { sub("0x", "", $3); print $3 }')))
		[ "$(awk -v a=0x$(printf %x $entry) '$1 == "prologue" && $2 == a { print $3 }' rows)" = $((got + 0x7ff0 - entry)) ]
		[ "$(grep -c not-moved rows)" = 0 ]
		for how in --poison-old "--identity --poison-old" --atomic; do
			rm -rf out
			so-gen $how -o out table 2> said
			[ "$(grep -c "not moved" said)" = 0 ]
			[ "$(qemu-$endian -L /usr/$endian-linux-gnu -E LD_LIBRARY_PATH="$PWD/out" $endian/host)" = "1234 5678 11010101 1235 1 1244" ]
		done
	done
}
