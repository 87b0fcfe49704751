#!/usr/bin/env bats
# trace-run and prof-report's tables of its profiles.  Bounds on numbers of samples are at least four standard errors wide.
load common
bats_require_minimum_version 1.5.0

LUA=$REPO/test/input/lua
traces() { "$PYTHON" "$REPO/test/traces.py" "$@"; }
# json EXPRESSION: of the first run r that prof-report --json wrote on standard input
json() { "$PYTHON" -c 'import json, sys; r = json.load(sys.stdin)["runs"][0]; v = eval(sys.argv[1]); print(v if isinstance(v, str) else json.dumps(v))' "$1"; }
is() { [ "$1" = "$2" ] || { printf 'got:    %s\nwanted: %s\n' "$1" "$2"; return 1; }; }
holds() { "$PYTHON" -c 'import sys; sys.exit(not eval(sys.argv[1]))' "$1" || { echo "does not hold: $1"; return 1; }; }
# The messages of two programs differ in the address of their C code.
no_addresses() { sed 's/at 0x[0-9a-f]*/at 0x/'; }

# same WORD...: trace-run does what luajit does; options for trace-run alone in $options; the input of both in the file input
same() {
	[ -f input ] || : > input
	luajit "$@" < input > out1 2> err1 && status1=0 || status1=$?
	trace-run -o t $options "$@" < input > out2 2> err2 && status2=0 || status2=$?
	cmp out1 out2
	is "$(no_addresses < err2)" "$(no_addresses < err1)"
	is "$status2" "$status1"
}

# Some tests need more samples than the CPU timer gives, or the clock that does not tick in the kernel.
needs_perf() {
	trace-run -o probe "$LUA/threshold.lua" 1 > out
	[ "$(prof-report --json probe | json 'r["sampler"]')" = perf ] || skip "perf_event_open is refused"
}

source_is() { cat > s.lua; }

