# gdb --batch: a loop in its Python (libpython3.11), symbols, disassembly, types of a small program; nothing is run
programs=/usr/bin/gdb

prepare() {
	host zhost.c zhost -O1 -fno-inline -lz
}

workload() {
	export HOME=$PWD PYTHONHASHSEED=0 DEBUGINFOD_URLS=
	cat >loop.py <<-'P'
	import gdb
	total = 0
	for i in range(20000):
	    total = (total * 31 + i) % 1000003
	print("total", total)
	print(sorted(f.name for f in gdb.decode_line("zhost.c:30")[1][0].symtab.global_block().__iter__() if f.is_function))
	print([str(gdb.parse_and_eval("(%d * 7) ^ 3" % i)) for i in range(5)])
	print(gdb.lookup_type("z_stream").fields()[0].name, gdb.lookup_type("z_stream").sizeof)
	P
	gdb --batch -nx -x loop.py "$INPUT/zhost"
	gdb --batch -nx -ex 'info functions -n pack' -ex 'disassemble /r pack' -ex 'ptype z_stream' -ex 'info line main' -ex 'print sizeof(z_stream)' \
		-ex 'python print(gdb.VERSION)' "$INPUT/zhost"
	status gdb --batch -nx -ex 'python raise ValueError("x")' -ex 'print nothing'
}
