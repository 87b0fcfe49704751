# llc-16: code for three machines from a generated file
programs=/usr/bin/llc-16

prepare() {
	awk 'BEGIN {
		for (i = 0; i < 25; i++) {
			printf "define i32 @f%d(i32 %%x, ptr %%p) {\nentry:\n  br label %%loop\nloop:\n", i
			printf "  %%i = phi i32 [ 0, %%entry ], [ %%n, %%more ]\n  %%s = phi i32 [ %%x, %%entry ], [ %%t, %%more ]\n"
			printf "  %%q = getelementptr i32, ptr %%p, i32 %%i\n  %%v = load i32, ptr %%q\n  %%m = mul i32 %%v, %d\n  %%a = xor i32 %%s, %%m\n", i + 3
			printf "  switch i32 %%v, label %%more [ i32 1, label %%out\n i32 2, label %%more\n i32 3, label %%out\n i32 4, label %%more\n i32 5, label %%out ]\n"
			printf "more:\n  %%t = add i32 %%a, %%i\n  %%n = add i32 %%i, 1\n  %%c = icmp slt i32 %%n, %d\n  br i1 %%c, label %%loop, label %%out\n", i * 5 + 9
			printf "out:\n  %%r = phi i32 [ %%a, %%loop ], [ %%a, %%loop ], [ %%a, %%loop ], [ %%t, %%more ]\n  ret i32 %%r\n}\n"
		}
	}' >input.ll
	echo 'define i32 @f() { ret i64 0 }' >faults.ll
}

workload() {
	local m
	for m in x86-64 aarch64 mips; do llc-16 -O2 -march=$m -o $m.s "$INPUT/input.ll"; done
	llc-16 -O0 -filetype=obj -o out.o "$INPUT/input.ll"
	status llc-16 -o - "$INPUT/faults.ll"
}