@test "trace-run: arguments, standard input, status" {
	source_is <<-'END'
		print(arg[0], #arg, ...)
		for i = 0, #arg do io.write(arg[i], ";") end
		for l in io.lines() do print(#l, l) end
		io.stderr:write("to the other\n")
	END
	printf 'one\ntwo words\n' > input
	same s.lua
	same s.lua a "b c" -F -- "" '*' -o x
	same -- s.lua -x
	cp s.lua ./-x.lua
	same -- -x.lua y
	is "$(prof-report t --json | json 'r["complete"]')" true
	cat s.lua input > both
	cp s.lua input
	same - a b
	source_is <<< 'print(arg[-1], ...)'
	same s.lua x
	source_is <<< 'os.exit(tonumber(arg[1]) or arg[1] == "true")'
	for code in 0 1 3 255 256 true false; do same s.lua $code; done
	source_is <<< 'coroutine.wrap(function() os.exit(6) end)()'
	same s.lua
	source_is <<< 'os.exit(4, true)'
	same s.lua
	source_is <<< 'local ffi = require("ffi") ffi.cdef("void _exit(int);") print(1) io.flush() ffi.C._exit(9)'
	same s.lua
	source_is <<< 'return 5'
	same s.lua
}

@test "trace-run: errors are told as luajit tells them" {
	source_is <<< 'local function f() error("broken") end local function g() f() end g()'
	same s.lua
	source_is <<< 'error({ code = 2 })'
	same s.lua
	source_is <<< 'error(setmetatable({}, { __tostring = function() return "an object" end }))'
	same s.lua
	source_is <<< 'error()'
	same s.lua
	source_is <<< 'coroutine.wrap(function() local x = nil; return x.y end)()'
	same s.lua
	source_is <<< 'for i = 1, 1000 do local t = i < 900 and {} or nil; t.x = i end'
	same s.lua
	source_is <<< 'jit.off() local ffi = require("ffi") ffi.cdef("int raise(int);") ffi.C.raise(2) while true do end'
	same s.lua
	is "$(prof-report t --json | json 'r["complete"]')" true
	# What the parent does with SIGPIPE is the script's.
	source_is <<< 'for i = 1, 100000 do if not io.write("many words ") then os.exit(3) end end'
	for program in luajit "trace-run -o t"; do
		for trap in 'trap "" PIPE' :; do bash -c "$trap; $program s.lua; echo \$? >&2" 2>> "${program%% *}.status" | head -c 10 > out; done
	done
	is "$(cat trace-run.status)" "$(cat luajit.status)"
	source_is <<< 'x = = 1'
	rm -f t
	same s.lua
	[ ! -e t ]
	same nosuch.lua
	same .
	head -c 3000 /bin/ls > s.lua
	same s.lua
	: > s.lua
	same s.lua
	source_is <<< 'return 1'
	LUA_INIT='print("first", arg[0])' same s.lua
	LUA_INIT='error("early")' same s.lua
	luajit -b "$LUA/threshold.lua" code
	same code 70
	[[ $(traces rows t) == *trace=1* ]]
}

@test "trace-run: luajit's options" {
	source_is <<< 'print(jit.status()) local x = 0 for i = 1, 1000 do x = x + i end print(x)'
	same -O1 s.lua
	same -O+fold,-loop s.lua
	same -O s.lua
	same -Onosuch s.lua
	same -joff s.lua
	[[ $(traces rows t) != *trace=* ]]
	same -j off s.lua
	same -jnosuch s.lua
	options="-F 100 --hotloop 7" same s.lua
	for bad in "" "-F x s.lua" "-F -1 s.lua" "--hotloop 1x s.lua" "--nosuch s.lua" "-F"; do
		run trace-run $bad
		is "$status" 2
	done
	run trace-run --help
	is "$status" 0
}

@test "trace-run: C modules, and LuaJIT's own symbols" {
	source_is <<-'END'
		local lpeg, cjson, lfs = require("lpeg"), require("cjson"), require("lfs")
		local word = lpeg.C(lpeg.R("az") ^ 1)
		local list = lpeg.Ct(word * (lpeg.S(" ,") ^ 1 * word) ^ 0)
		local n = 0
		for i = 1, 30000 do n = n + #list:match("some words, and others " .. ("x "):rep(i % 30) .. "end") end
		local doc = { a = { 1, 2, { b = "c" } }, s = ("long "):rep(40) }
		for i = 1, 30000 do
			local back = cjson.decode(cjson.encode(doc))
			n = n + #back.a + #back.s
		end
		print(n, lfs.attributes(".", "mode"), (cjson.encode({ 1, 2 })))
	END
	options="-F 5000" same s.lua
	prof-report --json t > r
	json '[sorted({p["called"].split("(")[1] for p in r["parts"] if "lpeg" in (p["called"] or "") or "cjson" in (p["called"] or "")})]' < r > objects
	grep -q 'lpeg' objects
	grep -q 'cjson' objects
	holds "$(json '[s["percent"] for s in r["states"] if s["state"] == "unknown"][0]' < r) <= 2"
	[ "$(nm "$BIN/trace-run" | grep -c ' [tT] ')" -gt 1400 ]
	nm "$BIN/trace-run" | grep -q ' lj_BC_TGETS$'
	nm "$BIN/trace-run" | grep -q ' gc_sweep'
	for p in trace-run prof-report; do
		run ldd "$BIN/$p"
		[[ $output != *luajit* ]]
	done
	[ "$(nm "$BIN/prof-report" | grep -c ' lj_')" = 0 ]
}

@test "trace-run: a loop has a trace from the threshold on" {
	for h in 10 56 200 1000; do
		for more in 0 1 2 3; do
			trace-run --hotloop $h -o t "$LUA/threshold.lua" $((h + more)) > out
			is "$(cat out)" "$(luajit "$LUA/threshold.lua" $((h + more)))"
			[[ $(traces rows t) == *trace=* ]] && compiled=yes || compiled=no
			is "$h+$more $compiled" "$h+$more $([ $more -ge 2 ] && echo yes || echo no)"
		done
	done
	is "$(prof-report --json t | json '[[t["kind"], t["link"].split()[0], t["start"].split("/")[-1]] for t in r["traces"]]')" \
		'[["root", "loop", "threshold.lua:4"]]'
}

@test "trace-run: traces and their lines are what LuaJIT's own interface says" {
	trace-run -o t "$LUA/told.lua" > told
	read -r n places <<< "$(traces told t < told)"
	echo "$n traces, $places places"
	[ "$n" -ge 12 ] && [ "$places" -ge 80 ]
	for kind in root side stitched; do grep -q " $kind " told; done
}

@test "trace-run: lines that are never executed have no samples" {
	needs_perf
	trace-run -F 5000 -o t "$LUA/never.lua" > out
	prof-report --json t > r
	json '{l["line"].split(":")[-1]: l["native"] for l in r["lines"] if "never.lua" in l["line"] and l["native"]}' < r > lines
	cat lines
	holds "(lambda l: l['9'] > 80 and not {'12', '15', '18'} & set(l) and set(l) <= {'3', '8', '9', '10', '14'})($(cat lines))"
}

@test "trace-run: in one run what is hot is native and what is cold interpreted" {
	needs_perf
	trace-run --hotloop 30000 -F 5000 -o t "$LUA/hotcold.lua"
	prof-report --json t > r
	is "$(json '[t["start"] for t in r["traces"]]' < r)" '["hot:3"]'
	json '{f["function"].split()[0]: [f["native"], f["interpreted"], f["total"]] for f in r["functions"]}' < r > f
	# Its code is never native; nothing of it is above the threshold.
	holds "(lambda f: f['cold'][0] == 0 and f['cold'][1] >= 20 and f['hot'][0] >= 20)($(cat f))"
	# 270,000 of hot's 300,000 turns are native.
	holds "(lambda f: f['hot'][0] > f['hot'][1])($(cat f))"
}

@test "trace-run: the stream is as its schema says" {
	trace-run -F 2000 -o t "$LUA/recorded.lua" none > out
	trace-run -F 2000 -o u "$LUA/json.lua" 20 > out
	for f in t u; do "$PYTHON" "$REPO/test/cddl_check.py" --strict "$REPO/formats/profile.cddl" profile $f; done
	cat t u > both
	"$PYTHON" "$REPO/test/cddl_check.py" "$REPO/formats/profile.cddl" profile both
	is "$(prof-report --json both | "$PYTHON" -c 'import json, sys; print([r["path"].split("/")[-1] for r in json.load(sys.stdin)["runs"]])')" "['recorded.lua', 'json.lua']"
	map-dump t > text
	for row in run module prototype trace stubs abort flush sample run-end; do grep -q "^  $row " text; done
	is "$(map-dump --json t | grep -c '"row":"trace"')" "$(traces rows t | sed 's/.*trace=\([0-9]*\).*/\1/')"
}

@test "trace-run: complete to the last trace, however the script ends" {
	for how in return exit error close kill term; do
		run --separate-stderr luajit "$LUA/recorded.lua" $how
		wanted=$status
		rm -f t
		run --separate-stderr trace-run -o t "$LUA/recorded.lua" $how
		is "$how $status" "$how $wanted"
		set -- $output
		[ "$1" -ge 30 ] && [ "$3" = 3 ]
		rows=" $(traces rows t) "
		[[ $rows == *" trace=$1 "* && $rows == *" flush=$3 "* ]] || { echo "$how: $* but $rows"; return 1; }
		case $how in
		kill|term)
			[[ $rows == *" cut "* ]]
			run --separate-stderr prof-report t
			is "$status" 1
			[[ $stderr == *"cut: the stream ends before the end item"* ]]
			[[ $output == *"the run was ended from outside"* && $output == *"traces compiled"* ]]
			;;
		*) [[ $rows == *" end=1 "* && $rows == *" abort=$2 "* && $rows != *" cut "* ]] || { echo "$how: $* but $rows"; return 1; } ;;
		esac
	done
	# Rows are in the file while the script runs.
	source_is <<-'END'
		local x = 0
		for i = 1, 1000 do x = x + i end
		for line in io.open("t", "rb"):lines() do x = x + #line end
		print(x > 500500, io.open("t", "rb"):read("*a"):find("loop", 1, true) ~= nil)
	END
	trace-run -o t s.lua > out
	is "$(cat out)" "$(printf 'true\ttrue')"
}

