#!/usr/bin/env bats
# map-dump: streams, counter files and profiled objects, each made by python from the description of its format.
load common
bats_require_minimum_version 1.5.0

# python CODE ARG...: seq(items...) writes a sequence, lines() reads JSON lines.
python() {
	"$PYTHON" -c "
import json, struct, sys, cbor2 as c
def seq(*items): return b''.join(c.dumps(i, canonical=True) for i in items)
def put(b): sys.stdout.buffer.write(b)
def lines(): return [json.loads(l) for l in sys.stdin]
$1" "${@:2}"
}

fails_with() {
	run --separate-stderr "${@:2}"
	[ "$status" -eq 1 ] || { echo "status $status: $stderr"; return 1; }
	[ "${#stderr_lines[@]}" -eq 1 ] || { echo "not one line: $stderr"; return 1; }
	[[ $stderr == *"$1"* ]] || { echo "said: $stderr"; return 1; }
}

relocations() {
	python 'put(seq(["relocations", 1], {"path": "/lib/a\n.so", "name": "a.so", "build-id": b"\1\xff", "app": True, "machine": "mips"},
		[0, 0x1000, -16], [1, 0x4000, 0x1010], [3, 0x1000, 64, {"kind": "fde", "name": "f"}],
		[4, 0x1004, 0x3000, {"base": 0x3000, "width": 4, "count": 7, "signed": True, "scale": -1}], [99, 5, 6], [-1, 5]))'
}

# counters BYTE-ORDER [NAME=VALUE...]: a counter file of 3 blocks and 2 springboards.
counters() {
	python '
f = dict(magic=b"soprofct", version=1, header_size=4096, page=4096, flags=17, counters=5, blocks=3, map_hash=0x123456789, orig=b"\xaa\xbb", own=b"\xcc",
         orig_size=2, own_size=1, address=0x9000, object=b"libx.so.1", bias=0x7f0000000000, pid=42, parent=7, start=1700000000123456789, serial=2, reserved=0, limit=8 << 30, exe=b"/usr/bin/x")
cut = None
for a in sys.argv[2:]:
    k, v = a.split("=")
    if k == "cut": cut = int(v)
    else: f[k] = int(v, 0)
head = struct.pack(sys.argv[1] + "8sIIIIQQQ32s32sIIQ128sQIIQIIQ512s", *f.values())
put((head.ljust(4096, b"\0") + struct.pack(sys.argv[1] + "5Q", 1000003, 0, 2**64 - 1, 0, 9))[:cut])' "$@"
}

# A shared object with the sections that so-gen adds, and what they hold.
twin() {
	echo 'int f(void) { return 1; }' > x.c
	${CC:-gcc} -shared -fPIC -o plain.so x.c
	python '
w = lambda name, data: open(name, "wb").write(data)
w("map", struct.pack("<9I", 0x1100, 0x5000, 21 | 1 << 20 | 8 << 24, 0x1115, 0x501d, 0xfffff | 255 << 24, 0x1200, 0x6000, 1 | 3 << 21))
w("springs", struct.pack("<2I", 0x1100, 0x1200))
w("text", b"\xcc" * 77)
w("info", seq(["relocations", 1], {"path": "/lib/plain.so", "name": "plain.so"}, [8, 0x1300, 16, {"why": "an indirect jump", "name": "g"}], [-1, 1]))'
	counters '<' > header
	objcopy --add-section .soprof.map=map --add-section .soprof.springs=springs --add-section .soprof.text=text \
		--add-section .soprof.info=info --add-section .soprof.counters=header plain.so twin.so
}

@test "map-dump: a stream as text" {
	relocations > s
	run map-dump s
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "relocations, version 1" ]
	[ "${lines[1]}" = 'object /lib/a\x0a.so' ]
	grep -q '^  build-id     01ff$' <<< "$output"
	grep -q '^  prologue  *0x1000  *-16$' <<< "$output"
	grep -q '^  virtual-address  *0x4000  *0x1010$' <<< "$output"
	grep -q '^  range  *0x1000  *64  kind "fde"  name "f"$' <<< "$output"
	grep -q '^  jump-table  *0x1004  *0x3000  base 0x3000  count 7  scale -1  width 4  signed$' <<< "$output"
	grep -q '^  type 99  *0x5  *6$' <<< "$output"
	[ "${lines[-1]}" = "  5 rows: 1 prologue, 1 virtual-address, 1 range, 1 jump-table, 1 of other types" ]
}

