#!/usr/bin/env bats
# The sequence reader and writer, the codec of the three kinds of stream, and the schemas.  python3-cbor2 is the second opinion.
load common

setup_file() {
	export TOOL=$BATS_FILE_TMPDIR/stream_tool
	(cd "$REPO" && ${CC:-gcc} -std=c11 -Wall -Wextra -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -I. -D_GNU_SOURCE \
		-o "$TOOL" test/formats/stream_tool.c formats/*.c lib/base/*.c -lcbor)
}

KINDS="so-list relocations profile"

check() { "$PYTHON" "$REPO/test/cddl_check.py" "$@"; }

# python CODE: runs it with cbor2 as c; canonical sequences with seq(items...)
python() {
	"$PYTHON" -c "
import sys, cbor2 as c
out = sys.stdout.buffer
def seq(*items):
    for i in items: out.write(c.dumps(i, canonical=True))
def load(path):
    f, items = open(path, 'rb'), []
    while f.peek(1): items.append(c.load(f))
    return items
$1" "${@:2}"
}

# A stream of that kind around the given Python items.
stream() { python "seq(['$1', 1], {'path': '/a', 'name': 'a'}); seq($2)"; }

# The command fails with status 1 and one line, which has this in it.
fails_with() {
	run --separate-stderr "${@:2}"
	[ "$status" -eq 1 ] || { echo "status $status: $stderr"; return 1; }
	[ "${#stderr_lines[@]}" -eq 1 ] || { echo "not one line: $stderr"; return 1; }
	[[ $stderr == *"$1"* ]] || { echo "said: $stderr"; return 1; }
}

copy_fails() { fails_with "$1" "$TOOL" copy "${@:3}" < "$2"; }

bats_require_minimum_version 1.5.0

@test "what the codec writes matches the schemas, and names no key they do not" {
	for kind in $KINDS; do
		"$TOOL" sample $kind > $kind
		check --strict "$REPO/formats/$kind.cddl" $kind $kind
	done
}

@test "what the codec writes is what python's canonical encoder writes" {
	for kind in $KINDS; do
		"$TOOL" sample $kind > $kind
		python 'seq(*load(sys.argv[1]))' $kind | cmp - $kind
	done
}

@test "the sample read by another reader has the numbers that were written" {
	"$TOOL" sample relocations > s
	run python '
i = load("s")
print(i[0], i[1]["machine"], i[1]["class"], i[1]["size"], i[1]["build-id"].hex()[:10], len(i[1]["build-id"]), i[1]["big-endian"])
print(i[2], i[13], i[14])
d = i[7][3]; print(d["base"], d["width"], d["count"], d["scale"], d["signed"], d["proven"])
print(i[15]["path"])' 
	[ "${lines[0]}" = "['relocations', 1] mips 32 1048576 deadbeef00 20 True" ]
	[ "${lines[1]}" = "[0, 4096, -4096] [4711, 18446744073709551615, -9223372036854775808] [-1, 12]" ]
	[ "${lines[2]}" = "12288 4 7 -2 True True" ]
	[ "${lines[3]}" = "b'/\\xff\\xfe'" ]
}

@test "reader and writer are each other's inverse" {
	for kind in $KINDS; do
		"$TOOL" sample $kind > $kind
		"$TOOL" copy $kind < $kind | cmp - $kind
		"$TOOL" copy < $kind | cmp - $kind
	done
}

@test "joined streams are a stream" {
	"$TOOL" sample profile > one
	cat one one one > three
	"$TOOL" copy profile < three > copied
	python 'h = load("one"); seq(*h, *h[1:], *h[1:])' | cmp - copied
	check "$REPO/formats/profile.cddl" profile three
}

@test "a stream cut at any byte is refused, but between two objects" {
	for kind in $KINDS; do
		"$TOOL" sample $kind > $kind
		"$TOOL" cuts < $kind > whole 2> said
		# By hand: behind the header, and behind each end item.
		python '
f, at = open(sys.argv[1], "rb"), 0
while f.peek(1):
    i = c.load(f)
    if type(i) is list and (type(i[0]) is str or i[0] == -1): print(f.tell())' $kind > expected
		diff expected whole
		size=$(stat -c %s $kind)
		[ "$(wc -l < said)" -eq $((size + 1 - $(wc -l < whole))) ]
		run ! grep -v '^stream_tool: cut: byte [0-9]*: [a-z]' said
	done
}

@test "the tools, too, refuse a cut stream with one line" {
	"$TOOL" sample relocations > s
	for n in 0 1 5 13 14 20 100 200 250 300 340; do
		head -c $n s > cut
		if [ $n -ne 14 ]; then
			fails_with "byte " map-dump cut
		fi
	done
}

@test "a wrong version, a wrong kind, an unknown kind, no header" {
	python 'seq(["so-list", 2])' > s
	copy_fails 'standard input: byte 9: version 2 of "so-list"; this program reads version 1' s
	"$TOOL" sample so-list > s
	copy_fails 'byte 1: a "so-list" stream where "relocations" is wanted' s relocations
	python 'seq(["recipes", 1])' > s
	copy_fails 'not a stream of a known kind' s
	python 'seq(["so-list"])' > s
	copy_fails 'not a stream' s
	python 'seq(["so-list", "1"])' > s
	copy_fails 'a version number expected' s
	python 'seq({"path": "/a"})' > s
	copy_fails 'byte 0: not a stream' s
	: > s
	copy_fails 'byte 0: empty' s
	{ "$TOOL" sample so-list; "$TOOL" sample profile; } > s
	copy_fails 'a "profile" stream where "so-list" is wanted' s
	copy_fails 'byte 0: not a stream' "$REPO/Makefile"
	copy_fails 'byte 0: not a stream' /bin/sh
}

@test "rows, objects and end items out of place" {
	python 'seq(["so-list", 1], [0, 1, 2])' > s
	copy_fails 'a row outside an object' s
	python 'seq(["so-list", 1], [-1, 0])' > s
	copy_fails 'a row outside an object' s
	stream relocations '[0, 1, 2], {"path": "/b", "name": "b"}' > s
	copy_fails 'an object before the end item' s
	stream relocations '[0, 1, 2], ["relocations", 1]' > s
	copy_fails 'a header before the object' s
	stream relocations '[0, 1, 2], [-1, 2]' > s
	copy_fails 'does not count the 1 rows' s
	stream relocations '[0, 1, 2]' > s
	copy_fails 'the stream ends before the end item of /a' s
	stream relocations '[-2, 1]' > s
	copy_fails 'neither a row nor an end item' s
	for item in 7 '"text"' None '[]' '[None, 1]' '[[1], 1, 2]'; do
		stream relocations "$item" > s
		copy_fails ': byte ' s
	done
}

@test "rows of a wrong shape" {
	for row in '[0]' '[0, 1]' '[0, -1, 2]' '[0, "a", 2]' '[0, 1, "a"]' '[0, 1, 2, 3]' '[0, 1, 2, {}, 4]' '[0, 1, 2**63]' '[0, 1, -2**63-1]' \
	           '[2**63, 1, 2]' '[0, 1, 2, {1: 2}]' '[0, 1, 2, {"why": 3}]' '[0, 1, 2, {"width": 2**32}]' '[0, 1, 2, {"signed": 1}]' \
	           '[0, 1, 2, {"scale": 2**31}]' '[0, 1, 2, {"base": -1}]' '[0, 1, 2, {"why": "a\0b"}]' '[0, 1, 2, {"x" * 300: 1}]'; do
		stream relocations "$row, [-1, 1]" > s
		copy_fails 'standard input: byte ' s
	done
	stream profile '[0, 1, 2], [-1, 1]' > s
	copy_fails 'a "profile" row has a type, 3 numbers' s
}

@test "objects of a wrong shape" {
	for object in '{}' '{"path": "/a"}' '{"name": "a"}' '{"path": "", "name": "a"}' '{"path": "/a", "name": "a", "class": 33}' \
	              '{"path": "/a", "name": "a", "digest": b"123"}' '{"path": "/a", "name": "a", "build-id": b""}' \
	              '{"path": "/a", "name": "a", "build-id": b"x" * 33}' '{"path": "/a", "name": 1}'; do
		python "seq(['so-list', 1], $object, [-1, 0])" > s
		copy_fails 'standard input: byte ' s
	done
}

@test "unknown row types and map keys pass" {
	python 'seq(["relocations", 1], {"path": "/a", "name": "a", "colour": "red", "zzz": {"a": [1, {"b": None}], "t": c.CBORTag(6, 1)}},
	            [77, 1, -2, {"why": "new", "later": [[[]]], "flags": 1.5}], [78, 2, 3], [-1, 2])' > s
	"$TOOL" copy < s > copied
	python 'seq(["relocations", 1], {"path": "/a", "name": "a"}, [77, 1, -2, {"why": "new"}], [78, 2, 3], [-1, 2])' | cmp - copied
	check "$REPO/formats/relocations.cddl" relocations s
	run check --strict "$REPO/formats/relocations.cddl" relocations s
	[ "$status" -eq 1 ]
}

# Bytes in hexadecimal, as the rest of a so-list stream.
raw() { { python 'seq(["so-list", 1])'; printf "$(sed 's/../\\x&/g' <<< "$1")"; } > s; }

@test "encodings that are not deterministic are refused" {
	while read -r bytes what; do
		raw "$bytes"
		copy_fails "$what" s
		run check "$REPO/formats/so-list.cddl" so-list s
		[ "$status" -eq 1 ]
	done <<- 'END'
		bf646e616d656161 not deterministic: an indefinite length
		9fff not deterministic: an indefinite length
		a17f6161ff01 not deterministic: an indefinite length
		b802646e616d65616164706174686161 not deterministic: a longer form
		a2646e616d6578016164706174686161 not deterministic: a longer form
		a264706174686161646e616d656161 not deterministic: a map key out of order
		a2646e616d656161646e616d656161 not deterministic: a map key out of order, or twice
		a3617afb3ff8000000000000646e616d65616164706174686161 not deterministic: a longer form
		a3617afa3fc00000646e616d65616164706174686161 not deterministic: a longer form
	END
}

@test "malformed bytes are refused" {
	while read -r bytes what; do
		raw "$bytes"
		copy_fails "$what" s
	done <<- 'END'
		ff malformed: a break without a beginning
		1c malformed: no item begins with 0x1c
		fc malformed: no item begins with 0xfc
		a161ff01 malformed: text that is not UTF-8
		a163eda08001 malformed: text that is not UTF-8
		a162c08001 malformed: text that is not UTF-8
		a17bffffffffffffffff61 a string of more than 64 MiB
		a15bfffffffffffffff061 a string of more than 64 MiB
		a17a0500000161 a string of more than 64 MiB
		a161619bffffffffffffffff01 cut: the stream ends inside an item
		a16161bbffffffffffffffff01 over-long: more items
		a1616182819bffffffffffffffff over-long: more items
		bbffffffffffffffff cut: the stream ends inside an item
	END
}

@test "floats: the shortest form passes, and only that" {
	# cbor2 writes halves from 32768 on as singles, so struct has to do.
	python '
import struct
def forms(x):
    for mark, form in (b"\xf9", ">e"), (b"\xfa", ">f"), (b"\xfb", ">d"):
        try: packed = struct.pack(form, x)
        except OverflowError: continue
        if struct.unpack(form, packed)[0] == x or x != x: yield mark + packed
good, bad = open("good", "wb"), 0
for x in map(float, (0, -0.0, 1, 65504, 65505, 65536, 2**-24, 2**-25, 1023*2**-24, 2049*2**-24, 0.1, 1.5, 3.4e38, 1e300, "inf", "-inf", "nan",
                     2**-14, 2**-14+2**-24, 2**-14+2**-25, 2047, 2049)):
    first, *longer = forms(x)
    good.write(first)
    for l in longer: bad += 1; open(f"bad{bad}", "wb").write(l)'
	"$TOOL" tokens < good > seen
	[ "$(grep -c '^float' seen)" -eq 22 ]
	grep -qx 'float 0.10000000000000001' seen
	grep -qx 'float 65505' seen
	[ -e bad30 ]
	for f in bad*; do
		fails_with "a longer form than needed" "$TOOL" tokens < "$f"
	done
}

@test "nesting of any depth is read over without recursion, in little memory" {
	python 'seq(["so-list", 1]); out.write(b"\xa3\x61z" + b"\x81" * 3000000 + b"\x00" + b"\x64name\x61a\x64path\x61b"); seq([-1, 0])' > s
	(ulimit -s 256; "$TOOL" copy < s) > copied
	python 'seq(["so-list", 1], {"path": "b", "name": "a"}, [-1, 0])' | cmp - copied
}

@test "all tags are read over" {
	python 'seq(*[c.CBORTag(t, 1) for t in (*range(6, 24), 24, 255, 256, 55799, 1 << 40)])' > s
	"$TOOL" tokens < s > seen
	[ "$(grep -c '^tag' seen)" -eq 23 ]
}

@test "a long string, and a string across the window's end" {
	python 'seq(["so-list", 1])
for n in (65530, 65536, 100000, 3000000): seq({"path": "/" + "x" * n, "name": "é" * (n // 2)}, [-1, 0])' > s
	"$TOOL" copy < s | cmp - s
}

@test "an unreadable input and an unwritable output" {
	"$TOOL" sample so-list > s
	run --separate-stderr sh -c '"$TOOL" copy < s > /dev/full'
	[ "$status" -eq 1 ]
	[ "$stderr" = "stream_tool: standard output: cannot write: No space left on device" ]
	copy_fails "cannot read: Is a directory" .
}

@test "the schema checker finds what is wrong" {
	cddl() { check "$REPO/formats/relocations.cddl" relocations "$1"; }
	for items in '[0, 1]' '["0", 1, 2]' '[5, 1, -2]' '[7, 1, 1]' '[8, 1, 2, {}]' '[8, 1, 2]' '[4, 1, 2, {"width": 3}]' '[-1, 1]' '{"path": "/b"}' \
	             '["relocations", 1]' '[0, 1, 2, {"a": 1}]'; do
		stream relocations "$items, [-1, 1]" > s
		run cddl s
		[ "$status" -eq 1 ] || { echo "passed: $items"; return 1; }
		[[ ${lines[0]} == "s: item "* ]]
	done
	stream relocations '[0, 1, -2]' > s
	run cddl s
	[ "$status" -eq 1 ]
	[[ $output == *"ends too early"* ]]
	: > s
	run cddl s
	[ "$status" -eq 1 ]
	stream relocations '[0, 1, -2], [9, 1, 2], [-1, 2], ["relocations", 1], {"path": "/a", "name": "a"}, [-1, 0]' > s
	cddl s
}

@test "the three schemas describe the object with the same words" {
	for kind in $KINDS; do
		sed -n '/^object = {/,/^}/p' "$REPO/formats/$kind.cddl" | sed '/? profiled:/,/? note:/d' > $kind
	done
	[ "$(wc -l < so-list)" -gt 15 ]
	cmp so-list relocations
	cmp so-list profile
}