@test "trace-run: two loops of known cost, from 100 Hz to 10 kHz" {
	for hz in 100 1000 10000; do
		trace-run -F $hz -o t "$LUA/ratio.lua" 1.2 > times
		prof-report --json t > r
		traces share t r 5 11 < times > share
		read -r dear cheap z < share
		echo "$hz Hz: $dear $cheap, $z standard errors"
		holds "abs($z) < 4 and $dear + $cheap > 0.8 * $hz"
		holds "abs($(json 'r["sampled_us"] / r["cpu_us"]' < r) - 1) < 0.2"
	done
}

@test "trace-run: where code and numbers are used again no sample is put on a dead trace" {
	needs_perf
	trace-run -F 5000 -o t "$LUA/flush.lua" > out
	is "$(cat out)" "$(luajit "$LUA/flush.lua")"
	prof-report --samples --json t > r
	traces lifetimes t r > out
	cat out
	[[ $(cat out) =~ ^([0-9]+)\ samples,\ 0\ wrong,\ ([0-9]+)\ naive\ wrong$ ]]
	[ "${BASH_REMATCH[1]}" -gt 500 ] && [ "${BASH_REMATCH[2]}" -gt 0 ]
	is "$(prof-report --json t | json 'r["flushes"]')" 1500
}

@test "trace-run: benchmarks are on traces, and nothing is unknown" {
	declare -A size=([nbody]=3000000 [spectral-norm]=3000 [mandelbrot]=5000 [fannkuch]=10 [binary-trees]=16 [json]=150)
	for b in "${!size[@]}"; do
		trace-run -o t "$LUA/$b.lua" ${size[$b]} > out
		is "$(cat out)" "$(luajit "$LUA/$b.lua" ${size[$b]})"
		prof-report --json t > r
		json '[r["samples"], sum(t["head"] + t["loop"] + t["called"] + t["gc"] for t in r["traces"]), [s["samples"] for s in r["states"] if s["state"] == "unknown"][0]]' < r > n
		echo "$b: $(cat n)"
		# The share of a good 200 samples that is allowed, and four standard errors.
		holds "(lambda n, on, lost: n > 100 and lost / n <= 0.02)(*$(cat n))"
		case $b in nbody|mandelbrot|spectral-norm) holds "(lambda n, on, lost: on / n >= 0.97 - 4 * (0.97 * 0.03 / n) ** 0.5)(*$(cat n))" ;; esac
	done
}