@test "map-dump: standard input, by itself and as -, and more than one file" {
	relocations > s
	map-dump s > expected
	map-dump < s | cmp - expected
	map-dump - < s | cmp - expected
	cat s | map-dump | cmp - expected
	map-dump s s | cmp - <(cat expected expected)
}

@test "map-dump --json: one object a line, the values that were put in" {
	relocations > s
	map-dump --json s > lines
	[ "$(wc -l < lines)" -eq 8 ]
	python '
l = lines()
assert l[0] == {"kind": "relocations", "version": 1}
assert l[1] == {"object": {"path": "/lib/a\n.so", "name": "a.so", "build-id": "01ff", "app": True, "machine": "mips"}}
assert l[2] == {"row": "prologue", "type": 0, "address": "0x1000", "information": -16}
assert l[3] == {"row": "virtual-address", "type": 1, "address": "0x4000", "information": "0x1010"}
assert l[4] == {"row": "range", "type": 3, "address": "0x1000", "information": 64, "details": {"kind": "fde", "name": "f"}}
assert l[5]["details"] == {"base": 0x3000, "width": 4, "count": 7, "signed": True, "scale": -1}
assert l[6] == {"row": None, "type": 99, "address": "0x5", "information": 6}
assert l[7] == {"end": 5}' < lines
}

@test "map-dump --json: names of any bytes come back" {
	python 'put(seq(["so-list", 1], {"path": b"/\xff\"\\\t\xed\xa0\x80\xc3", "name": "é\u20ac\U0001f600\x7f"}, [-1, 0]))' > s
	map-dump -j s > lines
	python '
o = lines()[1]["object"]
assert o["path"].encode("utf-8", "surrogateescape") == b"/\xff\"\\\t\xed\xa0\x80\xc3", o
assert o["name"] == "é\u20ac\U0001f600\x7f", o' < lines
}

@test "map-dump: nothing in a name reaches the terminal as a control character" {
	python 'put(seq(["so-list", 1], {"path": "/\x1b[31m\x9b\x7fé", "name": b"\x9b\xff"}, [-1, 0]))' > s
	run map-dump s
	[ "${lines[1]}" = 'object /\x1b[31m\xc2\x9b\x7fé' ]
	[ "${lines[2]}" = '  name         \x9b\xff' ]
}

@test "map-dump --summary: objects and totals, no rows" {
	relocations > s
	run map-dump -s s
	[[ $output != *0x1000* ]]
	[ "${lines[-1]}" = "  5 rows: 1 prologue, 1 virtual-address, 1 range, 1 jump-table, 1 of other types" ]
	[ "$(map-dump -s -j s | wc -l)" -eq 3 ]
}

@test "map-dump: a profile has counts, up to the largest" {
	python 'put(seq(["profile", 1], {"path": "/a", "name": "a"}, [0, 16, 4, 2**64 - 1], [0, 20, 2, 0], [2, 32, 8, 0, {"why": "rseq"}], [-1, 3]))' > s
	map-dump -j s > lines
	python 'assert [r["count"] for r in lines() if "row" in r] == [2**64 - 1, 0, 0]' < lines
	map-dump s | grep -q '^  block  *0x10  *4  *18446744073709551615$'
	map-dump s | grep -q '^  not-counted  *0x20  *8  *0  why "rseq"$'
}

