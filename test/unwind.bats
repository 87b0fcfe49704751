#!/usr/bin/env bats
# unwind.bats - tools/so-gen/unwind.c: moved unwinding tables say of each new instruction what the old ones said of the old one
load common

LIBS=/usr/lib/x86_64-linux-gnu

setup_file() {
	cd "$REPO" || return 1
	gcc -std=c11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -I. -D_GNU_SOURCE -o "$BATS_FILE_TMPDIR/unwind-check" \
		test/unwind-check.c tools/so-gen/unwind{,-cfi,-cfi-move,-lsda}.c lib/base/*.c lib/elf/{object,notes,symbols,relocs,frames}.c -lelf -lxxhash -lcbor
	gcc -shared -nostdlib -Wl,--no-eh-frame-hdr -o "$BATS_FILE_TMPDIR/odd.so" test/input/unwind.s
}

# moved [-a] OBJECT FACTOR: moves, compares with test/oracle/unwind.py; the last line is "equal: N moved, N LSDAs"
moved() {
	local options=()
	if [ "$1" = -a ]; then
		options=(-a)
		shift
	fi
	"$BATS_FILE_TMPDIR/unwind-check" "${options[@]}" "$1" "$2" out.so > said
	low=$(sed -n 's/^low \([0-9a-f]*\) .*/\1/p' said)
	"$PYTHON" "$REPO/test/oracle/unwind.py" "${options[@]}" "$1" out.so "$2" "$low"
}

fdes() { readelf -wNf "$1" | grep -c ' FDE cie='; }

# rules START: the call frame instructions of the new FDE for the symbol of odd.so, moved by 3
rules() {
	local at
	at=$(printf '%016x' $((0x40000000 + 3 * (0x$(symbol "$1") - 0x$(symbol first)))))
	readelf -wNf out.so | sed -n "/pc=$at\.\./,/^\$/s/^  //p" | grep -v -e DW_CFA_nop -e 'Augm'
}

symbol() { readelf -sW "$BATS_FILE_TMPDIR/odd.so" | awk -v s="$1" '$8 == s { print $2 }'; }

@test "unwind: libstdc++ and libc, rule by rule and call site by call site" {
	for lib in libstdc++.so.6 libc.so.6; do
		run moved $LIBS/$lib 3
		[ "$status" = 0 ]
		# All but .plt, whose rules are an expression over the program counter.
		grep refused said | sed 's/.*: //' > why
		[ "$(cat why)" = "expression over the program counter" ]
		[[ "$output" = "equal: $(($(fdes $LIBS/$lib) - 1)) moved, "* ]]
	done
}

@test "unwind: advances of every size" {
	run moved $LIBS/libc.so.6 300
	[[ "$output" = equal:* ]]
	run moved $LIBS/libc.so.6 1
	[[ "$output" = equal:* ]]
	# By hand: 1, 63, 191 and 69,000 bytes, three times as far.
	moved "$BATS_FILE_TMPDIR/odd.so" 3
	rules far | sed -n 's/.*\(DW_CFA_advance_loc[^ ]*\): \([0-9]*\) .*/\1 \2/p' > got
	printf '%s\n' 'DW_CFA_advance_loc 3' 'DW_CFA_advance_loc1 189' 'DW_CFA_advance_loc2 573' 'DW_CFA_advance_loc4 207000' | diff got -
}

@test "unwind: counting code that moves the stack pointer" {
	run moved -a $LIBS/libgcc_s.so.1 1
	[[ "$output" = equal:* ]]
	run moved -a $LIBS/libgcc_s.so.1 7
	[[ "$output" = equal:* ]]
	run moved -a "$BATS_FILE_TMPDIR/odd.so" 3
	[ "$output" = "equal: 6 moved, 2 LSDAs" ]
}

@test "unwind: expressions over the stack pointer follow it" {
	moved -a "$BATS_FILE_TMPDIR/odd.so" 3
	# by_stack_pointer starts at 0x120 of new text; 128 bytes further at 120, 130, ..., back at 123, 133, ...
	rules by_stack_pointer | sed -n '/ to .*12c/,/ to .*135/p' | sed 's/.* to .*\(...\)$/at \1/' > got
	diff got - <<'END'
at 12c
DW_CFA_expression: r3 (rbx) (DW_OP_breg7 (rsp): 120)
at 130
DW_CFA_def_cfa_expression (DW_OP_bregx: 7 (rsp) 136; DW_OP_deref; DW_OP_plus_uconst: 16)
DW_CFA_expression: r3 (rbx) (DW_OP_bregx: 7 (rsp) 248)
at 133
DW_CFA_def_cfa_expression (DW_OP_bregx: 7 (rsp) 8; DW_OP_deref; DW_OP_plus_uconst: 16)
DW_CFA_expression: r3 (rbx) (DW_OP_bregx: 7 (rsp) 120)
at 135
END
	# Neither rbx at cfa - 16 nor at rbp + 8 has to do with it.
	[ "$(rules by_stack_pointer | sed -n '/ to .*135/,$p' | grep -c DW_CFA_expression)" = 1 ]
}

@test "unwind: what cannot be moved is refused, each with its reason" {
	moved "$BATS_FILE_TMPDIR/odd.so" 3
	for line in 'by_set_loc DW_CFA_set_loc' 'foreign_pad landing pad in another function' \
	            "pad_at_start landing pad at the function's start" 'by_pc expression over the program counter' \
	            'beyond call frame instruction beyond its function' 'looping LSDA whose actions loop'; do
		printf 'refused %x: %s\n' "0x$(symbol "${line%% *}")" "${line#* }"
	done > want
	grep refused said | diff - want
}

@test "unwind: one LSDA for two functions, and a null one" {
	moved "$BATS_FILE_TMPDIR/odd.so" 3
	readelf -wNf out.so | awk '/ FDE .*pc=00000000400000/ { f = 1 } /Augmentation data/ && f { print $3 $4 $5 $6; f = 0 }' > got
	[ "$(wc -l < got)" = 3 ]
	[ "$(sort -u got | wc -l)" = 3 ]
	[ "$(tail -n 1 got)" = 00000000 ]
}

@test "unwind: types, exception specifications, cleanups" {
	for compiler in g++ clang++-14; do
		command -v $compiler > /dev/null || continue
		for level in -O0 -O2; do
			$compiler -std=c++14 -w $level -fPIC -shared -o throws.so "$REPO/test/input/throws.cc"
			run moved throws.so 3
			[ "$status" = 0 ]
			lsdas=${output##*moved, }
			[ "${lsdas% LSDAs}" -ge 5 ]
		done
	done
}

@test "unwind: 32 bits, big-endian words, absolute pointers, 8-byte pointers" {
	command -v clang-14 ld.lld-14 > /dev/null || skip "no clang-14 or lld-14"
	for target in mips mipsel aarch64 i386; do
		clang-14 --target=$target-linux-gnu -std=c++14 -w -O2 -fPIC -c -o throws.o "$REPO/test/input/throws.cc"
		ld.lld-14 -z notext -shared --unresolved-symbols=ignore-all -o throws.so throws.o
		run moved throws.so 4
		[ "$output" = "equal: 5 moved, 5 LSDAs" ]
	done
}