# The kernel's part of a signal is the machine's: `bench/trace-run` shows it.
@test "trace-run: what it costs at 1 kHz, in instructions" {
	command -v valgrind > valgrind || skip "no valgrind"
	run -0 "$REPO/bench/trace-run" --instructions --runs 1 nbody mandelbrot
	echo "$output"
	[ "$(awk '/^(nbody|mandelbrot) / && $5 + 0 <= 3' <<< "$output" | wc -l)" = 2 ]
}

@test "trace-run: luacheck over Debian's Lua sources" {
	mapfile -t sources < <(dpkg -L lua-check lua-penlight libluajit-5.1-common | grep '\.lua$' | sort | head -90)
	[ "${#sources[@]}" -ge 60 ]
	run luajit /usr/bin/luacheck -q --no-config "${sources[@]}"
	plain=$output wanted=$status
	run trace-run -o t /usr/bin/luacheck -q --no-config "${sources[@]}"
	is "$output" "$plain"
	is "$status" "$wanted"
	prof-report --json t > r
	holds "$(json 'r["traces"].__len__() > 10000 and r["flushes"] >= 20 and r["aborts"].__len__() > 10' < r | sed 's/true/True/; s/false/False/')"
	holds "$(json '[s["percent"] for s in r["states"] if s["state"] == "unknown"][0]' < r) <= 2"
	# Reasons are in words, and recompiling shows.
	[[ $(json '[a["reason"] for a in r["aborts"]]' < r) == *"NYI: bytecode"* ]]
	holds "$(json '[c["times"] for c in r["compiling"] if "again" in c["what"]][0]' < r) > 1000"
}

@test "prof-report: folded stacks and tables of a run add up" {
	trace-run -F 2000 -o t "$LUA/json.lua" 100 > out
	prof-report --json t > r
	n=$(json 'r["samples"]' < r)
	is "$(prof-report --format folded t | awk '{ n += $NF } END { print n }')" "$n"
	is "$(json '[sum(s["samples"] for s in r[k]) for k in ("states", "lines")]' < r)" "[$n, $n]"
	is "$(prof-report --format folded t | grep -vcE '^[^;]+(;[^;]+)* [0-9]+$')" 0
	prof-report --format folded t | grep -q 'json.lua (main chunk);.*json.lua:34;.*json.lua:48;.*json.lua:10'
	# With callees: the main chunk's is all that has a Lua caller.
	holds "$(json '[f["percent_total"] for f in r["functions"] if "main chunk" in f["function"]][0]' < r) > 95"
	holds "$(json 'all(f["total"] >= f["samples"] for f in r["functions"])' < r | sed 's/true/True/')"
	prof-report t > text
	for title in "Where the time went" "Traces (" "Lua functions" "Lua lines" "Outside traces" "What compiling cost" "Traces that were given up"; do grep -q "^$title" text; done
	prof-report --traces t | grep -q 'json.lua:'
	prof-report -l --function '*json.lua:16' t | grep -q 'json.lua:2'
}

@test "prof-report: a profile of objects beside a run" {
	gcc -shared -nostdlib -o libreport.so "$REPO/test/input/report.s"
	"$PYTHON" "$REPO/test/fabricate.py" profile libreport.so p block=sum-sum_loop:3
	trace-run -o t "$LUA/threshold.lua" 100 > out
	prof-report p t > both
	grep -q 'libreport.so' both
	grep -q 'threshold.lua' both
	prof-report --format folded p t > stacks
	grep -qx 'libreport.so;sum [1-9][0-9]*' stacks
	run --separate-stderr prof-report --format callgrind p t
	[[ $stderr == *"left out"* ]]
}