@test "map-dump: a counter file, of either byte order" {
	for order in '<' '>'; do
		counters $order > c
		run map-dump c
		[ "$status" -eq 0 ]
		[ "${lines[0]}" = "counters of libx.so.1" ]
		grep -q '^  executable   /usr/bin/x$' <<< "$output"
		grep -q '^  started      1700000000.123456789$' <<< "$output"
		grep -q '^  original     aabb$' <<< "$output"
		grep -q '^  flags        atomic child-lost $' <<< "$output"
		grep -q '^  block  *0  *1000003$' <<< "$output"
		grep -q '^  block  *2  *18446744073709551615$' <<< "$output"
		grep -q '^  springboard  *1  *9$' <<< "$output"
		[ "$(grep -c '^  block  *[0-9]' <<< "$output")" -eq 2 ]
		[ "${lines[-1]}" = "  zero         2" ]
		map-dump --all c | grep -q '^  block  *1  *0$'
		map-dump --all --json < c > lines
		python '
l = lines()
h = l.pop(0)
assert (h["counters_of"], h["pid"], h["parent"], h["serial"], h["load_bias"]) == ("libx.so.1", 42, 7, 2, "0x7f0000000000")
assert (h["original_build_id"], h["build_id"], h["map_hash"], h["flags"]) == ("aabb", "cc", "0x123456789", ["atomic", "child-lost"])
assert l == [{"block": 0, "count": 1000003}, {"block": 1, "count": 0}, {"block": 2, "count": 2**64 - 1}, {"springboard": 0, "count": 0}, {"springboard": 1, "count": 9}]' < lines
	done
}

@test "map-dump: counter files that lie" {
	for lie in version=2 header_size=4095 header_size=0 header_size=5000 page=0 blocks=6 orig_size=33 own_size=0xffffffff; do
		counters '<' $lie > c
		fails_with 'c: byte ' map-dump c
	done
	for cut in 1 8 100 800; do
		counters '<' cut=$cut > c
		fails_with 'c: byte 0: cut' map-dump c
	done
	counters '<' cut=4000 > c
	fails_with 'cut: the file ends inside the header' map-dump c
	counters '<' cut=4115 > c
	fails_with 'c: cut: it holds 2 of 5 counters' map-dump c
	counters '<' counters=0xffffffffffffffff > c
	fails_with 'c: cut: it holds 5 of 18446744073709551615 counters' map-dump c
	echo sopro > c
	fails_with 'c: byte 0' map-dump c
}

@test "map-dump: a profiled object's map table" {
	twin
	run map-dump twin.so
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "profiled object twin.so" ]
	grep -q '^  original     aabb$' <<< "$output"
	grep -q '^  blocks       3$' <<< "$output"
	grep -q '^  uncounted    1$' <<< "$output"
	grep -q '^  springboards 2$' <<< "$output"
	grep -q "^  old-text     $((21 + 0xfffff + 1))\$" <<< "$output"
	grep -q '^  new-text     77$' <<< "$output"
	grep -q '^ *0x1100     21 ->     0x5000 +8 mark$' <<< "$output"
	grep -q '^ *0x1115 1048575 ->     0x501d +255$' <<< "$output"
	grep -q '^ *0x1200      1 ->     0x6000 +0 split uncounted$' <<< "$output"
	grep -q '^ *0x1200 springboard$' <<< "$output"
	grep -q '^  not-moved  *0x1300  *16  why "an indirect jump"  name "g"$' <<< "$output"
	map-dump --json twin.so > lines
	python '
l = lines()
assert l[0] == {"profiled_object": "twin.so", "original_build_id": "aabb", "blocks": 3, "uncounted": 1, "springboards": 2, "old-text": 22 + 0xfffff, "new-text": 77}
assert l[1] == {"old": "0x1100", "size": 21, "new": "0x5000", "inserted": 8, "flags": ["mark"]}
assert l[3]["flags"] == ["split", "uncounted"]
assert l[4:6] == [{"springboard": "0x1100"}, {"springboard": "0x1200"}]
assert l[8]["row"] == "not-moved"' < lines
}

