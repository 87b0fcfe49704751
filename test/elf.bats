#!/usr/bin/env bats
# lib/elf/object: compared with pyelftools on real and foreign objects; files that lie; a short run of the fuzz targets.
load common
bats_require_minimum_version 1.5.0

ELF="lib/elf/object.c lib/elf/notes.c lib/elf/relocs.c lib/elf/symbols.c"

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	(cd "$REPO" && ${CC:-gcc} -I. -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined -o "$BATS_FILE_TMPDIR/object-print" \
		test/elf/object-print.c $ELF lib/base/*.c -lelf -lxxhash) || return 1
	cat > small.c <<-'END'
		extern int g(void);
		int h(void) { return g(); }
		int (*const tab[])(void) = { h, h, g };
		static int x, *far[200] = { &x };
		int **px = far, *end[70] = { [3] = &x, [66] = &x, [68] = &x };
	END
	local link="-shared -fPIC -nostdlib -Wl,-soname,libsmall.so -Wl,-z,max-page-size=4096"
	gcc $link -o small small.c &&
	gcc $link -Wl,--hash-style=sysv -o sysv small.c &&
	gcc $link -Wl,--hash-style=gnu -Wl,-z,pack-relative-relocs -o relr small.c
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$BATS_FILE_TMPDIR:$PATH
	DIR=$BATS_FILE_TMPDIR
}

same_as_pyelftools() {
	for f in "$@"; do
		object-print "$f" > ours
		"$PYTHON" "$REPO/test/elf/object.py" "$f" > theirs
		diff ours theirs
	done
}

# lie FILE PYTHON: runs the code on d, the bytes of an ELF64 file; tag(N) is the place of a dynamic entry's value, phdr(N) a segment's.
lie() {
	"$PYTHON" - "$DIR/small" "$1" <<-END
		import struct, sys
		d = bytearray(open(sys.argv[1], "rb").read())
		def get(at): return struct.unpack_from("<Q", d, at)[0]
		def put(at, v, form="<Q"): struct.pack_into(form, d, at, v)
		def phdr(kind):
		    at = get(32)
		    while struct.unpack_from("<I", d, at)[0] != kind: at += 56
		    return at
		def tag(n):
		    at = get(phdr(2) + 8)
		    while get(at) != n: at += 16
		    return at + 8
		def section(kind, n=0):
		    found = [get(40) + 64 * i for i in range(struct.unpack_from("<H", d, 60)[0])]
		    return [s for s in found if struct.unpack_from("<I", d, s + 4)[0] == kind][n]
		$2
		open(sys.argv[2], "wb").write(d)
	END
}
lie_says() {
	lie lie "$2"
	run -1 object-print lie
	echo "$output"
	[[ $output == $1 ]]
}

@test "elf: the same relocations, symbols, sections and notes as pyelftools reads" {
	same_as_pyelftools "$DIR"/{small,sysv,relr} /lib/x86_64-linux-gnu/lib{c.so.6,m.so.6,z.so.1} /usr/bin/readelf
}

@test "elf: ELF32, big-endian, REL" {
	command -v clang-14 ld.lld-14 > /dev/null || skip "no clang-14 with lld"
	for t in i386 mips mipsel aarch64 powerpc64; do
		clang-14 --target=$t-linux-gnu -fuse-ld=lld -shared -fPIC -nostdlib -o $t "$DIR/small.c"
		same_as_pyelftools $t
	done
	file mips | grep -q 'ELF 32-bit MSB'
}

@test "elf: RELR words expand to slots, addends come from the file" {
	[ "$(object-print "$DIR/relr" | grep -c '^reloc relr')" -eq 5 ]
	object-print "$DIR/relr" | grep '^reloc relr' | cut -d ' ' -f 4,5 | sort > ours
	# The same slots are RELATIVE relocations without packing; addresses differ, so compare their distances.
	object-print "$DIR/small" | grep '^reloc rela.* 8 0$' | cut -d ' ' -f 4,5 | sort > theirs
	distances() { "$PYTHON" -c 'import sys; v = [int(l.split()[0], 16) for l in sys.stdin]; print([x - v[0] for x in v])'; }
	[ "$(distances < ours)" = "$(distances < theirs)" ]
}

@test "elf: dynamic symbols without section headers: from either hash table" {
	for f in "$DIR"/{small,sysv,relr} /lib/x86_64-linux-gnu/lib{c.so.6,m.so.6,z.so.1} /usr/bin/readelf; do
		diff <(object-print "$f" | grep ^dynsym) <(object-print -n "$f" | grep ^dynsym)
		cp "$f" bare
		printf '\0\0\0\0\0\0\0\0' | dd of=bare bs=1 seek=40 conv=notrunc status=none
		diff <(object-print "$f" | grep -e ^dynsym -e ^reloc -e ^id) <(object-print bare | grep -e ^dynsym -e ^reloc -e ^id)
	done
}

@test "elf: entries that DT_RELA and DT_JMPREL share are reported once" {
	lie both 'put(tag(8), get(tag(8)) + get(tag(2)))'
	diff <(object-print "$DIR/small") <(object-print both)
	[ "$(object-print both | grep -c '^reloc plt')" -eq 1 ]
}

@test "elf: a string table without its end, strings outside it" {
	lie cut 'put(tag(10), get(tag(10)) - 1)'
	[ "$(object-print cut | grep -c ^dynsym)" -eq "$(object-print "$DIR/small" | grep -c ^dynsym)" ]
	lie out 'put(tag(14), 1 << 40)'
	[ "$(object-print out | head -n 1)" = "soname " ]
}

@test "elf: the soprof note is seen" {
	"$PYTHON" -c 'import struct; open("note", "wb").write(struct.pack("<III8sI", 7, 4, 1, b"soprof\0", 1))'
	objcopy --add-section .note.soprof=note "$DIR/small" marked
	object-print marked | grep -qx 'profiled 1'
	"$PYTHON" -c 'import struct; open("note", "wb").write(struct.pack("<III8sI", 7, 4, 2, b"soprof\0", 1))'
	objcopy --add-section .note.soprof=note "$DIR/small" marked
	object-print marked | grep -qx 'profiled 0'
}

@test "elf: numbers that lie are refused by name" {
	size=$(stat -c %s "$DIR/small")
	lie_says 'ELF header: invalid data encoding 3' 'd[5] = 3'
	lie_says 'ELF header: unknown version 2' 'd[6] = 2; put(20, 2, "<I")'
	lie_says 'file type 65280, *' 'put(16, 0xff00, "<H")'
	lie_says 'no program headers' 'put(56, 0, "<H")'
	lie_says 'program headers: wrong entry size 32' 'put(54, 32, "<H")'
	lie_says 'truncated: * program headers at 0xfffffffffffffff0 lie outside the file' 'put(32, 2**64 - 16)'
	lie_says 'section headers: wrong entry size 65' 'put(58, 65, "<H")'
	lie_says 'truncated: 65279 section headers at * lie outside the file' 'put(60, 65279, "<H")'
	lie_says 'truncated: program header 0, offset 0x0, size 0x7fffffffffffffff, lies outside the file' 'put(phdr(1) + 32, 2**63 - 1)'
	lie_says 'program header 0: larger in the file than in memory' 'put(phdr(1) + 40, 1)'
	lie_says 'program header 0: runs over the end of the address space' 'put(phdr(1) + 40, 2**64 - 1); put(phdr(1) + 16, 4096)'
	lie_says 'program header 1: overlaps the segment before it, or is out of order' 'put(phdr(1) + 40, 0x100000)'
	lie_says 'section 1, offset 0x*, size 0xfffffffffffffff8, lies outside the file' 'put(get(40) + 64 + 32, 2**64 - 8)'
	lie_says 'section *: wrong entry size 23' 'put(section(11) + 56, 23)'
	lie_says 'dynamic section: not in a segment' 'put(phdr(2) + 16, 0x10000000)'
	lie_says 'dynamic section: has no end' 'put(phdr(2) + 32, 32)'
	lie_says 'dynamic section: the string table at 0x* lies outside the file' 'put(tag(10), 1 << 62)'
	lie_says 'dynamic section: wrong size of DT_RELA' 'put(tag(9), 16)'
	lie_says 'dynamic section: wrong size of DT_RELA' 'put(tag(8), 25)'
	lie_says 'dynamic section: DT_RELA at 0xffffffffffffffe8 lies outside the file' 'put(tag(7), 2**64 - 24)'
	lie_says 'dynamic section: DT_JMPREL at 0x* lies outside the file' 'put(tag(2), 24 << 40)'
	lie_says 'dynamic section: wrong size of symbols' 'put(tag(11), 16)'
	lie_says 'dynamic section: symbols at 0x* lie outside the file' 'put(tag(6), 1 << 50)'
}

@test "elf: hash tables and symbol counts that lie do no harm" {
	for n in 0x6ffffef5 5 6; do
		lie lie "put(60, 0, '<H'); put(40, 0); put(tag($n), get(tag(7)))"
		run object-print lie
		[ "$status" -le 1 ]
	done
	lie lie 'put(60, 0, "<H"); put(40, 0); h = get(tag(0x6ffffef5)); put(h, 0xffffffff, "<I"); put(h + 8, 0xffffffff, "<I")'
	run -0 object-print lie
}

fuzz() {
	command -v clang-14 > /dev/null || skip "no clang-14"
	(cd "$REPO" && clang-14 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -I. -D_GNU_SOURCE -g -O1 \
		-Dmmap=fuzz_map -Dmunmap=fuzz_unmap -Dmadvise=fuzz_no_advice -o "$BATS_TEST_TMPDIR/fuzz" "test/fuzz/$1.c" \
		test/fuzz/quiet.c lib/base/mem.c lib/base/json.c lib/base/progress.c "${@:2}")
	nice ./fuzz -seed=1 -max_len=16384 -max_total_time="${FUZZ_SECONDS:-4}" -verbosity=0 -print_final_stats=0 seeds > log 2>&1 || {
		tail -n 40 log
		return 1
	}
}

@test "fuzz: ELF objects" {
	mkdir seeds
	cp "$DIR"/{small,sysv,relr} seeds
	for t in mips mipsel aarch64; do
		! command -v ld.lld-14 > /dev/null || clang-14 --target=$t-linux-gnu -fuse-ld=lld -shared -fPIC -nostdlib -Wl,-z,max-page-size=4096 -o seeds/$t "$DIR/small.c"
	done
	strip seeds/*v seeds/*r
	fuzz object $ELF -lelf -lxxhash
}

@test "fuzz: ld.so.cache" {
	mkdir -p seeds root/etc root/x/glibc-hwcaps/x86-64-v2
	cp "$DIR/small" root/x/libtree.so.1
	cp "$DIR/small" root/x/glibc-hwcaps/x86-64-v2/libtree.so.1
	echo /x > root/etc/ld.so.conf
	for format in old new compat; do
		/sbin/ldconfig -r root -c $format
		cp root/etc/ld.so.cache seeds/$format
	done
	fuzz cache tools/so-input/cache.c
}
