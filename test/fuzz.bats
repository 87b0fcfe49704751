#!/usr/bin/env bats
# Short runs of the fuzz targets in test/fuzz/: one a parser, with sound inputs as seeds.  FUZZ_SECONDS=600 for a long one.
load common

SANITIZE="-fno-sanitize-recover=undefined -I. -D_GNU_SOURCE -g -O1"
BASE="test/fuzz/quiet.c lib/base/mem.c lib/base/json.c lib/base/progress.c"

# build TARGET SOURCE-OR-LIBRARY...: test/fuzz/TARGET.c with clang's fuzzer
build() {
	command -v clang-14 > /dev/null || skip "no clang-14"
	(cd "$REPO" && clang-14 -fsanitize=fuzzer,address,undefined $SANITIZE -o "$BATS_TEST_TMPDIR/$1" "test/fuzz/$1.c" $BASE "${@:2}")
}

# fuzz TARGET: from the seeds in seeds/
fuzz() {
	nice "./$1" -seed=1 -max_len=4096 -max_total_time="${FUZZ_SECONDS:-4}" -verbosity=0 -print_final_stats=0 seeds > log 2>&1 || {
		tail -n 40 log
		return 1
	}
}

@test "fuzz: streams" {
	build stream formats/{seq,fields,stream}.c -lcbor
	mkdir seeds
	(cd "$REPO" && ${CC:-gcc} $SANITIZE -o "$BATS_TEST_TMPDIR/tool" test/formats/stream_tool.c formats/*.c lib/base/*.c -lcbor)
	for kind in so-list relocations profile; do
		./tool sample $kind > seeds/$kind
	done
	fuzz stream
}

@test "fuzz: counter files" {
	build counters tools/map-dump/{counters,print}.c
	mkdir seeds
	"$PYTHON" -c '
import struct
for order in "<>":
    head = struct.pack(order + "8sIIIIQQ", b"soprofct", 1, 1024, 1024, 31, 4, 3).ljust(1024, b"\1")
    open(f"seeds/{ord(order)}", "wb").write(head + struct.pack(order + "4Q", 1, 0, 2, 3))'
	fuzz counters
}

@test "fuzz: profiles of runs" {
	build run formats/{seq,fields,stream}.c $(cd "$REPO" && ls lib/{elf,code}/*.c lib/machine/{,*/}*.c tools/prof-report/*.c | grep -v prof-report/prof-report.c) \
		-lcbor -lelf -ldw -lxxhash -lZydis -l:libsupc++.a
	mkdir seeds
	for script in recorded json; do trace-run -F 200 -o $script "$REPO/test/input/lua/$script.lua" 5 > out; done
	# Without modules: looking for names in this machine's objects would take all the time.
	"$PYTHON" -c '
import cbor2, sys
for name in sys.argv[1:]:
    with open(name, "rb") as f, open("seeds/" + name, "wb") as to:
        while f.peek(1):
            item = cbor2.load(f)
            if not (isinstance(item, list) and item[0] == 33):
                to.write(cbor2.dumps(item, canonical=True))' recorded json
	fuzz run
}
