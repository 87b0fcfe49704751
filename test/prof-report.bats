#!/usr/bin/env bats
# prof-report: profile streams written by hand (fabricate.py) over test/input/report.s; every number here was worked out on paper:
#   sum          entered 3 times: 4 instructions x 3, loop 3 x 7, end 1 x 3                           36
#   guarded      entered 10 times: 2 x 10, 2 x 8, cold part 2 x 2                                     40
#   unit::scale  entered 5 times, 2 instructions                                                      10
#   nameless     once, 2 instructions                                                                  2
#   never, bare  not at all                                                                   in all  88
load common
bats_require_minimum_version 1.5.0

fabricate() { "$PYTHON" "$REPO/test/fabricate.py" "$@"; }

library() { ${CC:-gcc} -shared -nostdlib -Wl,--build-id -o "${1:-libreport.so}" "$REPO/test/input/report.s" "${@:2}"; }

# profile LIBRARY FILE KEY=VALUE...
profile() {
	fabricate profile "$1" "$2" block=guarded.cold-cold_end:2 block=sum-sum_loop:3 block=sum_loop-sum_out:7 block=sum_out-sum_end:3 \
		block=never-never_end:0 block=guarded-guarded_double:10 block=guarded_double-guarded_end:8 block=_ZN4unit5scaleEi-scale_end:5 \
		block=nameless-nameless_end:1 block=bare-bare_end:0 old=sum:2 "stays=stays-stays_end:an indirect jump" "${@:3}"
}

one() { library && profile libreport.so p; }

# json EXPRESSION: of the object r that prof-report --json wrote on standard input
json() { "$PYTHON" -c 'import json, sys; r = json.load(sys.stdin); v = eval(sys.argv[1]); print(v if isinstance(v, str) else json.dumps(v))' "$1"; }
table() { json "[[row[k] for k in '$2'.split()] for row in r['$1']]"; }
is() { [ "$1" = "$2" ] || { printf 'got:    %s\nwanted: %s\n' "$1" "$2"; return 1; }; }

fails_with() {
	run --separate-stderr "${@:2}"
	[ "$status" -eq 1 ] || { echo "status $status: $stderr"; return 1; }
	[[ $stderr == *"$1"* ]] || { echo "said: $stderr"; return 1; }
	[[ $stderr != *runtime\ error* && $stderr != *Sanitizer* ]] || { echo "$stderr"; return 1; }
}

