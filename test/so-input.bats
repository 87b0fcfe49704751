#!/usr/bin/env bats
# so-input: the same files as the loader maps, on all programs of this machine and on small ones for each rule of the search.
load common
bats_require_minimum_version 1.5.0

setup_file() {
	export HERE=$BATS_FILE_TMPDIR ASAN_OPTIONS=verify_asan_link_order=0
	cd "$HERE" || return 1
	echo 'int main(void) { return 0; }' > main.c
	echo 'int NAME(void) { return 0; }' > lib.c
}

# lib FILE [FLAG...]: a shared object whose soname is its base name.
lib() {
	mkdir -p "$(dirname "$1")"
	gcc -shared -fPIC -nostdlib -DNAME="$(basename "$1" | tr -c 'a-z\n' _)" -Wl,--no-as-needed,-soname,"$(basename "$1")" \
		-o "$1" "$HERE/lib.c" "${@:2}"
}
# app FILE [FLAG...]: a program that needs what the flags link.
app() {
	mkdir -p "$(dirname "$1")"
	gcc -Wl,--no-as-needed -Wl,--allow-shlib-undefined -o "$1" "$HERE/main.c" "${@:2}"
}
RPATH=-Wl,--disable-new-dtags,-rpath
RUNPATH=-Wl,--enable-new-dtags,-rpath

# listed FIELDS TOOL-ARGUMENT...: the fields of each object but libc and the loader
listed() {
	local fields=$1
	so-input "${@:2}" > list || return
	"$PYTHON" "$REPO/test/oracle/loader.py" fields list name $fields | grep -v -e '^libc\.so' -e '^ld-linux' | cut -f 2- | tr '\t' ' '
}
same_as_loader() {
	run -0 "$PYTHON" "$REPO/test/oracle/loader.py" compare "$BIN/so-input" "$@"
	echo "$output"
	[ "${lines[-1]}" = "$# compared, 0 different" ]
}
fails_with() {
	run --separate-stderr so-input -o list "${@:2}"
	echo "$status: $stderr"
	[ "$status" -eq 1 ]
	[ "$stderr" = "so-input: $1" ]
}
# patch FILE OFFSET BYTE...: bytes in hexadecimal
patch_bytes() {
	"$PYTHON" -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2], 0)); f.write(bytes.fromhex("".join(sys.argv[3:])))' "$@"
}

