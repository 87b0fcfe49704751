# so-gen.bats - bad tables and places, the names and modes of what it writes, hostile rows
load common
load sanitized

setup_file() {
	load common
	load sanitized
	sanitized || return 1
	export T=$BATS_FILE_TMPDIR
	cd "$T" || return 1
	gcc -std=gnu11 -O2 -fPIC -shared -fexceptions -fcf-protection -o small.so "$REPO/test/input/fuzz-small.c"
	so-input --only '*small.so' small.so | reloc-extract -o table
}

# Nothing is left in the folder but what is named.
only() { [ "$(ls -A out 2>/dev/null)" = "${1:-}" ]; }

@test "no table, no such table, two tables, no folder" {
	refused 2 "-o DIR is missing" so-gen "$T/table"
	refused 2 "one table at a time" so-gen -o out "$T/table" "$T/table"
	refused 2 usage so-gen --nonsense
	refused 1 "so-gen: nothing: cannot open: No such file or directory" so-gen -o out nothing
	refused 1 "so-gen: standard input: byte 0: empty" so-gen -o out </dev/null
	only
}

@test "a table cut at any byte" {
	size=$(stat -c %s "$T/table")
	for n in $(seq 0 31 $((size - 1))); do
		head -c "$n" "$T/table" >cut
		refused 1 "so-gen: cut: byte " so-gen -o out cut
		only
	done
}

@test "another kind, another version, not CBOR" {
	so-input --only '*small.so' "$T/small.so" >list
	refused 1 "so-gen: list: byte " so-gen -o out list
	"$PYTHON" -c 'import cbor2, sys; sys.stdout.buffer.write(cbor2.dumps(["relocations", 9]))' >version
	refused 1 "so-gen: version: byte " so-gen -o out version
	refused 1 "so-gen: $T/small.so: byte 0" so-gen -o out "$T/small.so"
	echo text >text
	refused 1 "so-gen: text: byte " so-gen -o out text
	only
}

@test "the object changed since, or is gone" {
	cp "$T/small.so" a.so
	so-input --only '*a.so' a.so | reloc-extract -o table
	printf x | dd of=a.so bs=1 seek=9 conv=notrunc status=none
	refused 1 "$PWD/a.so: changed since the list was made" so-gen -o out table
	rm a.so
	refused 1 "$PWD/a.so: No such file or directory" so-gen -o out table
	only
}

@test "one bad object costs that one" {
	cp "$T/small.so" a.so
	so-input --only '*a.so' a.so | reloc-extract -o one
	rm a.so
	cat one "$T/table" >both
	refused 1 "a.so: No such file" so-gen -o out both
	only small.so
}

@test "folders that cannot be written" {
	echo x >file
	refused 1 "so-gen: file: not a directory" so-gen -o file "$T/table"
	[ "$(cat file)" = x ]
	refused 1 "so-gen: file/x: " so-gen -o file/x "$T/table"
	refused 1 "so-gen: /dev/null: not a directory" so-gen -o /dev/null "$T/table"
	[ -c /dev/null ]
	refused 1 "so-gen: nowhere/out: cannot make the directory: No such file or directory" so-gen -o nowhere/out "$T/table"
	refused 1 "small.so: cannot write: " so-gen -o /proc/self "$T/table"
	refused 1 "too long" so-gen -o "/$(printf 'x%.0s' $(seq 2000))" "$T/table" || refused 1 "name" so-gen -o "/$(printf 'x%.0s' $(seq 2000))" "$T/table"
	if [ "$(id -u)" = 0 ]; then
		run setpriv --reuid 65534 --clear-groups "$(command -v so-gen)" -o / "$T/table"
	else
		run so-gen -o / "$T/table"
	fi
	echo "$output"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "a full folder: a message, nothing half-written" {
	mkdir out
	mount -t tmpfs -o size=24k none out 2>/dev/null || skip "cannot mount a small tmpfs here"
	run so-gen -o out "$T/table"
	left=$(ls -A out)
	umount out
	echo "$output"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"small.so: cannot write the profiled object: No space left on device" ]]
	[ -z "$left" ]
}

@test "an object of that name is replaced as a whole, its mode follows the umask" {
	mkdir out
	echo old >out/small.so
	exec 7<out/small.so
	(umask 027; so-gen -o out "$T/table")
	[ "$(cat <&7)" = old ]
	[ "$(stat -c %a out/small.so)" = 750 ]
	only small.so
}

@test "the same input gives the same object" {
	so-gen -o out "$T/table"
	cp out/small.so first
	so-gen -o out - <"$T/table"
	cmp first out/small.so
}

# rows COMMAND: the table with its rows changed by Python code that sees "rows" and "info"
rows() {
	"$PYTHON" - "$T/table" "$1" <<-'END'
	import cbor2, sys
	f = open(sys.argv[1], "rb")
	head, info, rows = cbor2.load(f), cbor2.load(f), []
	while (item := cbor2.load(f))[0] != -1:
	    rows.append(item)
	exec(sys.argv[2])
	with open("changed", "wb") as out:
	    for item in [head, info, *rows, [-1, len(rows)]]:
	        cbor2.dump(item, out, canonical=True)
	END
}