@test "trace-run: perf agrees, by map and by jitdump" {
	perf record -q -o probe -e cpu-clock:u true 2> why || skip "perf is not allowed: $(head -n 1 why)"
	needs_perf
	perf record -q -F 1000 -e cpu-clock:u -o p trace-run --perf-map -o t "$LUA/ratio.lua" 1 > times
	pid=$(prof-report --json t | json 'r["pid"]')
	perf report -i p --stdio --sort symbol 2> why | sed -n 's/^ *\([0-9.]*\)%.*TRACE_.*ratio.lua:\([0-9]*\).*/\2 \1/p' > perf
	rm -f "/tmp/perf-$pid.map"
	prof-report --json t > r
	json '{t["start"].split(":")[1]: t["percent"] for t in r["traces"]}' < r > ours
	cat perf ours
	# Two samplings of about 1,000 each of one share.
	for line in 7 13; do
		theirs=$(awk -v l=$line '$1 == l { s += $2 } END { print s }' perf)
		holds "(lambda a, b: abs(a - b) < 100 * 5 * (2 * 0.75 * 0.25 / 900) ** 0.5)($theirs, $(cat ours)['$line'])"
	done
	mkdir d
	perf record -q -k mono -F 1000 -e cpu-clock:u -o p trace-run --jitdump d -o t "$LUA/ratio.lua" 0.3 > times
	ls d/jit-*.dump
	perf inject --jit -i p -o q
	perf report -i q --stdio --sort symbol,srcline 2> why | grep -q 'TRACE_.*ratio.lua:7 *ratio.lua:7'
	run --separate-stderr trace-run --jitdump odd -o t "$LUA/threshold.lua"  100
	[[ $stderr == *"perf inject takes only"* ]]
}

@test "trace-run: after a flush the perf map has live traces only" {
	trace-run --perf-map -o t "$LUA/recorded.lua" return > out
	pid=$(prof-report --json t | json 'r["pid"]')
	is "$(wc -l < "/tmp/perf-$pid.map")" "$(prof-report --json t | json 'r["alive"]')"
	is "$(cut -d' ' -f1 "/tmp/perf-$pid.map" | sort | uniq -d)" ""
	rm -f "/tmp/perf-$pid.map"
}

@test "trace-run: odd scripts" {
	for odd in recursion coroutines callbacks hooks attach profiler fork signals collect states strings; do
		options="-F 5000" same "$LUA/odd.lua" $odd
		prof-report t > report || { echo "$odd: prof-report"; return 1; }
		is "$odd $(prof-report --json t | json 'r["complete"]')" "$odd true"
	done
}

odd_module() {
	gcc -O1 -fPIC -shared -D_GNU_SOURCE -o odd.so "$LUA/odd.c" -lpthread
	export LUA_CPATH="$PWD/?.so;;"
}

@test "trace-run: odd scripts with a C module" {
	odd_module
	for odd in vms children jumps stack rawfork elsewhere handlers; do
		options="-F 5000" same "$LUA/odd.lua" $odd
		"$PYTHON" "$REPO/test/cddl_check.py" --strict "$REPO/formats/profile.cddl" profile t
		is "$odd $(prof-report --json t | json 'r["complete"]')" "$odd true"
	done
	# In another thread than the one that is sampled nothing is sampled, but the time is told.
	trace-run -F 5000 -o t "$LUA/odd.lua" elsewhere && false
	holds "$(prof-report --json t | json 'abs(r["sampled_us"] / r["cpu_us"] - 1)') < 0.2"
	# A fork that the C library does not know of has written nothing.
	trace-run -F 0 -o t "$LUA/odd.lua" rawfork
	[[ " $(traces rows t)" == *" end=1 "* ]]
}

@test "trace-run: what a script does to all signals does not reach the sampler's" {
	needs_perf
	odd_module
	for odd in defaults caught blocked; do
		options="-F 5000" same "$LUA/odd.lua" $odd
		holds "$(prof-report --json t | json 'abs(r["sampled_us"] / r["cpu_us"] - 1)') < 0.2"
	done
	# While they were blocked samples did not gather: their places are in work, not where they were let through.
	holds "$(prof-report --json t | json 'sum(l["samples"] for l in r["lines"] if l["native"]) / r["samples"]') > 0.9"
	# Blocked or ignored by the parent.
	"$PYTHON" -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); os.execvp("trace-run", ["trace-run", "-F", "5000", "-o", "t"] + sys.argv[1:])' "$LUA/ratio.lua" 0.2 > times
	holds "$(prof-report --json t | json 'abs(r["sampled_us"] / r["cpu_us"] - 1)') < 0.2"
}