@test "prof-report: the text of a whole report" {
	one
	a() { nm libreport.so | awk -v s="$1" '$3 == s { sub(/^0*/, "", $1); print $1 }'; }
	prof-report p > text
	cat > wanted <<-END
		objects                                1
		instructions executed                 88
		blocks executed                       39 times
		blocks reached                         8 of 10  (80.00 %)
		code reached                          41 of 47 bytes  (87.23 %)
		code not counted                       2 of 49 bytes  (4.08 %)

		Objects (not counted: bytes of code)

		  instructions       %  blocks run  of  % run  not counted  processes  object
		            88  100.00           8  10  87.23            2          1  libreport.so

		Functions, by executed instructions

		  instructions      %  entered   % run  object        function
		            40  45.45       10  100.00  libreport.so  guarded
		            36  40.91        3  100.00  libreport.so  sum
		            10  11.36        5  100.00  libreport.so  unit::scale(int)
		             2   2.27        1  100.00  libreport.so  sub_$(a nameless)

		Entered by the old address (counted all the same)

		  times  address  object        function
		      2     $(a sum)  libreport.so  sum

		Not counted (%: of the object's code; --not-counted names each range)

		  bytes     %  ranges  object        why
		      2  4.08       1  libreport.so  an indirect jump
	END
	diff -u wanted text
}

@test "prof-report: functions as JSON" {
	one
	prof-report --json p > j
	is "$(json 'r["summary"]' < j)" \
		'{"objects": 1, "instructions": 88, "executions": 39, "blocks_run": 8, "bytes_run": 41, "bytes_not_counted": 2, "blocks": 10, "bytes": 47}'
	is "$(table functions 'symbol instructions entered blocks_run blocks' < j | sed 's/sub_[0-9a-f]*/sub/')" \
		'[["guarded", 40, 10, 3, 3], ["sum", 36, 3, 3, 3], ["_ZN4unit5scaleEi", 10, 5, 1, 1], ["sub", 2, 1, 1, 1]]'
	is "$(table functions 'percent' < j)" '[[45.4545], [40.9091], [11.3636], [2.2727]]'
	is "$(table not_counted 'bytes ranges why' < j)" '[[2, 1, "an indirect jump"]]'
	is "$(table old_entries 'count function' < j)" '[[2, "sum"]]'
}

@test "prof-report: rows and patterns" {
	one
	is "$(prof-report --json -n 2 p | table functions function)" '[["guarded"], ["sum"]]'
	is "$(prof-report -n 1 p | grep -c 'and 3 more (-n 0 shows all)')" 1
	is "$(prof-report --json --function 's*' p | table functions function | sed 's/sub_[0-9a-f]*/sub/')" '[["sum"], ["sub"]]'
	is "$(prof-report --json --function 'unit::*' p | table functions function)" '[["unit::scale(int)"]]'
	is "$(prof-report --json --function '_ZN4*' p | table functions function)" '[["unit::scale(int)"]]'
	is "$(prof-report --json --object 'libz*' p | table functions function)" '[]'
	is "$(prof-report --json --object '*/libreport.so' p | table functions instructions)" '[[40], [36], [10], [2]]'
	run prof-report -n many p
	[ "$status" -eq 2 ]
}

@test "prof-report: source lines" {
	one
	# Line 5 begins a statement in the block of 3 and in the one of 7; its instructions: test and je 3 times, jne 7 times.
	is "$(prof-report --json --lines p | table lines 'line count instructions')" \
		'[[17, 10, 20], [19, 8, 16], [6, 7, 14], [5, 7, 13], [7, 5, 10], [18, 2, 4], [3, 3, 3], [4, 3, 3], [7, 3, 3], [9, 1, 2]]'
	is "$(prof-report --json --lines --function sum p | table lines 'file line function')" \
		'[["/src/report.c", 6, "sum"], ["/src/report.c", 5, "sum"], ["/src/report.c", 3, "sum"], ["/src/report.c", 4, "sum"], ["/src/report.c", 7, "sum"]]'
	prof-report --lines p | grep -q '^ *14  15.91 *7  libreport.so  sum  */src/report.c:6$'
}

@test "prof-report: an empty row at a function's end does not reach over other functions" {
	end='.section .note.GNU-stack,"",@progbits'
	printf '.file 1 "/src/a.c"\n.text\n.globl f\n.type f,@function\nf: .loc 1 1\n nop\n ret\n.loc 1 99 view .Lview\n.size f,.-f
		.section zz,"ax",@progbits\n.globl h\n.type h,@function\nh: .loc 1 3\n ret\n.size h,.-h\n%s\n' "$end" > a.s
	printf '.file 1 "/src/b.c"\n.text\n.globl g\n.type g,@function\ng: .loc 1 7\n nop\n ret\n.size g,.-g\n%s\n' "$end" > b.s
	${CC:-gcc} -shared -nostdlib -Wl,--build-id -o libend.so a.s b.s
	readelf --debug-dump=decodedline libend.so | grep -q ' 99 '
	fabricate profile libend.so p $(nm libend.so | awk '$3 ~ /^[fgh]$/ { print "row=0:0x" $1 ":" ($3 == "h" ? 1 : 2) ":5" }')
	is "$(prof-report --json --lines p | table lines 'file line count instructions')" \
		'[["/src/a.c", 1, 5, 10], ["/src/b.c", 7, 5, 10], ["/src/a.c", 3, 5, 5]]'
}

@test "prof-report: annotated source" {
	one
	(cd "$REPO/test/input" && prof-report -i report.c "$BATS_TEST_TMPDIR/p") > text
	grep -qE '^ +14 +15\.91 +7 +6 +total \+= n--;$' text
	grep -qE '^ +13 +14\.77 +7 +5 +while \(n\)$' text
	grep -qE '^ +##### +12 +return n \+ 1;$' text
	grep -qE '^ +- +8 +}$' text
	is "$(grep -c . "$REPO/test/input/report.c")" 18
	(cd "$REPO/test/input" && prof-report --json -i ./report.c "$BATS_TEST_TMPDIR/p") > j
	is "$(json '[[l["line"], l["count"]] for l in r["annotated"][0]["lines"] if l["count"] is not None]' < j)" \
		'[[3, 3], [4, 3], [5, 7], [6, 7], [7, 3], [11, 0], [12, 0], [17, 10], [18, 2], [19, 8]]'
	is "$(json 'r["annotated"][0]["file"]' < j)" /src/report.c
	# Code that is not counted is neither executed nor never executed.
	fabricate profile libreport.so q block=never-never_end:0 stays=sum-sum_loop:why
	(cd "$REPO/test/input" && prof-report -i report.c "$BATS_TEST_TMPDIR/q") > text
	is "$(awk '$1 == "?" { print $2 }' text | paste -sd ' ')" '3 4 5'
	is "$(awk '$1 == "#####" { print $2 }' text | paste -sd ' ')" '11 12'
	is "$(prof-report --json --never q | table coverage 'lines_run lines')" '[[0, 2]]'
	# Only the object's path is there, not the text.
	run --separate-stderr prof-report -i src/scale.cc p
	[ "$status" -eq 0 ]
	[[ $stderr == *'src/scale.cc: no source text: counts only'* ]]
	[[ $output == *'10  11.36      5     7'* ]]
	fails_with 'nothing.c: no object has debug information about this file' prof-report -i nothing.c p
	fails_with 'eport.c: no object has' prof-report -i eport.c p
}

@test "prof-report: what never ran" {
	one
	prof-report --never --json p > j
	is "$(table coverage 'functions_run functions functions_percent lines_run lines blocks_run blocks bytes_percent' < j)" \
		'[[4, 5, 80, 10, 12, 8, 10, 87.234]]'
	is "$(table never_functions 'function bytes blocks' < j)" '[["never", 5, 1]]'
	is "$(prof-report --never --lines --json p | table never_lines 'file first last function count')" '[["/src/report.c", 11, 12, "never", 2]]'
	is "$(prof-report --never --blocks --json p | table never_blocks 'size place' | sed 's/+0x[0-9a-f]*/+N/')" '[[5, "never"], [1, "[.text]+N"]]'
	prof-report --never --lines p | grep -q '/src/report.c:11-12$'
}

@test "prof-report: reasons of one kind are one row" {
	library
	fabricate profile libreport.so p "stays=sum-sum_loop:an indirect jump at 0x1234" "stays=never-never_end:an indirect jump at 0xff: a value at 0x10 of others" \
		"stays=sum_out-sum_end:an indirect jump at 0xfg" "stays=bare-bare_end:an indirect jump"
	is "$(prof-report --json p | table not_counted 'bytes ranges why')" '[[11, 2, "an indirect jump"], [5, 1, "an indirect jump: a value of others"], [1, 1, "an indirect jump at 0xfg"]]'
	is "$(prof-report --json --not-counted p | table not_counted_ranges 'size name why')" \
		'[[10, "sum", "an indirect jump at 0x1234"], [5, "never", "an indirect jump at 0xff: a value at 0x10 of others"], [1, "sum+0x10", "an indirect jump at 0xfg"], [1, "[.text]+0x2e", "an indirect jump"]]'
}

@test "prof-report: blocks" {
	one
	is "$(prof-report --json --blocks p | table blocks 'instructions count length size place line' | sed 's/sub_[0-9a-f]*/sub/')" \
		'[[21, 7, 3, 6, "sum+0xa", "/src/report.c:6"], [20, 10, 2, 8, "guarded", "/src/report.c:17"], [16, 8, 2, 4, "guarded+0x8", "/src/report.c:19"], [12, 3, 4, 10, "sum", "/src/report.c:3"], [10, 5, 2, 4, "unit::scale(int)", "/src/scale.cc:7"], [4, 2, 2, 6, "guarded.cold", "/src/report.c:18"], [3, 3, 1, 1, "sum+0x10", "/src/report.c:7"], [2, 1, 2, 2, "sub", "/src/scale.cc:9"]]'
}

@test "prof-report: disassembly, against objdump's addresses and lengths" {
	one
	prof-report --instructions --function guarded --json p > j
	is "$(json '[i["count"] for i in r["disassembly"][0]["instructions"]]' < j)" '[10, 10, 8, 8, 2, 2]'
	addresses() { objdump -d --no-show-raw-insn libreport.so | awk -v f="<$1>:" '/>:$/ { on = $2 == f } on && /^ / { sub(":", "", $1); print $1 }'; }
	is "$(json '" ".join(i["address"][2:] for i in r["disassembly"][0]["instructions"])' < j)" \
		"$({ addresses guarded; addresses guarded_double; addresses guarded.cold; } | paste -sd ' ')"
	prof-report -d --function guarded p | grep -qE '^ +10 +[0-9a-f]+ +js 0x[0-9a-f]+ <guarded.cold>$'
}

@test "prof-report: runs are summed by build-id" {
	one
	profile libreport.so q processes=4
	cat p q > both
	prof-report --json both > a
	prof-report --json p q > b
	prof-report --json - q < p > c
	cmp a b
	cmp a c
	is "$(json 'r["summary"]["instructions"], r["summary"]["objects"], r["objects"][0]["processes"]' < a)" '[176, 1, 5]'
	is "$(table old_entries 'count' < a)" '[[4]]'
	is "$(table not_counted 'bytes ranges' < a)" '[[2, 1]]'
	# A run with other blocks: the union.
	fabricate profile libreport.so r block=sum-sum_loop:1 block=stays-stays_end:9
	is "$(prof-report --json p r | json 'r["summary"]["blocks"], r["summary"]["instructions"]')" '[11, 101]'
}

@test "prof-report: objects with other build-ids stay apart" {
	one
	library libother.so -Wl,--build-id=0x77
	profile libother.so q
	is "$(prof-report --json p q | table objects 'object instructions percent')" '[["libreport.so", 88, 50], ["libother.so", 88, 50]]'
	is "$(prof-report --json -n 1 --object libother.so p q | table functions 'object instructions percent')" '[["libother.so", 40, 22.7273]]'
}

@test "prof-report: sums stay at the largest number" {
	library
	fabricate profile libreport.so p block=sum-sum_loop:18446744073709551615 block=sum_out-sum_end:18446744073709551615
	is "$(prof-report --json p p | table functions 'instructions entered')" '[[18446744073709551615, 18446744073709551615]]'
}

@test "prof-report: debug information in a separate file" {
	library
	wanted='[[17, 10], [19, 8], [6, 7], [5, 7], [7, 5], [18, 2], [3, 3], [4, 3], [7, 3], [9, 1]]'
	objcopy --only-keep-debug libreport.so libreport.debug
	strip -o stripped.so libreport.so
	# by .gnu_debuglink
	objcopy --add-gnu-debuglink=libreport.debug stripped.so linked.so
	profile libreport.so whole
	"$PYTHON" - <<-END
		import cbor2, sys
		sys.path.insert(0, "$REPO/test")
		import fabricate
		items = []
		with open("whole", "rb") as f:
		    for i in range(15):
		        items.append(cbor2.load(f))
		for name in "stripped.so", "linked.so":
		    items[1].update(fabricate.Original(name).info())
		    open(name + ".p", "wb").write(fabricate.items(*items))
	END
	is "$(prof-report --json --lines linked.so.p | table lines 'line count')" "$wanted"
	is "$(prof-report --json linked.so.p | table functions function | sed 's/sub_[0-9a-f]*/sub/')" '[["guarded"], ["sum"], ["unit::scale(int)"], ["sub"]]'
	# without it: dynamic symbols, the cold part is nobody's
	is "$(prof-report --json stripped.so.p | table functions 'function instructions' | sed 's/sub_[0-9a-f]*/sub/g')" \
		'[["guarded", 36], ["sum", 36], ["unit::scale(int)", 10], ["sub", 4], ["sub", 2]]'
	run --separate-stderr prof-report --lines stripped.so.p
	[[ $stderr == *'stripped.so: no debug information: no source lines' ]]
}

@test "prof-report: names from .gnu_debugdata" {
	library
	objcopy --only-keep-debug -R .debug_line -R .debug_info -R .debug_abbrev -R .debug_str -R .debug_line_str -R .debug_aranges libreport.so mini
	xz -f mini
	strip -o stripped.so libreport.so
	objcopy --add-section .gnu_debugdata=mini.xz stripped.so libreport.so
	library symbols.so
	cmp <(nm symbols.so | cut -c1-16) <(nm symbols.so | cut -c1-16)
	"$PYTHON" - <<-END
		import sys
		sys.path.insert(0, "$REPO/test")
		import fabricate
		at = fabricate.Original("symbols.so").address
		o = fabricate.Original("libreport.so")
		open("p", "wb").write(fabricate.listed("profile", o.info(), [[0, at("guarded.cold"), 6, 2], [0, at("guarded"), 8, 10]]))
	END
	is "$(prof-report --json p | table functions 'function instructions')" '[["guarded", 24]]'
}

@test "prof-report: each line of unoptimised code has gcov's count" {
	export LANG=C
	cp "$REPO/test/input/gcov-work.c" work.c
	echo 'int work(int n); int main(void) { return (work(3) + work(40) + work(7)) & 63; }' > main.c
	${CC:-gcc} -g -O0 -shared -fPIC -o libwork.so work.c
	${CC:-gcc} -o main main.c -L. -lwork
	mkdir out gcov
	LD_LIBRARY_PATH=$PWD so-input main --only 'libwork*' | reloc-extract | so-gen -o out
	run env LD_LIBRARY_PATH=out ./main
	count-extract out > p
	cd gcov
	gcc -O0 --coverage ../main.c ../work.c -o main
	first=$status
	run ./main
	[ "$status" -eq "$first" ]
	gcov main-work.gcda > /dev/null
	cd ..
	awk -F: '$2 > 0 && $1 !~ /-$/ { gsub(/[ *]/, "", $1); print $2 + 0, $1 ~ /[#=]/ ? 0 : $1 }' gcov/work.c.gcov | sort > theirs
	prof-report --json -i work.c p | json '"\n".join("%d %d" % (l["line"], l["count"]) for l in r["annotated"][0]["lines"] if l["count"] is not None)' | sort > ours
	# Both know the line (gcov counts a function at its name, debug information at its brace).
	join theirs <(cut -d' ' -f1 ours) > both
	[ "$(wc -l < both)" -ge 23 ]
	diff both <(join ours <(cut -d' ' -f1 theirs))
	prof-report --format lcov p > info
	is "$(grep -c '^SF:.*work\.c$' info)" 1
	sed -n 's/^DA:\([0-9]*\),/\1 /p' info | sort | diff - ours
	is "$(sed -n 's/^FNDA:3,//p' info)" work
	is "$(sed -n 's/^LF://p' info)" "$(wc -l < ours)"
}

@test "prof-report: callgrind_annotate reads it and finds the same functions and lines" {
	cp "$REPO/test/input/gcov-work.c" work.c
	echo 'int work(int n); int main(void) { return (work(3) + work(40) + work(7)) & 63; }' > main.c
	gcc -g -O1 -shared -fPIC -o libwork.so work.c
	gcc -o main main.c -L. -lwork
	LD_LIBRARY_PATH=$PWD so-input main --only 'libwork*' | reloc-extract | so-gen -o out
	LD_LIBRARY_PATH=out ./main || :
	count-extract out > p
	prof-report --format callgrind -o cg p
	callgrind_annotate --threshold=100 cg > theirs
	total=$(prof-report --json p | json 'r["summary"]["instructions"]')
	is "$(sed -n 's/ .*PROGRAM TOTALS//p' theirs | tr -d ,)" "$total"
	prof-report --json p | json '"\n".join("%s %d" % (f["function"], f["instructions"]) for f in r["functions"])' | sort > functions
	sed -nE 's/^ *([0-9,]+) .*:([^: ]+) \[.*libwork\.so\]$/\2 \1/p' theirs | tr -d , | sort | diff - functions
	is "$(grep -c ^fn= cg)" "$(grep -c . functions)"
	# The hottest line, as prof-report -l has it.
	line=$(prof-report --json -l -n 1 p | json '"%d %d" % (r["lines"][0]["instructions"], r["lines"][0]["line"])')
	awk 'f && NF == 3 { n[$2] += $3 } /^fn=/ { f = 1 } END { for (l in n) print n[l], l }' cg | sort -rn | head -1 | grep -qx "$line"
	is "$(prof-report --format folded p | sort)" "$(sed 's/^/libwork.so;/' functions)"
	is "$(prof-report --format folded --function work p | cut -d' ' -f1)" "libwork.so;work"
	run prof-report --format callgrind --json p
	[ "$status" -eq 2 ]
}

@test "prof-report: a missing or changed original" {
	one
	mv libreport.so elsewhere
	run --separate-stderr prof-report p
	[ "$status" -eq 0 ]
	[[ $stderr == *"$PWD/libreport.so: No such file or directory: addresses only" ]]
	grep -qE '^ +\? +\? +8  10  87\.23 +2 +1  libreport\.so$' <<< "$output"
	[[ $output == *'the original: No such file or directory: addresses only (--blocks)'* ]]
	is "$(prof-report -q --json --blocks -n 2 p | table blocks 'count instructions place' )" '[[10, null, null], [8, null, null]]'
	cp elsewhere libreport.so
	echo >> libreport.so
	is "$(prof-report -q --json p | json 'r["objects"][0]["fault"]')" 'stale: it has changed since it was profiled'
	echo text > libreport.so
	is "$(prof-report -q --json p | json 'r["objects"][0]["executions"]')" 39
}

@test "prof-report: notes are shown once" {
	library
	profile libreport.so p 'note=forked: counts may be inexact'
	is "$(prof-report p p | grep -c 'libreport.so: forked: counts may be inexact$')" 1
}

@test "prof-report: rows of kinds to come" {
	library
	profile libreport.so p row=60:1:2:3 row=61:1:2:3
	prof-report p | grep -q '^2 rows of a kind that this version does not know are left out$'
	is "$(prof-report --json p | json 'r["summary"]["instructions"]')" 88
}

@test "prof-report: names that would move the cursor" {
	library
	profile libreport.so p $'name=lib\e[2Jx.so'
	prof-report p | grep -q 'lib?\[2Jx.so'
	! prof-report p | grep -q $'\e'
	profile libreport.so p $'note=a\e[2Jnote'
	prof-report p | grep -q 'a?\[2Jnote$'
}

@test "prof-report: mangled names that stand for endless ones stay mangled" {
	# Each argument is a pair of the one before it: 40 of them are 2^40 ints.
	name=$("$PYTHON" -c '
digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
seq = lambda n: digits[n // 36] * (n > 35) + digits[n % 36]
print("_Z1fSt4pairIiiE" + "".join("St4pairIS%s_S%s_E" % (seq(2 * i), seq(2 * i)) for i in range(40)))')
	printf '.text\n.globl %s\n.type %s, @function\n%s: nop\n.size %s, .-%s\n.section .note.GNU-stack,"",@progbits\n' $name $name $name $name $name > f.s
	${CC:-gcc} -shared -nostdlib -Wl,--build-id -o f.so f.s
	fabricate profile f.so p row=0:0x$(nm f.so | awk '/_Z1f/ { print $1 }'):1:3
	is "$(timeout 20 prof-report --json p | table functions function)" "[[\"$name\"]]"
}

@test "prof-report: two static functions of one name, their cold parts and aliases" {
	for i in 1 2; do
		printf '.file "%s.c"\n.text\n.type f, @function\nf: nop\n ret\n.size f, .-f\n.globl only%s\n.type only%s, @function\nonly%s: nop\n ret\n.size only%s, .-only%s
			.section .text.unlikely,"ax",@progbits\n.type f.cold, @function\nf.cold: nop\n nop\n ret\n.size f.cold, .-f.cold
			.type only%s.cold, @function\nonly%s.cold: ret\n.size only%s.cold, .-only%s.cold\n.section .note.GNU-stack,"",@progbits\n' \
			$i $i $i $i $i $i $i $i $i $i > $i.s
		${CC:-gcc} -c $i.s
	done
	${CC:-gcc} -shared -nostdlib -Wl,--build-id -o libtwo.so 1.o 2.o
	rows=$(nm -n libtwo.so | awk 'function n(h) { return "0x" h } $3 == "f" { print "row=0:" n($1) ":2:" ++f } $3 == "f.cold" { print "row=0:" n($1) ":3:" 10 * ++c }
		$3 ~ /^only.$/ { print "row=0:" n($1) ":2:100" } $3 ~ /^only.\.cold$/ { print "row=0:" n($1) ":1:7" }')
	fabricate profile libtwo.so p $rows
	# f of 1.c: 2 x 1 + 3 x 10, of 2.c: 2 x 2 + 3 x 20; only1 and only2: 2 x 100 + 7
	is "$(prof-report --json p | table functions 'function instructions entered')" \
		'[["only1", 207, 100], ["only2", 207, 100], ["f", 64, 2], ["f", 32, 1]]'
}

@test "prof-report: streams cut at any byte" {
	one
	cat p p > two
	size=$(stat -c %s p)
	for ((n = 1; n < size; n += 1 + n / 40)); do
		[ $n -ne 10 ] || continue		# behind the header: an empty stream
		head -c $n p > cut
		fails_with 'cut: byte ' prof-report cut
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	# What was whole is reported.
	head -c $((size + size / 2)) two > cut
	fails_with 'cut: byte ' prof-report --json cut
	is "$(json 'r["summary"]["instructions"]' <<< "$output")" 88
}

@test "prof-report: streams that lie" {
	library
	lie() { fabricate profile libreport.so p "$1"; fails_with "$2" prof-report p; }
	lie row=0:0x1000:0:1 'a block of 0 bytes'
	lie row=0:0x1000:-5:1 'a block of -5 bytes'
	lie row=0:0x1000:1048576:1 'a block of 1048576 bytes'
	lie row=0:0xffffffffffffffff:16:1 'a block of 16 bytes at 0xffffffffffffffff'
	lie row=2:0xffffffffffffffff:16:0 'a range of 16 bytes at 0xffffffffffffffff'
	# Addresses that are not in the file, and overlapping blocks, are no crash.
	fabricate profile libreport.so p row=0:0xffffffffffe00000:16:5 row=0:0:16:5 row=0:0x1000:500000:3 row=0:0x1000:6:2 row=0:0x1001:5:2
	prof-report p > text
	prof-report --lines --blocks --instructions --never p > text
	printf 'text' > p
	fails_with 'p: byte 0: ' prof-report p
	printf '\x82\x67profile\x02' > p
	fails_with 'version 2 of "profile"' prof-report p
	printf '\x82\x67so-list\x01' > p
	fails_with 'a "so-list" stream where "profile" is wanted' prof-report p
	fails_with 'nowhere: cannot open: No such file' prof-report nowhere
	: > p
	fails_with 'p: byte 0: empty' prof-report p
	printf '\x82\x67profile\x01' > p
	prof-report p | grep -q '^objects  *0$'
}

@test "prof-report: outputs" {
	one
	prof-report -o text p
	cmp text <(prof-report p)
	fails_with cannot prof-report -o nowhere/text p
	fails_with cannot prof-report -o /dev/full p
	[ -c /dev/full ]
	prof-report --json --lines --blocks --instructions --never --not-counted p | json 'sorted(r)' | grep -q never_lines
	prof-report p | head -n 1
}
