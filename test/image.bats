# image.bats - the file of a profiled object: program headers grown in place, sections moved, later tools content
load common

setup_file() {
	load common
	export T=$BATS_FILE_TMPDIR
	cd "$REPO" || return 1
	${CC:-gcc} -std=c11 -I. -D_GNU_SOURCE -O1 -g ${IMAGE_CFLAGS:-} -o "$T/image-null" test/image-null.c tools/so-gen/image*.c \
		lib/base/{mem,msg,out,progress}.c lib/elf/{object,notes,relocs,symbols}.c -lelf -lxxhash
	${CC:-gcc} -std=c11 -O1 -o "$T/load-each" test/load-each.c
	PATH=$T:$PATH
	export PATH
}

# lib NAME [FLAGS...]: a small shared object
lib() {
	local name=$1
	shift
	cat >"$name.c" <<-'END'
	extern const char *strerror(int);
	__attribute__((visibility("default"))) int answer = 42;
	__attribute__((visibility("default"))) const char *twice(int x) { return strerror(2 * x + answer); }
	END
	gcc -O1 -fPIC -shared -o "$name" "$name.c" "$@"
}

id_of() { readelf -nW "$1" | sed -n 's/.*Build ID: //p'; }

@test "three segments follow, RW then R then RX, ascending and congruent" {
	image-null /lib/x86_64-linux-gnu/libz.so.1 z.so
	"$PYTHON" - z.so /lib/x86_64-linux-gnu/libz.so.1 <<-'END'
	import struct, sys
	def loads(path):
	    b = open(path, "rb").read()
	    off, size, n = struct.unpack_from("<Q", b, 32)[0], *struct.unpack_from("<HH", b, 54)
	    rows = [struct.unpack_from("<IIQQQQQQ", b, off + i * size) for i in range(n)]
	    return n, [r for r in rows if r[0] == 1]
	n, new = loads(sys.argv[1])
	m, old = loads(sys.argv[2])
	assert n == m + 3 and new[:-3] == old, (n, m)
	assert [r[1] for r in new[-3:]] == [6, 4, 5], new
	end = 0
	for _, _, offset, address, _, filesz, memsz, align in new:
	    assert address >= end and offset % align == address % align
	    end = address + memsz
	assert all(r[7] == 4096 for r in new[-3:])
	assert new[-3][6] - new[-3][5] == 65536
	END
}

@test "old segments keep their bytes, but for what was asked to change" {
	image-null /lib/x86_64-linux-gnu/libz.so.1 z.so
	# Sections that neither move nor hold pointers to what does.
	for s in .dynstr .gnu.version .rela.dyn .rela.plt .text .rodata .eh_frame .init_array .data.rel.ro .got .data; do
		objcopy -O binary --only-section="$s" /lib/x86_64-linux-gnu/libz.so.1 old.bin
		objcopy -O binary --only-section="$s" z.so new.bin
		cmp old.bin new.bin
	done
}

@test "moved and slid sections: same contents, same symbols, notes in the first page" {
	image-null /lib/x86_64-linux-gnu/libc.so.6 c.so
	for s in .gnu.hash .hash .note.gnu.property .note.ABI-tag .interp; do
		objcopy --dump-section "$s=old.bin" /lib/x86_64-linux-gnu/libc.so.6 dropped
		objcopy --dump-section "$s=new.bin" c.so dropped
		cmp old.bin new.bin
	done
	diff <(nm -D /lib/x86_64-linux-gnu/libc.so.6) <(nm -D c.so)
	readelf -SW c.so | awk '$2 == ".note.gnu.build-id" || $3 == ".note.gnu.build-id"' | grep -q ' 0000000000000[0-9a-f]\{3\} '
}

@test "PT_NOTE, PT_GNU_PROPERTY, PT_INTERP and PT_PHDR name the new places" {
	image-null /usr/bin/xz xz
	"$PYTHON" - xz <<-'END'
	import subprocess, sys
	rows = [l.split() for l in subprocess.check_output(["readelf", "-lW", sys.argv[1]], text=True).splitlines()]
	sections = {}
	for l in subprocess.check_output(["readelf", "-SW", sys.argv[1]], text=True).splitlines():
	    f = l.replace("[ ", "[").split()
	    if len(f) > 6 and f[0][1:-1].isdigit():
	        sections[f[1]] = int(f[3], 16), int(f[4], 16), int(f[5], 16)
	def row(t):
	    return [(int(r[2], 16), int(r[1], 16), int(r[4], 16)) for r in rows if r and r[0] == t and len(r) > 5]
	assert row("INTERP") == [sections[".interp"]]
	assert row("GNU_PROPERTY") == [sections[".note.gnu.property"]]
	a, b = sections[".note.gnu.build-id"], sections[".note.ABI-tag"]
	assert row("NOTE") == [sections[".note.gnu.property"], (a[0], a[1], b[0] + b[2] - a[0])]
	n = sum(1 for r in rows if len(r) > 6 and r[1].startswith("0x"))
	assert row("PHDR") == [(64, 64, 56 * n)], (row("PHDR"), n)
	END
	[ "$(./xz --version)" = "$(/usr/bin/xz --version)" ]
}