@test "trace-run: scripts that cannot be loaded, sampled while the VM is closed" {
	source_is <<< 'x = = 1'
	export LUA_INIT='t = {} for i = 1, 5e5 do t[i] = { i } end'
	for i in 1 2 3 4 5 6 7 8; do options="-F 10000" same s.lua; done
}

@test "trace-run: a garbage collection under way hides nothing" {
	source_is <<< 'print(#arg)'
	for n in $(seq 5800 70 8600); do
		options="-F 0" same s.lua $(yes x | head -n $n)
	done
}

@test "trace-run: functions from bytecode" {
	needs_perf
	trace-run -F 5000 -o t "$LUA/dumped.lua" > out 2> times
	is "$(cat out)" "$(luajit "$LUA/dumped.lua" 2> none)"
	prof-report --json t > r
	traces share t r bytecode source < times > share
	read -r bytecode source z < share
	holds "abs($z) < 4 and $bytecode > 200"
	# No name is there for more of them than were made.
	holds "$(json 'sum(l["samples"] for l in r["lines"] if l["line"] == "?") / r["samples"]' < r) < 0.04"
	# Lines of what lies where others lay are looked up in what lives.
	trace-run --jitdump d -o t "$LUA/dumped.lua" 3000 > out 2> times
	# As a file, and by require and dofile.
	mkdir m
	echo 'local x = 0 for i = 1, 1e7 do x = x + i % 3 end return x' > m/a.lua
	luajit -bg m/a.lua m/b.lua
	source_is <<< 'print(require("m.b"), dofile("m/b.lua"), loadfile("m/b.lua")(), pcall(dofile, {}), pcall(dofile, "nosuch"), load, loadstring)'
	LUA_PATH="$PWD/?.lua" same s.lua
	[ "$(map-dump --json t | grep -c '"row":"prototype".*m/a.lua')" -ge 3 ]
}

@test "trace-run: many functions that live" {
	source_is <<< 'local t = {} for i = 1, 1e5 do t[i] = loadstring("return " .. i) end print(#t, t[5]())'
	options="-F 0" same s.lua
	cpu() { "$PYTHON" -c 'import os, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); t = os.times(); print(t[2] + t[3])' "$@"; }
	# Each costs about what compiling it does; it was eleven times that when they were all moved for each.
	holds "$(cpu trace-run -F 0 -o t s.lua) < 4 * $(cpu luajit s.lua)"
}

@test "trace-run: callbacks from C have a name" {
	needs_perf
	source_is <<-'END'
		local ffi = require("ffi")
		local v, sum = {}, 0
		for i = 1, 500 do v[i] = ffi.cast("int (*)(int)", function(a) return a + i end) end
		for round = 1, 1000 do for i = 1, #v do sum = sum + v[i](round) end end
		print(sum)
	END
	options="-F 5000" same s.lua
	prof-report --json t > r
	holds "$(json '[s["samples"] for s in r["states"] if s["state"] == "unknown"][0]' < r) <= 1"
	json '[p["symbol"] for p in r["parts"]]' < r | grep -q lj_vm_ffi_callback
}

@test "trace-run: what an object does while it is loaded, and functions that LuaJIT has in Lua" {
	needs_perf
	cat > slow.c <<-'END'
		#include <time.h>
		volatile int turns;
		__attribute__((constructor)) void begin(void) { for (clock_t end = clock() + CLOCKS_PER_SEC / 10; clock() < end;) for (int i = 0; i < 100000; i++) turns++; }
		int luaopen_slow(void *L) { (void)L; return 0; }
	END
	gcc -O1 -fPIC -shared -o slow.so slow.c
	source_is <<-'END'
		require("slow")
		local sum = 0
		for round = 1, 20000 do
			local t = {}
			for i = 1, 40 do t[i] = i end
			for i = 1, 20 do table.remove(t, 1) end
			sum = sum + #table.move(t, 1, 10, 3)
		end
		print(sum)
	END
	LUA_CPATH="$PWD/?.so;;" options="-F 5000" same s.lua
	"$PYTHON" "$REPO/test/cddl_check.py" --strict "$REPO/formats/profile.cddl" profile t
	prof-report --json --samples t > all
	prof-report --json t > r
	is "$(json '[s["samples"] for s in r["states"] if s["state"] == "unknown"][0]' < r)" 0
	holds "$(json 'sum(p["samples"] for p in r["parts"] if (p["symbol"] or "").startswith("begin "))' < r) > 300"
	json '[f["function"] for f in r["functions"]]' < r | grep -q '"\[builtin:remove\]"'
	# They are still told in their order.
	is "$(json 'r["all"] == sorted(r["all"], key=lambda s: s["time"])' < all)" true
}

