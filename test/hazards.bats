# hazards.bats - what broke other rewriters, each as a small input: plain = moved = moved with traps in old text = counted
load common
load hazards

not_moved() { grep -c "not moved" said; }

@test "thread-local variables: all models" {
	hazard tls
	COMPILERS=gcc hazard tls -mtls-dialect=gnu2
	hazard tls -O0
	hazard tls -fuse-ld=lld
}

@test "indirect functions: exported, hidden, a resolver that calls others; lazy and at once" {
	COMPILERS=gcc hazard ifunc
	COMPILERS=gcc hazard ifunc -Wl,-z,now
	COMPILERS=gcc hazard ifunc -fcf-protection -Wl,-z,ibtplt
	hazard ifunc -O0
	hazard ifunc -fuse-ld=lld
}

@test "a function has one address; a symbol plus an addend leads into it" {
	hazard address
	POISON=no HOSTFLAGS=-no-pie hazard address
	hazard address -fno-plt
	hazard address -Wl,-Bsymbolic
	hazard address -O0
	hazard address -fuse-ld=gold
}

@test "setjmp, signals, tail calls; jumps that only assembly makes" {
	hazard flow
	hazard flow -O0
	hazard flow -fcf-protection=full
	hazard flow -fuse-ld=lld
}

@test "data in text" {
	hazard data
	hazard data -fuse-ld=lld -s
}

@test "a function's address as a base for data" { hazard base; }

@test "a restartable sequence runs where the kernel looks for it" { hazard rseq; }

@test "notes of unequal alignment" {
	hazard plain "$REPO/test/input/hazard-notes.s"
	hazard plain "$REPO/test/input/hazard-notes.s" -Wl,--build-id=md5 -Wl,-z,noseparate-code
	readelf -nW twins/libplain.so >notes 2>&1
	[ "$(grep -cE '^  (A|B|C) ' notes)" -eq 3 ]
}

@test "exceptions: cold parts, rethrows, many types" {
	hazard throw
	hazard throw -O0
	hazard throw -O3 -fuse-ld=lld
	hazard throw -fuse-ld=gold -fcf-protection=full
}

@test "relocations and symbols: RELR, version scripts, hash styles, stripped, bound at once" {
	echo 'V1 { global: plain_*; local: *; }; V2 { } V1;' >map
	hazard plain
	hazard plain -Wl,-z,pack-relative-relocs
	hazard plain -Wl,--version-script=map -Wl,-z,pack-relative-relocs
	hazard plain -Wl,--hash-style=sysv -s
	hazard plain -Wl,-z,now -Wl,-z,relro
	hazard plain -fno-plt -Wl,-O1,--as-needed
	hazard plain -Wl,-Bsymbolic-functions -Wl,--no-eh-frame-hdr
}

@test "linkers and layouts: gold, lld, PLTs for branch tracking, large pages, few segments" {
	hazard plain -fuse-ld=gold
	hazard plain -fuse-ld=gold -Wl,-z,relro,-z,now
	hazard plain -fuse-ld=lld
	hazard plain -fuse-ld=lld -Wl,-z,now
	hazard plain -fuse-ld=lld -Wl,--no-rosegment
	hazard plain -fcf-protection=full -Wl,-z,ibtplt
	hazard plain -Wl,-z,max-page-size=0x200000
	hazard plain -Wl,-z,noseparate-code
	hazard plain -Wl,-Ttext-segment=0x400000
}

@test "constructors: DT_INIT, arrays, both, neither" {
	hazard plain -Wl,-init,plain_init,-fini,plain_fini
	hazard plain -nostartfiles
	hazard plain -nostartfiles -DNO_CONSTRUCTORS
	hazard plain -nostartfiles -DNO_CONSTRUCTORS -Wl,-init,plain_init
	export LAST=1
	hazard plain
}

@test "compilers' options: entry marks, patchable entries, sizes, frame pointers, sections" {
	hazard plain -fcf-protection=full
	hazard plain -fpatchable-function-entry=5 -fcf-protection=full
	COMPILERS=gcc hazard plain -fpatchable-function-entry=7,3
	POISON=no hazard plain -Os -fno-asynchronous-unwind-tables	# what no unwinding entry covers and nothing is known to enter runs where it was
	hazard plain -O3 -funroll-loops -ffunction-sections -Wl,--gc-sections
	hazard plain -O0 -g -fno-omit-frame-pointer
	hazard plain -mcmodel=medium
	hazard plain -flto
	COMPILERS=gcc hazard plain -freorder-blocks-and-partition -O3
	COMPILERS=gcc hazard plain -pg
	COMPILERS=gcc hazard plain -fstack-clash-protection -fstack-protector-all
	COMPILERS=clang-14 hazard plain -mretpoline
	COMPILERS=gcc hazard plain -mindirect-branch=thunk-inline
}

@test "split stacks: such functions run where they were" {
	POISON=no COMPILERS=gcc hazard plain -fsplit-stack
	POISON=no COMPILERS=gcc hazard flow -fsplit-stack
}

# The functions that print are named: 12345 is what they find, and behind() counts on.
@test "frames that are found by where calls return to, at a fixed address too" {
	program frames -no-pie
	[ "$plain" = "12345 7" ]
	grep -q "an address inside it is held in data" said
	program frames -pie -fpie
	program frames -no-pie -s
}

@test "frames of code that Go made" {
	program frames -DGO -no-pie
	[ "$plain" = "12345 7" ]
	grep -q "the Go runtime looks its addresses up" said
	program frames -DGO -pie -fpie
	program frames -DGO -pie -fpie -s
}

@test "frames of code that reads its own instructions, as V8's builtins do" {
	program frames -DV8 -no-pie
	[ "$plain" = "12345 7" ]
	grep -q "reads its own instructions" said
	program frames -DV8 -pie -fpie -s
}

@test "frames of runtimes that are known by name" {
	for name in mono_aot_file_info _kDartVmSnapshotInstructions; do
		printf 'int %s = 1;\nint f(int x) { return x + 1; }\n' $name >named.c
		gcc -O1 -fPIC -shared -o libnamed.so named.c
		so-input --only "*libnamed.so" ./libnamed.so | reloc-extract -v 2>said >table
		grep -q "stays: the .* runtime looks its addresses up" said
		[ "$(map-dump -j table | grep -c '"row":"range".*"kind":"fde"')" -eq 0 ]
	done
}
