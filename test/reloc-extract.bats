# reloc-extract.bats - bad input, the stream it writes, real objects
load common
load sanitized

setup_file() {
	load common
	load sanitized
	sanitized || return 1
	export PATH T=$BATS_FILE_TMPDIR
	cd "$T" || return 1
	gcc -std=gnu11 -O2 -fPIC -shared -fexceptions -fcf-protection -o small.so "$REPO/test/input/fuzz-small.c"
	so-input -o small.list --only '*small.so' small.so
	reloc-extract -o small.table small.list
}

list_of() { "$PYTHON" "$REPO/test/list-of.py" "$@" >list; }

# changed OFFSET FORMAT VALUE: small.so with one field of its header changed
changed() {
	"$PYTHON" -c 'import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
struct.pack_into("<" + sys.argv[3], b, int(sys.argv[2]), int(sys.argv[4], 0))
open("changed.so", "wb").write(b)' "$T/small.so" "$@"
	list_of changed.so
}

# bad TEXT: the list is refused with the file's name, and no object is in what is written
bad() {
	refused 1 "reloc-extract: $PWD/changed.so: $1" reloc-extract -o table list
	[ "$(map-dump table)" = "relocations, version 1" ] || [ ! -e table ]
	rm -f table
}

@test "files that are no objects" {
	list_of nothing
	refused 1 "nothing: No such file or directory" reloc-extract -o table list
	echo "some text, longer than a header would be, that is no ELF file at all" >changed.so
	list_of changed.so
	bad "not an ELF file"
	: >changed.so
	list_of changed.so
	bad "not an ELF file: empty"
	rm changed.so
	mkdir changed.so
	list_of changed.so
	bad "a directory"
}

@test "truncated objects: one line at any length" {
	size=$(stat -c %s "$T/small.so")
	for n in 3 10 51 63 64 100 500 1000 4095 $((size / 2)) $((size - 65)) $((size - 1)); do
		head -c "$n" "$T/small.so" >changed.so
		list_of changed.so
		bad ""
	done
}

@test "other machines, relocatable objects, core files, unknown headers" {
	changed 18 H 183; bad "not profiled: no back end for this machine"
	changed 18 H 8; bad "not profiled: MIPS n64 code: only o32 is handled"
	changed 16 H 1; bad "a relocatable object"
	changed 16 H 4; bad "a core file"
	changed 16 H 77; bad "file type 77"
	changed 4 B 9; bad "ELF header: invalid class 9"
	changed 5 B 9; bad "ELF header: invalid data encoding 9"
	changed 6 B 9; bad "ELF header: unknown version"
	changed 54 H 55; bad "program headers: wrong entry size"
	changed 32 Q 0x7fffffffffffff00; bad "truncated: "
	changed 40 Q 0x7fffffffffffff00; bad "truncated: "
	changed 56 H 0; bad "no program headers"
	gcc -c -o changed.so "$REPO/test/input/fuzz-small.c"
	list_of changed.so
	bad "a relocatable object"
}

@test "sections and segments that point outside the file" {
	"$PYTHON" - "$T/small.so" <<-'END'
	import struct, sys
	b = open(sys.argv[1], "rb").read()
	ph, sh, phn, shn = struct.unpack_from("<Q", b, 32)[0], struct.unpack_from("<Q", b, 40)[0], *struct.unpack_from("<H2xH", b, 56)
	n = 0
	def write(offset, value):
	    global n
	    c = bytearray(b)
	    struct.pack_into("<Q", c, offset, value)
	    open(f"lie{n:03}.so", "wb").write(c)
	    n += 1
	for value in (1 << 40, (1 << 64) - 1, len(b) - 1):
	    for i in range(phn):
	        for field in (8, 16, 32, 40):
	            write(ph + 56 * i + field, value)
	    for i in range(1, shn):
	        for field in (16, 24, 32, 56):
	            write(sh + 64 * i + field, value)
	END
	[ "$(ls lie*.so | wc -l)" -gt 300 ]
	list_of lie*.so
	run reloc-extract -o table list
	# Some lies do no harm; each other is one line.
	[[ $output != *Sanitizer* && $output != *"runtime error"* ]]
	[ "$status" -eq 1 ]
	printf '%s\n' "${lines[@]}" | grep -vE "^reloc-extract: $PWD/lie[0-9]+\.so: [^:]" >odd || true
	[ ! -s odd ] || { cat odd; false; }
	[ "${#lines[@]}" -gt 50 ]
	! so-gen -q -o out table >said 2>&1 || true
	! grep -E 'Sanitizer|runtime error' said
}