@test "trace-run: the fastest rate leaves the script time" {
	trace-run -F 20000 -o t "$LUA/ratio.lua" 0.3 > times
	run trace-run -F 20001 -o t "$LUA/ratio.lua" 0.3
	is "$status" 2
}

@test "trace-run: memory that runs out, and memory that a long run takes" {
	( ulimit -v 1000000; options= same "$LUA/odd.lua" memory )
	prof-report t > report
	# Functions and traces come and go; what is kept of them does not grow with the run.
	source_is <<-'END'
		local sum = 0
		for i = 1, tonumber(arg[1]) do
			sum = sum + loadstring("local x = 0 for i = 1, 100 do x = x + i * " .. i .. " end return x")()
			if i % 50 == 0 then jit.flush() end
		end
		print(sum)
	END
	for rounds in 2000 20000; do
		/usr/bin/time -f %M -o kb.$rounds trace-run -F 5000 -o t s.lua $rounds > out
		/usr/bin/time -f %M -o plain.$rounds luajit s.lua $rounds > out
	done
	holds "$(cat kb.20000) - $(cat plain.20000) < $(cat kb.2000) - $(cat plain.2000) + 1500"
}

@test "trace-run: the time of other threads is told, not sampled" {
	gcc -O1 -shared -fPIC -o spin.so "$LUA/spin.c" -lpthread
	trace-run -o t "$LUA/odd.lua" threads ./spin.so > out
	prof-report --json t > r
	holds "180000 < $(json 'r["other_threads_us"]' < r) < 300000"
	holds "$(json 'r["sampled_us"]' < r) <= 1.05 * $(json 'r["cpu_us"]' < r) + 5000"
	[ "$(json '[p for p in r["parts"] if "spin.so" in (p["symbol"] or "")].__len__()' < r)" -le 1 ]
}

@test "trace-run: no system call is interrupted that luajit's would not be" {
	needs_perf
	is "$(luajit "$LUA/eintr.lua")" 0
	is "$(trace-run -F 10000 -o t "$LUA/eintr.lua")" 0
}

@test "trace-run: where perf_event_open is refused, the CPU timer" {
	needs_perf
	refused() { strace -f -o /dev/null -e trace=perf_event_open -e inject=perf_event_open:error="$1" trace-run "${@:2}"; }
	refused EACCES -o t "$LUA/ratio.lua" 1 > times
	prof-report --json t > r
	is "$(json 'r["sampler"]' < r)" timer
	[[ $(json 'r["note"]' < r) == "perf_event_open: Permission denied"* ]]
	traces share t r 5 11 < times > share
	read -r dear cheap z < share
	holds "abs($z) < 4"
	holds "abs($(json 'r["sampled_us"] / r["cpu_us"]' < r) - 1) < 0.2"
	prof-report t | grep -q '^note: perf_event_open'
}

@test "trace-run: where process_vm_readv is refused, memory is read otherwise" {
	strace -f -o /dev/null -e trace=process_vm_readv -e inject=process_vm_readv:error=EPERM trace-run -o t "$LUA/json.lua" 40 > out
	prof-report --json t > r
	is "$(json 'r["note"]' < r)" null
	prof-report --format folded t | grep -q 'json.lua (main chunk);.*json.lua:34;.*json.lua:48;.*json.lua:10'
}

@test "trace-run: many traces, several code areas, exits that stay exits" {
	needs_perf
	source_is <<-'END'
		local sum = 0
		for i = 1, 5200 do
			sum = sum + loadstring("local x = 0 for i = 1, 80 do x = x + i % " .. i % 13 + 2 .. " end return x")()
		end
		print(sum)
	END
	options="-F 5000 -Omaxtrace=20000,sizemcode=32,maxmcode=40000" same s.lua
	prof-report --json t > r
	holds "$(json 'r["traces"].__len__()' < r) >= 5200 and $(json 'r["flushes"]' < r) == 0"
	# Areas of 32 KiB, and each trace's address is its own.
	holds "$(json 'len({int(t["address"], 16) >> 16 for t in r["traces"]})' < r) >= 5 and $(json 'len({t["address"] for t in r["traces"]}) == len(r["traces"])' < r | sed 's/t/T/;s/f/F/')"
	holds "$(json '[s["percent"] for s in r["states"] if s["state"] == "unknown"][0]' < r) <= 2"
	source_is <<-'END'
		local t, x, n = { 1, "2", 3, "4", 5.5, true }, 0, 0
		for i = 1, 1e7 do
			local v = t[i % 6 + 1]
			if type(v) == "string" then x = x + #v elseif v == true then n = n + 1 else x = x + v end
		end
		print(x, n)
	END
	options="-F 10000 -Omaxside=0" same s.lua
	prof-report --json t > r
	holds "$(json '[s["samples"] for s in r["states"] if s["state"] == "exit stubs"][0]' < r) > 0"
	holds "$(json '[s["percent"] for s in r["states"] if s["state"] == "unknown"][0]' < r) <= 2"
	# A trace that is flushed alone leaves without a word; its number's next owner says so.
	source_is <<-'END'
		local function f(n) local x = 0 for i = 1, n do x = x + i end return x end
		f(200)
		for round = 1, 20 do
			jit.flush(f)
			collectgarbage()
			f(200)
		end
		print(f(10))
	END
	same s.lua
	[[ " $(traces rows t) " != *" flush="* && $(traces rows t) == *death=* ]]
	holds "$(prof-report --json t | json 'len([t for t in r["traces"] if t["start"] == "s.lua:1"])') >= 10"
}