@test "the build-id is new, repeatable, and depends on what is in the file" {
	lib a.so -Wl,--build-id=sha1
	image-null a.so one.so >id
	image-null a.so two.so >/dev/null
	image-null -e a.so three.so >/dev/null
	cmp one.so two.so
	[ "$(id_of one.so)" = "$(cat id)" ]
	[ "$(cat id)" != "$(id_of a.so)" ]
	[ "$(cat id)" != "$(id_of three.so)" ]
	lib b.so -Wl,--build-id=none
	[ -z "$(image-null b.so none.so)" ]
	lib d.so -Wl,--build-id=0x0102030405060708
	[ "$(image-null d.so short.so)" = "$(id_of short.so)" ]
}

@test "\$ORIGIN in RUNPATH and RPATH becomes the original's directory" {
	mkdir -p here
	lib here/a.so -Wl,--enable-new-dtags,-rpath,'$ORIGIN/../x:/opt:${ORIGIN}'
	image-null here/a.so a.so
	readelf -dW a.so | grep -qF "Library runpath: [$PWD/here/../x:/opt:$PWD/here]"
	lib here/b.so -Wl,--disable-new-dtags,-rpath,'$ORIGIN'
	image-null -o /some/where here/b.so b.so
	readelf -dW b.so | grep -qF 'Library rpath: [/some/where]'
	# The names of the others did not suffer.
	diff <(readelf -dW here/b.so | grep NEEDED) <(readelf -dW b.so | grep NEEDED)
	diff <(nm -D here/b.so) <(nm -D b.so)
	[ "$(readelf -SW b.so | awk '{sub(/\[ */, "[")} $2 == ".dynstr" {print strtonum("0x" $6)}')" = \
	  "$(readelf -dW b.so | awk '/STRSZ/ {print $3}')" ]
	printf '%s\n' "$PWD/a.so" "$PWD/b.so" | load-each | grep -c '^1$' | grep -qx 2
}

@test "edits: symbols in both tables, entry, dynamic entries, patches, unwinding header" {
	lib a.so
	image-null -e -x twice -n 0x6ffffdf8=77 a.so b.so
	text=$(readelf -SW b.so | awk '{sub(/\[ */, "[")} $2 == ".soprof.text" {print $1 " " $4}' | tr -d '[]')
	for t in --dyn-syms --syms; do
		readelf -W $t b.so | awk -v want="$text" '$8 == "twice" {n++; if ($7 " " $2 != want) bad = 1} END {exit bad || !n}'
	done
	readelf -dW b.so | grep -qE '0x0*6ffffdf8.* 0x4d$|CHECKSUM.* 0x4d$'
	readelf -SW b.so | grep -qF .soprof.old_eh_frame_hdr
	hdr=$(readelf -SW b.so | awk '{sub(/\[ */, "[")} $2 == ".eh_frame_hdr" {print "0x" $4}')
	readelf -lW b.so | awk '$1 == "GNU_EH_FRAME" {print $3}' | grep -qx "$hdr"
	echo "$PWD/b.so" | load-each | grep -qx 1
	[ -z "$(readelf -lSWs b.so 2>&1 >/dev/null)" ]
}

@test "a dynamic section without a spare entry: the count of relative relocations makes way, then it is refused" {
	lib a.so -Wl,-z,nospare-dynamic-tags -Wl,--spare-dynamic-tags=1
	image-null -n 0x6ffffdf8=1 a.so b.so
	readelf -dW b.so | grep -q CHECKSUM
	! readelf -dW b.so | grep -q RELACOUNT
	run image-null -n 0x6ffffdf8=1 -n 0x6ffffdf9=2 a.so c.so
	[ "$status" -eq 1 ]
	[[ $output == *"no room in the dynamic section"* ]]
}

@test "debug sections go, .symtab and .comment stay, symbols of dropped sections go" {
	lib a.so -g
	image-null a.so b.so
	! readelf -SW b.so | grep -q '\.debug_\|debuglink'
	readelf -SW b.so | grep -q '\.comment'
	diff <(nm a.so) <(nm b.so)
	[ -z "$(readelf -aW b.so 2>&1 >/dev/null)" ]
}

# refused FILE TEXT: the twin is refused for that reason, and nothing is written
refused() {
	rm -f never
	run image-null "$1" never
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"$2"* ]]
	[ ! -e never ]
}