@test "names that lead elsewhere" {
	for name in .. . / '' a/.. ../../x; do
		rows "info['name'] = '$name'"
		run so-gen -o deep/out changed
		run so-gen -o out changed
		[[ $output != *Sanitizer* && $output != *"runtime error"* ]]
		echo "$name: $status $output: $(ls -A out)"
		[ ! -e x ] && [ ! -e ../x ]
	done
}

# survives: whatever the rows were, the object loads and does what it did, or was refused in one line
survives() {
	run so-gen -q -o out changed
	echo "$output"
	[[ $output != *Sanitizer* && $output != *"runtime error"* ]] || return 1
	[ "$status" -eq 0 ] || [ "${#lines[@]}" -eq 1 ] || return 1
}

@test "hostile rows: no crash" {
	rows "rows += [[3, r[1] + 1, r[2], r[3]] for r in rows if r[0] == 3]"; survives	# overlapping ranges
	rows "rows += [[3, 0, 0xffffffff, {'kind': 'fde'}]]"; survives
	rows "rows = [[3, r[1], r[2] * 2, r[3]] if r[0] == 3 else r for r in rows]"; survives
	rows "rows = [[3, r[1], r[2] - 1, r[3]] if r[0] == 3 else r for r in rows]"; survives
	rows "rows += [[0, r[1] + 1, 0] for r in rows if r[0] == 3]"; survives			# entries within an instruction
	rows "rows += [[0, a, 0] for a in range(0x1000, 0x1400)]"; survives
	rows "rows = [[4, r[1], r[2], dict(r[3], count=0xffffffff)] if r[0] == 4 else r for r in rows]"; survives
	rows "rows = [[4, r[1], r[2], dict(r[3], base=0xffffff00)] if r[0] == 4 else r for r in rows]"; survives
	rows "rows = [[4, r[1], 0xfffffff0, dict(r[3], count=1000000, base=4)] if r[0] == 4 else r for r in rows]"; survives
	for w in 1 2 3 8 255; do
		rows "rows = [[4, r[1], r[2], dict(r[3], width=$w)] if r[0] == 4 else r for r in rows]"; survives
	done
	rows "rows = [[r[0], r[1], r[2] ^ 1, *r[3:]] if r[0] in (1, 2, 5, 6, 9) else r for r in rows]"; survives
	rows "rows = [[r[0], r[1] ^ 1, *r[2:]] if r[0] in (1, 2, 5, 6, 9) else r for r in rows]"; survives
	rows "rows = rows[::-1]"; survives
	rows "rows += rows"; survives
	rows "rows += [[t, 2 ** 63, 5] for t in range(10)] + [[t, 5, -2 ** 63] for t in range(10)] + [[77, 1, 1]]"; survives
}

@test "rows in another order, twice, with unknown ones: the same object" {
	so-gen -o expected "$T/table"
	rows "rows += [[77, 1, 1]]"
	so-gen -o out changed
	cmp out/small.so expected/small.so || [ "$(stat -c %s out/small.so)" = "$(stat -c %s expected/small.so)" ]
}

@test "fuzz: any rows for a sound object" {
	command -v clang-14 >/dev/null || skip "no clang-14"
	(cd "$REPO" && nice clang-14 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Dmmap=fuzz_map -Dmunmap=fuzz_unmap -Dmadvise=fuzz_no_advice -I. \
		-D_GNU_SOURCE -g -O1 -o "$BATS_TEST_TMPDIR/rows" test/fuzz/rows.c test/fuzz/quiet.c lib/base/{mem,json,progress,opt,out}.c formats/*.c \
		$(ls lib/elf/*.c lib/code/*.c lib/machine/*.c lib/machine/*/*.c tools/so-gen/*.c tools/reloc-extract/*.c |
			grep -v -e tools/so-gen/so-gen.c -e tools/reloc-extract/reloc-extract.c -e lib/elf/lines.c) -lelf -lcbor -lxxhash -lZydis)
	mkdir seeds
	export FUZZ_OBJECT=$T/small.so
	FUZZ_SEED=seeds/own ./rows -runs=0 2>/dev/null
	nice ./rows -seed=1 -max_len=4096 -max_total_time="${FUZZ_SECONDS:-5}" -verbosity=0 seeds >log 2>&1 || { tail -n 40 log; false; }
}

@test "a program that may read data from its own file is refused, a library is not" {
	printf 'int main(void) { return 0; }\n' >own.c
	gcc -O1 -g -o plain own.c
	gcc -O1 -fPIC -shared -o libplain.so own.c
	echo "data of the program" >data
	for file in plain libplain.so; do
		cp $file appended-$file
		cat data >>appended-$file
		objcopy --add-section .mine=data $file section-$file
		cp $file zeros-$file
		truncate -s +100 zeros-$file
	done
	for file in plain zeros-plain libplain.so appended-libplain.so section-libplain.so; do
		so-input --with-app --only "*$file" ./$file | reloc-extract | so-gen -q -o out 2>said
		[ -e out/$file ]
	done
	so-input --with-app --only "*plain" ./appended-plain ./section-plain | reloc-extract -o table
	run so-gen -o out table
	[ "$status" -eq 1 ]
	[[ "$output" == *"appended-plain: "*"its own file: 20 bytes behind its end"* ]]	# wc -c data
	[[ "$output" == *"section-plain: "*"its own file: section .mine"* ]]
	[ ! -e out/appended-plain ] && [ ! -e out/section-plain ]
}