@test "trace-run: outputs that cannot be written" {
	for to in /nosuch/t . "" ; do
		run --separate-stderr trace-run -o "$to" "$LUA/threshold.lua" 10
		is "$status$output" 1
		[[ $stderr == "trace-run: "*"cannot write: "* ]]
	done
	run --separate-stderr trace-run -o /dev/full "$LUA/threshold.lua" 10
	is "$status $output" "0 55"
	[[ $stderr == "trace-run: /dev/full: cannot write all of the profile: it ends early" ]]
	# A limit on the size of files does not end the script, and what was written until then is whole.
	run --separate-stderr bash -c "ulimit -f 16; trace-run -F 5000 -o t '$LUA/flush.lua' 150"
	is "$status" 0
	[[ $stderr == *"t: cannot write all of the profile: it ends early" ]]
	run --separate-stderr prof-report t
	[[ $status = 1 && $output == *part1:3* ]]
	[ "$(stat -c %s t)" -le 16384 ]
}

@test "trace-run: a script that closes our file and opens its own there; few descriptors, and no standard output" {
	run --separate-stderr bash -c "ulimit -n 1024; trace-run -o t '$LUA/close.lua'"
	is "$status $output" "0 $(luajit "$LUA/close.lua")"
	[[ $stderr == *"t: cannot write all of the profile: it ends early" ]]
	is "$(stat -c %s mine)" 0
	run --separate-stderr bash -c "ulimit -n 60; trace-run -o t '$LUA/threshold.lua' 10 >&-"
	is "$status$stderr" "0"
	prof-report t > report
	! grep 55 t
}

@test "trace-run: devices and FIFOs are written in place" {
	mkfifo pipe
	cat pipe > copy &
	trace-run -o pipe "$LUA/nbody.lua" 500000 > out
	wait
	[ -p pipe ]
	is "$(prof-report --json copy | json 'r["complete"]')" true
	# A reader that leaves ends the profile, not the script.
	head -c 1000 pipe > copy &
	run --separate-stderr trace-run -F 10000 -o pipe "$LUA/nbody.lua" 1500000
	is "$status" 0
	[[ $stderr == *"pipe: cannot write all"* ]]
	run trace-run -o /dev/null "$LUA/threshold.lua" 10
	is "$status $output" "0 55"
	[ -c /dev/null ]
	trace-run "$LUA/threshold.lua" 10
	ls trace.*.cbor
	run script -qec "trace-run -o /dev/tty $LUA/threshold.lua 10" /dev/null
	[[ $output == *"is a terminal"* ]]
}

@test "prof-report and map-dump: profiles of runs that are cut or damaged" {
	trace-run -F 5000 -o t "$LUA/recorded.lua" return > out
	cat > damage.py <<-'END'
		import random, subprocess, sys
		data = open('t', 'rb').read()
		random.seed(int(sys.argv[1]))
		for n in range(60):
		    d = bytearray(data)
		    if n % 3 == 0:
		        del d[random.randrange(len(d)):]
		    for _ in range(n % 3 * 2):
		        d[random.randrange(40, len(d))] = random.choice([0, 1, 0x1b, 0x3b, 0x82, 0xff, random.randrange(256)])
		    open('d', 'wb').write(d)
		    for command in (['prof-report', '--samples', '-n', '0', 'd'], ['prof-report', '--json', 'd'], ['prof-report', '--format', 'folded', 'd'], ['map-dump', 'd']):
		        p = subprocess.run(command, capture_output=True, timeout=20)
		        if p.returncode not in (0, 1) or b'Sanitizer' in p.stderr or b'runtime error' in p.stderr:
		            sys.exit(f'{n}: {command}: {p.returncode} {p.stderr[-600:]}')
	END
	"$PYTHON" damage.py 1
}