@test "map-dump: profiled objects that lie" {
	twin
	fails_with 'plain.so: not a profiled object' map-dump plain.so
	fails_with 'standard input: a profiled object is read by its name' map-dump < twin.so
	for n in 4 20 63 64 1000 $(($(stat -c %s twin.so) - 1)); do
		head -c "$n" twin.so > cut.so
		fails_with 'cut.so: ' map-dump cut.so
	done
	head -c 35 map > short
	objcopy --update-section .soprof.map=short twin.so odd.so
	fails_with 'odd.so: .soprof.map: byte 35: cut' map-dump odd.so
	head -c 5 springs > short
	objcopy --update-section .soprof.springs=short twin.so odd.so
	fails_with 'odd.so: .soprof.springs: byte 5: cut' map-dump odd.so
	head -c 40 info > short
	objcopy --update-section .soprof.info=short twin.so odd.so
	fails_with 'odd.so: .soprof.info: byte 40: cut' map-dump odd.so
}

@test "map-dump: files that are none of these; the others are printed all the same" {
	relocations > s
	fails_with 'none: cannot open: No such file' map-dump none
	fails_with '/: cannot read: Is a directory' map-dump /
	fails_with 'byte 0: neither' map-dump "$REPO/Makefile"
	: > empty
	fails_with 'empty: byte 0: empty' map-dump empty
	run --separate-stderr map-dump none s
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "relocations, version 1" ]
}

@test "map-dump -o: whole or not at all; devices in place" {
	relocations > s
	umask 027
	map-dump -o text s
	map-dump s | cmp - text
	[ "$(stat -c %a text)" = 640 ]
	fails_with 'none: cannot open' map-dump -o text none
	map-dump s | cmp - text
	ln -s text link
	map-dump -j -o link s
	[ -L link ]
	map-dump -j s | cmp - text
	map-dump -o /dev/null s
	[ -c /dev/null ]
	map-dump -o /dev/stdout s > out
	map-dump s | cmp - out
	map-dump -o - s >> out
	[ "$(wc -l < out)" -eq $((2 * $(map-dump s | wc -l))) ]
	mkfifo fifo
	timeout 20 cat fifo > read 3>&- &
	map-dump -o fifo s
	wait
	[ -p fifo ]
	map-dump s | cmp - read
	fails_with '/dev/full: cannot write: No space left' map-dump -o /dev/full s
	fails_with 'no/such: cannot write: No such file' map-dump -o no/such s
	fails_with '.: cannot write: Is a directory' map-dump -o . s
	run --separate-stderr sh -c 'map-dump s > /dev/full'
	[ "$status" -eq 1 ]
	[ "$stderr" = "map-dump: standard output: cannot write: No space left on device" ]
	[ -z "$(find . -name '.soprof*')" ]
}

@test "map-dump: no temporary file is left by a signal" {
	mkfifo in
	timeout 20 map-dump -o text in 3>&- &
	pid=$!
	exec 9<> in	# both ways: it does not wait for a reader
	for _ in $(seq 100); do
		[ -n "$(find . -name '.soprof*')" ] && break
		sleep 0.05
	done
	[ -n "$(find . -name '.soprof*')" ]
	kill -TERM $pid
	wait $pid && false || [ $? -eq 143 ]
	exec 9>&-
	[ -z "$(find . -name '.soprof*')" ]
	[ ! -e text ]
}

@test "map-dump: a reader that leaves is not an error" {
	python 'put(seq(["relocations", 1], {"path": "/a", "name": "a"}) + seq([7, 1, 0]) * 200000 + seq([-1, 200000]))' > s
	set -o pipefail
	run --separate-stderr sh -c 'map-dump s | head -n 3'
	[ "${#lines[@]}" -eq 2 ]
	[ -z "$stderr" ]
}

@test "map-dump: usage" {
	for wrong in --nonsense -x "--output" "--json=1"; do
		run map-dump $wrong
		[ "$status" -eq 2 ]
		[[ ${lines[-1]} == "usage: map-dump "* ]]
	done
	run map-dump --help
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == "usage: map-dump "* ]]
	run map-dump --version
	[[ $output == "map-dump (soprof) "* ]]
	if command -v mandoc > /dev/null; then
		mandoc -T lint -W warning "$REPO/tools/map-dump/map-dump.1"
	fi
}