@test "an object that changed since the list was made" {
	cp "$T/small.so" changed.so
	list_of changed.so
	printf x | dd of=changed.so bs=1 seek=9 conv=notrunc status=none
	bad "changed since the list was made"
}

@test "a list cut at any byte, another kind, another version" {
	size=$(stat -c %s "$T/small.list")
	for n in $(seq 0 17 $((size - 1))); do
		head -c "$n" "$T/small.list" >cut
		refused 1 "reloc-extract: cut: byte " reloc-extract -o table cut
		[ ! -e table ]
	done
	refused 1 "byte " reloc-extract -o table "$T/small.table"
	"$PYTHON" -c 'import cbor2, sys; sys.stdout.buffer.write(cbor2.dumps(["so-list", 9]))' >version
	refused 1 "reloc-extract: version: byte " reloc-extract -o table version
	[ ! -e table ]
	refused 1 "cannot open: No such file" reloc-extract nothing
	refused 2 usage reloc-extract "$T/small.list" "$T/small.list"
	refused 2 usage reloc-extract --nonsense
}

@test "one bad object in a list costs that one" {
	echo text >bad.so
	cp "$T/small.so" good.so
	list_of bad.so good.so
	refused 1 "bad.so: not an ELF file" reloc-extract -o table list
	[ "$(map-dump table | grep -c ^object)" -eq 1 ]
}

@test "outputs: a directory that is not there, a full one, a device, a terminal" {
	refused 1 "nowhere/table: cannot write: No such file" reloc-extract -o nowhere/table "$T/small.list"
	reloc-extract -o /dev/null "$T/small.list"
	[ -c /dev/null ]
	refused 1 "/dev/full: cannot write: No space left" reloc-extract -o /dev/full "$T/small.list"
	mkfifo pipe
	cat pipe >got &
	reloc-extract -o pipe "$T/small.list"
	wait
	[ -p pipe ]
	cmp got "$T/small.table"
	run script -qec "reloc-extract $T/small.list" /dev/null
	[[ $output == *"is a terminal: pipe it to map-dump, or give -o"* ]]
	reloc-extract "$T/small.list" | head -c 0
}

@test "a static program, a script: said by so-input, nothing to extract" {
	echo 'int main(void) { return 0; }' | gcc -static -o static -x c -
	so-input --with-app static 2>said >list
	reloc-extract -o table list
	[ "$(map-dump table | grep -c ^object)" -eq 0 ]
}

@test "the table follows its schema; two lists joined are a list" {
	"$PYTHON" "$REPO/test/cddl_check.py" "$REPO/formats/relocations.cddl" relocations "$T/small.table"
	cat "$T/small.list" "$T/small.list" | reloc-extract -o twice
	[ "$(map-dump twice | grep -c ^object)" -eq 2 ]
}

@test "the same input gives the same table" {
	so-input -o list /usr/bin/xz
	reloc-extract -o a list
	reloc-extract list >b
	reloc-extract - <list | cmp a -
	cmp a b
}

@test "fuzz: mutated objects, through both filters" {
	command -v clang-14 >/dev/null || skip "no clang-14"
	(cd "$REPO" && nice clang-14 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Dmmap=fuzz_map -Dmunmap=fuzz_unmap -Dmadvise=fuzz_no_advice -I. \
		-D_GNU_SOURCE -g -O1 -o "$BATS_TEST_TMPDIR/extract" test/fuzz/extract.c test/fuzz/quiet.c lib/base/{mem,json,progress,opt,out}.c formats/*.c \
		$(ls lib/elf/*.c lib/code/*.c lib/machine/*.c lib/machine/*/*.c tools/so-gen/*.c tools/reloc-extract/*.c |
			grep -v -e tools/so-gen/so-gen.c -e tools/reloc-extract/reloc-extract.c -e lib/elf/lines.c) -lelf -lcbor -lxxhash -lZydis)
	mkdir seeds
	cp "$T/small.so" seeds/full
	strip -o seeds/stripped "$T/small.so"
	g++ -O1 -fPIC -shared -s -o seeds/throws "$REPO/test/input/hazard-throw.cc"
	nice ./extract -seed=1 -max_len=17000 -max_total_time="${FUZZ_SECONDS:-5}" -verbosity=0 seeds >log 2>&1 || { tail -n 40 log; false; }
}