@test "so-input: equal to the loader's own list for every program in /usr/bin and /usr/sbin" {
	run -0 "$PYTHON" "$REPO/test/oracle/loader.py" compare "$BIN/so-input" /usr/bin/* /usr/sbin/*
	echo "$output"
	[[ ${lines[-1]} =~ ^([0-9]+)" compared, 0 different"$ ]]
	[ "${BASH_REMATCH[1]}" -gt 20 ]
}

@test "so-input: RUNPATH finds, LD_LIBRARY_PATH can reach" {
	lib d/libr.so.1
	app a d/libr.so.1 $RUNPATH,"$PWD/d"
	[ "$(listed 'name path found reachable why' a)" = "libr.so.1 $PWD/d/libr.so.1 RUNPATH yes needed by a" ]
	same_as_loader a
}

@test "so-input: RPATH finds, LD_LIBRARY_PATH cannot reach" {
	lib d/libr.so.1
	lib e/libr.so.1
	app a d/libr.so.1 $RPATH,"$PWD/d"
	[ "$(LD_LIBRARY_PATH=$PWD/e listed 'path found reachable' a)" = "$PWD/d/libr.so.1 RPATH -" ]
	LD_LIBRARY_PATH=$PWD/e same_as_loader a
}

@test "so-input: LD_LIBRARY_PATH comes before RUNPATH, with both separators and an empty element" {
	lib d/libr.so.1
	lib e/libr.so.1
	app a d/libr.so.1 $RUNPATH,"$PWD/d"
	[ "$(LD_LIBRARY_PATH="/nonexistent;$PWD/e" listed 'path found reachable' a)" = "$PWD/e/libr.so.1 LD_LIBRARY_PATH yes" ]
	LD_LIBRARY_PATH="/nonexistent;$PWD/e" same_as_loader a
	(cd e && LD_LIBRARY_PATH=/nonexistent: listed 'path found' ../a) | grep -qx "$PWD/e/libr.so.1 LD_LIBRARY_PATH"
	cd e && LD_LIBRARY_PATH=:/nonexistent same_as_loader ../a
}

@test "so-input: \$ORIGIN, \$LIB and \$PLATFORM, with and without braces" {
	lib x/d/libo.so.1
	app x/a x/d/libo.so.1 $RUNPATH,'$ORIGINAL:$ORIGIN_:${ORIGIN/d:${ORIGIN}/d'
	[ "$(listed 'path found' x/a)" = "$PWD/x/d/libo.so.1 RUNPATH" ]
	lib "x/lib/x86_64-linux-gnu/libl.so.1"
	app x/b x/lib/x86_64-linux-gnu/libl.so.1 $RPATH,'$ORIGIN/$LIB'
	lib x/x86_64/libp.so.1
	cp -r x/x86_64 x/haswell	# Intel's name for it before glibc 2.37
	app x/c x/x86_64/libp.so.1 $RPATH,'$ORIGIN/${PLATFORM}'
	ln -s x/a link
	same_as_loader x/a x/b x/c
	[ "$(listed path link)" = "$PWD/x/d/libo.so.1" ]
}

@test "so-input: names with a slash are used as they are, tokens expanded" {
	mkdir d
	gcc -shared -fPIC -nostdlib -DNAME=n -o d/libn.so "$HERE/lib.c"
	app a "$PWD/d/libn.so"
	[ "$(listed 'name path found reachable' a)" = "libn.so $PWD/d/libn.so path -" ]
	same_as_loader a
	gcc -shared -fPIC -nostdlib -DNAME=n -Wl,-soname,'$ORIGIN/d/libn.so' -o d/libn.so "$HERE/lib.c"
	app b d/libn.so
	[ "$(listed 'name path found reachable' b)" = "libn.so $PWD/d/libn.so path -" ]
	same_as_loader b
}

@test "so-input: directories for this processor come first" {
	lib d/libh.so.1
	lib d/glibc-hwcaps/x86-64-v2/libh.so.1
	app a d/libh.so.1 $RUNPATH,"$PWD/d"
	same_as_loader a
	lib d/glibc-hwcaps/x86-64-v3/libh.so.1
	same_as_loader a
	lib d/glibc-hwcaps/x86-64-v4/libh.so.1
	same_as_loader a
	lib d/tls/x86_64/libh.so.2
	lib d/x86_64/libh.so.2
	lib d/libh.so.2
	app b d/libh.so.2 $RUNPATH,"$PWD/d"
	same_as_loader b
	grep -qw avx512vl /proc/cpuinfo || return 0
	[ "$(listed path a)" = "$PWD/d/glibc-hwcaps/x86-64-v4/libh.so.1" ]
}

@test "so-input: RPATH of those who asked, up to the program; a RUNPATH on the way is no obstacle, its owner's is" {
	lib d/libbb.so
	lib libaa.so d/libbb.so
	app a libaa.so -Wl,-rpath-link,d $RPATH,"$PWD:$PWD/d"
	[ "$(listed 'name found why' a)" = "libaa.so RPATH needed by a
libbb.so RPATH needed by libaa.so" ]
	lib e/libmid.so d/libbb.so $RUNPATH,/nonexistent
	lib e/libtop.so e/libmid.so $RPATH,"$PWD/e:$PWD/d"
	app b e/libtop.so -Wl,-rpath-link,e:d $RUNPATH,"$PWD/e"
	lib f/libmid.so libaa.so
	lib f/libtop.so f/libmid.so $RPATH,"$PWD:$PWD/f:$PWD/d"
	app c f/libtop.so -Wl,-rpath-link,f:d:. $RUNPATH,"$PWD/f"
	same_as_loader a b c
	fails_with "libbb.so: not found; needed by $PWD/e/libmid.so" b
	[ "$(listed 'name found' c)" = "libtop.so RUNPATH
libmid.so RPATH
libaa.so RPATH
libbb.so RPATH" ]
}

@test "so-input: RUNPATH is not handed down and hides the RPATH" {
	lib d/libbb.so
	lib libaa.so d/libbb.so
	app a libaa.so -Wl,-rpath-link,d $RUNPATH,"$PWD:$PWD/d"
	fails_with "libbb.so: not found; needed by $PWD/libaa.so" a
	lib libaa.so d/libbb.so $RUNPATH,/nonexistent
	app b libaa.so -Wl,-rpath-link,d $RPATH,"$PWD:$PWD/d"
	same_as_loader a b
	fails_with "libbb.so: not found; needed by $PWD/libaa.so" b
	app c d/libbb.so $RPATH,"$PWD/d"
	# Both in one object: the word behind the tag stays, DT_DEBUG becomes a DT_RUNPATH of the empty string.
	"$PYTHON" -c '
import struct
d = bytearray(open("c", "rb").read())
at = d.find(struct.pack("<QQ", 21, 0))
d[at:at + 8] = struct.pack("<Q", 29)
open("c", "wb").write(d)'
	same_as_loader c
	fails_with "libbb.so: not found; needed by $PWD/c" c
}

@test "so-input: a missing library is said once, the rest is listed" {
	lib d/libgone.so
	lib d/libhere.so d/libgone.so
	app a d/libgone.so d/libhere.so $RPATH,"$PWD/d"
	rm d/libgone.so
	fails_with "libgone.so: not found; needed by $PWD/a" a
	[ "$("$PYTHON" "$REPO/test/oracle/loader.py" fields list name | tr '\n' ' ')" = "libhere.so libc.so.6 ld-linux-x86-64.so.2 " ]
	same_as_loader a
}

@test "so-input: files of another machine or class are passed over, broken ones are not" {
	lib d/libm1.so
	lib e/libm1.so
	patch_bytes d/libm1.so 18 2a00
	app a e/libm1.so $RUNPATH,"$PWD/d:$PWD/e"
	same_as_loader a
	[ "$(listed path a)" = "$PWD/e/libm1.so" ]
	patch_bytes d/libm1.so 4 01 ; patch_bytes d/libm1.so 18 3e00
	same_as_loader a
	[ "$(listed path a)" = "$PWD/e/libm1.so" ]
	echo text > d/libm1.so
	fails_with "$PWD/d/libm1.so: not an ELF file; needed by $PWD/a" a
	head -c 40 e/libm1.so > d/libm1.so
	fails_with "$PWD/d/libm1.so: truncated: less than an ELF header; needed by $PWD/a" a
}

@test "so-input: without default directories" {
	app a -l:libz.so.1 -Wl,-z,nodefaultlib
	same_as_loader a
	run --separate-stderr so-input -o list a
	[ "$status" -eq 1 ]
	[[ $stderr == *"libz.so.1: not found; needed by $PWD/a"* ]]
}

@test "so-input: preloaded objects count" {
	lib libpre.so
	app a
	[ "$(LD_PRELOAD=$PWD/libpre.so listed 'name found reachable why' a)" = "libpre.so path - preloaded by LD_PRELOAD" ]
	export LD_PRELOAD="libpre.so" LD_LIBRARY_PATH=$PWD
	[ "$(listed 'name found reachable why' a)" = "libpre.so LD_LIBRARY_PATH yes preloaded by LD_PRELOAD" ]
}

@test "so-input: programs that run with other rights ignore the environment" {
	[ "$(id -u)" = 0 ] || skip "only root can give a file away"
	! findmnt -no OPTIONS -T . | grep -qw nosuid || skip "the file system ignores setuid"
	lib d/libr.so.1
	lib e/libr.so.1
	app a d/libr.so.1 $RUNPATH,"$PWD/d"
	chown 1 a
	[ "$(LD_LIBRARY_PATH=$PWD/e listed 'path reachable' a)" = "$PWD/e/libr.so.1 yes" ]
	chmod u+s a
	[ "$(LD_LIBRARY_PATH=$PWD/e listed 'path reachable' a 2> note)" = "$PWD/d/libr.so.1 -" ]
	[ "$(cat note)" = "so-input: a: runs with other rights than yours: the loader will ignore LD_LIBRARY_PATH" ]
}

@test "so-input: reachable only if every program reaches it" {
	lib d/libr.so.1
	app a d/libr.so.1 $RUNPATH,"$PWD/d"
	app b d/libr.so.1 $RPATH,"$PWD/d"
	[ "$(listed 'reachable found' a b)" = "- RUNPATH" ]
	[ "$(listed 'reachable found' b a)" = "- RPATH" ]
}

@test "so-input: a name without a slash may stand for a program in PATH" {
	so-input xz > one
	so-input "$(command -v xz)" | cmp one -
	app xz
	[ "$(listed name xz)" = "" ]
	fails_with "no-such-program: No such file or directory" no-such-program
}

@test "so-input: programs with mutilated dynamic sections do no harm" {
	lib d/libr.so.1
	app a d/libr.so.1 $RPATH,'$ORIGIN/d'
	"$PYTHON" - <<-'END'
		import random, re, struct, subprocess
		good = open("a", "rb").read()
		phoff, = struct.unpack_from("<Q", good, 32)
		at = next(phoff + 56 * i for i in range(20) if struct.unpack_from("<I", good, phoff + 56 * i)[0] == 2)
		start, size = struct.unpack_from("<Q", good, at + 8)[0], struct.unpack_from("<Q", good, at + 32)[0]
		names = [m.span() for m in re.finditer(rb"libr\.so\.1|\$ORIGIN/d|/lib64/ld[^\0]*", good)]
		random.seed(2)
		for i in range(150):
		    bad = bytearray(good)
		    for _ in range(random.randrange(1, 5)):
		        a, b = random.choice(names + [(start, start + size)] * 3 + [(phoff, phoff + 600)])
		        bad[random.randrange(a, b)] = random.choice([0, 1, 0x24, 0x2f, 0x7b, 0x7f, 0x80, 0xff, 15, 29, 5])
		    open("bad", "wb").write(bad)
		    run = subprocess.run(["so-input", "-o", "list", "./bad"], capture_output=True)
		    assert run.returncode in (0, 1), (i, run)
		    assert b"runtime error" not in run.stderr, run
	END
}

@test "so-input: one file by two names is listed once" {
	lib d/libone.so
	gcc -shared -fPIC -nostdlib -DNAME=one -o d/libplain.so "$HERE/lib.c"
	app a -Ld -l:libplain.so $RPATH,"$PWD/d"
	cp d/libplain.so d/libother.so
	app b -Ld -l:libother.so -l:libplain.so $RUNPATH,"$PWD/d"
	ln -f d/libother.so d/libplain.so
	run --separate-stderr so-input -o list b
	[ "$status" -eq 0 ]
	[[ $stderr == *"searched as libother.so and as libplain.so"* ]]
	[ "$("$PYTHON" "$REPO/test/oracle/loader.py" fields list name | head -n 1)" = libother.so ]
	same_as_loader a b
}

@test "so-input: objects that need each other" {
	lib libring.so
	lib libround.so libring.so
	lib libring.so libround.so
	app a libring.so $RPATH,"$PWD"
	[ "$(listed name a | tr '\n' ' ')" = "libring.so libround.so " ]
	same_as_loader a
}

@test "so-input: --also lists what dlopen would load, with what that needs" {
	lib d/libdep.so
	lib p/plugin.so d/libdep.so $RUNPATH,"$PWD/d"
	app a $RUNPATH,"$PWD/p"
	[ "$(listed 'name found reachable why' --also p/plugin.so a)" = "plugin.so path - also
libdep.so RUNPATH yes needed by plugin.so" ]
	[ "$(listed 'name found reachable' --also plugin.so a)" = "plugin.so RUNPATH yes
libdep.so RUNPATH yes" ]
	fails_with "./none.so: not found; needed by $PWD/a" --also ./none.so a
}

@test "so-input: --only and --except match path, name or base name" {
	lib d/libxx.so
	lib d/libyy.so
	app a d/libxx.so d/libyy.so $RPATH,"$PWD/d"
	[ "$(listed name --only 'libx*' a)" = libxx.so ]
	[ "$(listed name --only '*/d/*' --except libxx.so a)" = libyy.so ]
	[ "$(listed name --only libyy.so --only libxx.so a)" = "libxx.so
libyy.so" ]
}

@test "so-input: several programs, each file once; --with-app" {
	lib d/libxx.so
	lib d/libyy.so
	app a d/libxx.so $RPATH,"$PWD/d"
	app b d/libyy.so d/libxx.so $RPATH,"$PWD/d"
	[ "$(listed 'name app why' --with-app a b a)" = "a yes app
libxx.so - needed by a
b yes app
libyy.so - needed by b" ]
	"$PYTHON" "$REPO/test/cddl_check.py" "$REPO/formats/so-list.cddl" so-list list
	"$PYTHON" "$REPO/test/oracle/loader.py" fields list name skip | grep -qx 'ld-linux-x86-64.so.2	the loader itself'
	[ "$("$PYTHON" "$REPO/test/oracle/loader.py" fields list name | grep -c libc)" -eq 1 ]
}

@test "so-input: a shared object: itself and what it needs" {
	lib d/libin.so
	lib libout.so d/libin.so $RPATH,"$PWD/d"
	mv libout.so libout.so.1.2
	[ "$(listed 'name path why' libout.so.1.2)" = "libout.so $PWD/libout.so.1.2 given
libin.so $PWD/d/libin.so needed by libout.so.1.2" ]
	same_as_loader libout.so.1.2 /lib/x86_64-linux-gnu/libcrypto.so.3
	[ "$(so-input /lib/x86_64-linux-gnu/libc.so.6 | "$PYTHON" "$REPO/test/oracle/loader.py" fields - name | head -n 1)" = libc.so.6 ]
}

@test "so-input: size, class, build-id and digest are those of the file" {
	lib d/libid.so -Wl,--build-id=0x0123456789abcdef
	app a d/libid.so $RPATH,"$PWD/d"
	[ "$(listed 'size class build-id soname machine' a)" = "$(stat -c %s d/libid.so) 64 0123456789abcdef libid.so x86_64" ]
	[ "$(listed digest a)" = "$("$PYTHON" "$REPO/test/oracle/loader.py" digest d/libid.so)" ]
}

@test "so-input: nothing to do for static programs" {
	app s -static
	app p -static-pie
	for f in s p; do
		run -0 --separate-stderr so-input -o list $f
		[ "$stderr" = "so-input: $f: a static program: nothing to do" ]
		[ "$(xxd -p list)" = 8267736f2d6c69737401 ]
	done
}

@test "so-input: scripts: which program to give" {
	printf '#! /bin/sh -e\n' > s
	printf '#!/usr/bin/env -S A=1 bash\n' > e
	printf '#!\n' > n
	fails_with "s: a script; give the program that runs it: /bin/sh" s
	fails_with "e: a script; give the program that runs it: $(command -v bash)" e
	fails_with "n: not an ELF file" n
}

@test "so-input: bad inputs: one line, status 1" {
	app good
	echo text > text
	: > empty
	mkdir dir
	gcc -c -o main.o "$HERE/main.c"
	fails_with "none: No such file or directory" none
	fails_with "text: not an ELF file" text
	fails_with "empty: not an ELF file: empty" empty
	fails_with "dir: a directory" dir
	fails_with "/dev/null: not a regular file" /dev/null
	fails_with "main.o: a relocatable object, neither a program nor a shared object" main.o
	cp good core && patch_bytes core 16 0400
	fails_with "core: a core file, neither a program nor a shared object" core
	cp good class && patch_bytes class 4 03
	fails_with "class: ELF header: invalid class 3" class
	cp good foreign && patch_bytes foreign 18 2a00
	fails_with "foreign: its interpreter, /lib64/ld-linux-x86-64.so.2, is for another machine (a program of another machine needs --sysroot)" foreign
	patch_bytes good 0x28 "$("$PYTHON" -c 'import os, struct; print(struct.pack("<Q", os.path.getsize("good")).hex())')"
	fails_with "good: truncated: section headers at 0x$(printf %x "$(stat -c %s good)") lie outside the file" good
}

@test "so-input: a program cut anywhere" {
	app good
	size=$(stat -c %s good)
	for n in 3 10 63 64 100 800 4096 $((size / 2)) $((size - 1)); do
		head -c "$n" good > cut
		run --separate-stderr so-input -o list cut
		[ "$status" -eq 1 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "so-input: cut: "* ]]
	done
}

@test "so-input: profiled objects are refused, the others are listed" {
	lib d/libpr.so
	app a d/libpr.so $RPATH,"$PWD/d"
	"$PYTHON" -c 'import struct; open("note", "wb").write(struct.pack("<III8sI", 7, 4, 1, b"soprof\0", 1))'
	objcopy --add-section .note.soprof=note d/libpr.so
	fails_with "$PWD/d/libpr.so: already profiled" a
	[ "$("$PYTHON" "$REPO/test/oracle/loader.py" fields list name | tr '\n' ' ')" = "libc.so.6 ld-linux-x86-64.so.2 " ]
}

@test "so-input: one bad program, the others are listed" {
	lib d/libok.so
	app a d/libok.so $RPATH,"$PWD/d"
	run --separate-stderr so-input -o list none a
	[ "$status" -eq 1 ]
	"$PYTHON" "$REPO/test/oracle/loader.py" fields list name | grep -qx libok.so
}

# A tree of another machine as seen from here: absolute links, a cache of each format.
tree() {
	mkdir -p root/etc root/lib64 root/usr/bin root/opt/x root/lib/x86_64-linux-gnu
	cp -L /lib64/ld-linux-x86-64.so.2 root/lib64/
	cp -L /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu/
	lib root/opt/x/libtree.so.1
	lib root/usr/alternatives/libalt.so.1
	ln -s /usr/alternatives/libalt.so.1 root/lib/x86_64-linux-gnu/libalt.so.1
	echo /opt/x > root/etc/ld.so.conf
	app root/usr/bin/a root/opt/x/libtree.so.1 root/usr/alternatives/libalt.so.1
}

@test "so-input: --sysroot, with caches of the old, the new and both formats" {
	tree
	for format in old new compat; do
		/sbin/ldconfig -r root -c $format
		LD_LIBRARY_PATH=/nonexistent listed 'name path found' --sysroot root root/usr/bin/a > got
		diff got - <<-END
			libtree.so.1 $PWD/root/opt/x/libtree.so.1 cache
			libalt.so.1 $PWD/root/usr/alternatives/libalt.so.1 cache
		END
	done
	rm root/etc/ld.so.cache
	fails_with "libtree.so.1: not found; needed by $PWD/root/usr/bin/a" --sysroot root root/usr/bin/a
	fails_with "none: cannot be used as --sysroot: No such file or directory" --sysroot none root/usr/bin/a
}

@test "so-input: --sysroot of a big-endian MIPS machine" {
	command -v clang-14 ld.lld-14 > /dev/null || skip "no clang-14 with lld"
	local link="clang-14 --target=mips-linux-gnu -fuse-ld=lld -fPIC -nostdlib"
	mkdir -p root/lib/mips-linux-gnu root/usr/lib root/usr/bin
	$link -shared -DNAME=one -Wl,-soname,libone.so -o root/lib/mips-linux-gnu/libone.so "$HERE/lib.c"
	$link -shared -DNAME=two -Wl,-soname,libtwo.so -o root/usr/lib/libtwo.so "$HERE/lib.c"
	$link -shared -DNAME=ld -Wl,-soname,ld.so.1 -o root/lib/ld.so.1 "$HERE/lib.c"
	$link -pie -Wl,--no-as-needed,-dynamic-linker,/lib/ld.so.1,-e,main -o root/usr/bin/a "$HERE/main.c" root/lib/mips-linux-gnu/libone.so root/usr/lib/libtwo.so
	run -0 --separate-stderr listed 'path found machine class big-endian' --sysroot root root/usr/bin/a
	[ "$output" = "$PWD/root/lib/mips-linux-gnu/libone.so default mips 32 yes
$PWD/root/usr/lib/libtwo.so default mips 32 yes
$PWD/root/lib/ld.so.1 path mips 32 yes" ]
	fails_with "root/usr/bin/a: its interpreter, /lib/ld.so.1, not found (a program of another machine needs --sysroot)" root/usr/bin/a
}

@test "so-input: the cache knows directories for this processor" {
	[ "$(uname -m)" = x86_64 ]
	tree
	for v in 2 3 4; do
		lib root/opt/x/glibc-hwcaps/x86-64-v$v/libtree.so.1
		/sbin/ldconfig -r root
		want=$(/lib64/ld-linux-x86-64.so.2 --help | sed -n 's/^ *\(x86-64-v['2-$v']\) (supported, searched)/glibc-hwcaps\/\1\//p' | head -n 1)
		[ "$(listed path --sysroot root --only 'libtree*' root/usr/bin/a)" = "$PWD/root/opt/x/${want}libtree.so.1" ]
	done
}

@test "so-input: caches that lie do no harm" {
	tree
	/sbin/ldconfig -r root
	cp root/etc/ld.so.cache good
	"$PYTHON" - <<-'END'
		import subprocess, random
		good = open("good", "rb").read()
		random.seed(1)
		for i in range(150):
		    bad = bytearray(good)
		    if i % 3 == 0:
		        del bad[random.randrange(len(bad)):]
		    for _ in range(random.randrange(1, 8)):
		        if bad:
		            bad[random.randrange(len(bad))] = random.choice([0, 1, 0x7f, 0x80, 0xff])
		    open("root/etc/ld.so.cache", "wb").write(bad)
		    run = subprocess.run(["so-input", "-o", "list", "--sysroot", "root", "root/usr/bin/a"], capture_output=True)
		    assert run.returncode in (0, 1), (i, run)
	END
}

@test "so-input: usage errors: status 2" {
	run -2 so-input
	run -2 so-input --no-such-option a
	run -0 so-input --help
	[[ $output == *--sysroot* ]]
}

@test "so-input: -o appears whole or not at all, and never on a terminal" {
	app a
	run -1 --separate-stderr so-input -o none/list a
	[[ $stderr == "so-input: none/list: cannot write:"* ]]
	run -1 script -qec "so-input a" /dev/null
	[[ $output == *"is a terminal: pipe it to map-dump, or give -o"* ]]
	run -1 --separate-stderr bash -c 'so-input a > /dev/full'
	[[ $stderr == *"No space left on device"* ]]
	so-input -o /dev/stdout a | cmp - <(so-input a)
}