@test "refusals name their reason" {
	gcc -static -o static -x c - <<<'int main(void) { return 0; }'
	refused static "static: no dynamic section"
	lib a.so -g
	"$PYTHON" - a.so bare.so <<-'END'
	import sys
	b = bytearray(open(sys.argv[1], "rb").read())
	b[40:48] = bytes(8)
	b[60:64] = bytes(4)
	open(sys.argv[2], "wb").write(b)
	END
	refused bare.so "no section headers"
	objcopy --only-keep-debug a.so a.debug
	refused a.debug "a.debug: "
	lib n.so -nostdlib -Wl,-N,-soname,n.so
	refused n.so "no loaded segment holds the program headers"
	# Linkers that leave nothing movable behind the table of a tiny object.
	echo 'int next(int x) { return x + 1; }' >tiny.c
	gcc -O1 -fPIC -shared -nostdlib -Wl,-z,noseparate-code -o ld.so tiny.c
	refused ld.so "section .text, directly behind the program headers, cannot be moved"
	gcc -O1 -fPIC -shared -nostdlib -fuse-ld=gold -Wl,--rosegment -o gold.so tiny.c
	refused gold.so "section .text, directly behind the program headers, cannot be moved"
	gcc -O1 -fPIC -shared -nostdlib -fuse-ld=lld -Wl,--build-id=none -o lld.so tiny.c
	refused lld.so "section .eh_frame_hdr, directly behind the program headers, cannot be moved"
}

@test "what no section holds is not overwritten" {
	lib a.so
	cp a.so b.so
	# Takes the note out of the section headers, but leaves its bytes behind the table.
	"$PYTHON" - b.so <<-'END'
	import struct, sys
	b = bytearray(open(sys.argv[1], "rb").read())
	off, size, n = struct.unpack_from("<Q", b, 40)[0], *struct.unpack_from("<HH", b, 58)
	for i in range(n):
	    if struct.unpack_from("<I", b, off + i * size + 4)[0] == 7:
	        struct.pack_into("<IQ", b, off + i * size + 4, 8, 0)
	open(sys.argv[1], "wb").write(b)
	END
	refused b.so "bytes of no section directly behind the program headers"
}

@test "headers and tables that lie: a twin or one line, no crash" {
	cd "$REPO"
	${CC:-gcc} -std=c11 -I. -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -o "$BATS_TEST_TMPDIR/image-null" \
		test/image-null.c tools/so-gen/image*.c lib/base/{mem,msg,out,progress}.c lib/elf/{object,notes,relocs,symbols}.c -lelf -lxxhash
	cd "$BATS_TEST_TMPDIR"
	lib a.so -g -Wl,-rpath,'$ORIGIN/x'
	"$PYTHON" "$REPO/test/image-fuzz.py" ./image-null a.so 200 7 >out
	cat out
	grep -q ' bad 0$' out
}

@test "strip, eu-strip and objcopy outputs load and keep their symbols" {
	lib a.so -g
	image-null -e a.so b.so
	strip -o s.so b.so
	eu-strip -o e.so b.so
	objcopy b.so o.so
	printf "$PWD/%s\n" b.so s.so e.so o.so | load-each | grep -c '^1$' | grep -qx 4
	for f in s.so e.so o.so; do
		diff <(nm -D a.so) <(nm -D $f)
	done
}

@test "objects of every linker and layout load: ld, gold, lld; one, two and four segments; 2 MiB pages" {
	lib ld.so.1
	lib two.so -Wl,-z,noseparate-code
	lib huge.so -Wl,-z,max-page-size=0x200000
	lib gold.so -fuse-ld=gold
	lib lld.so -fuse-ld=lld
	lib llr.so -fuse-ld=lld -Wl,--no-rosegment
	lib sysv.so -Wl,--hash-style=sysv
	lib relr.so -Wl,-z,pack-relative-relocs
	for f in ld.so.1 two.so huge.so gold.so lld.so llr.so sysv.so relr.so; do
		run image-null $f twin-$f
		if [ "$status" -ne 0 ]; then
			[[ $output == *"refused: "* ]]
			echo "# $f: $output" >&3
			continue
		fi
		printf "$PWD/%s\n" $f twin-$f | load-each >loaded
		[ "$(sort -u loaded)" = 1 ]
		[ -z "$(readelf -lSW twin-$f 2>&1 >/dev/null)" ]
	done
}

@test "every shared object of the machine: twins load as originals do, later tools are content" {
	find /usr/lib -name '*.so*' -type f -size -40M | sort >list
	nice -n 10 "$PYTHON" "$REPO/test/image-corpus.py" image-null load-each <list >out 2>&1 || { cat out; false; }
	cat out
	! grep '^bad: ' out
	[ "$(awk '$1 == "written" {print $2}' out)" -ge 100 ]
	# At most one in 200 may be refused.
	awk '$1 == "written" {w = $2} $1 == "refused" {r = $2} END {exit !(r * 200 <= w + r)}' out
}
