# clang-16: compiles a generated C++ file (libclang-cpp, libLLVM)
programs=/usr/bin/clang-16

prepare() {
	awk 'BEGIN {
		print "struct base { virtual ~base(); virtual int f(int); };"
		for (i = 0; i < 12; i++) {
			printf "template<int N> struct t%d : base { int f(int x) override { int s = N; for (int k = 0; k < x; k++) s += k * %d ^ (s >> 3); return s; } };\n", i, i + 3
			printf "int g%d(int x) { t%d<%d> o; switch (x) { case 1: return o.f(9); case 2: return %d; case 5: return x * x; case 7: throw x; default: return o.f(x); } }\n", i, i, i * 7, i
		}
	}' >input.cc
	echo 'int f(int x) { return y + ; }' >faults.cc
}

workload() {
	clang-16 -O2 -S -fno-ident -o out.s -x c++ "$INPUT/input.cc"
	clang-16 -O1 -g -c -o out.o -x c++ "$INPUT/input.cc"
	clang-16 -O2 -S -emit-llvm -fno-ident -o out.ll -x c++ "$INPUT/input.cc"
	cksum out.o
	status clang-16 -fno-color-diagnostics -Wall -c -o /dev/null "$INPUT/faults.cc"
	clang-16 -fsyntax-only -Xclang -ast-dump -fno-color-diagnostics "$INPUT/input.cc" | sed -E 's/0x[0-9a-f]+//g' | cksum
}
