#!/bin/bash
# configure.sh - a configure run, hundreds of short processes: the same results, and counts that add up to what strace sees.
name=configure
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
need autoconf
need strace
need gcc
mkdir "$WORK/source"
(cd "$WORK/source" && . "$REPO/test/workloads/configure.sh" && prepare) >"$WORK/prepare" 2>&1 || { cat "$WORK/prepare"; failed "autoconf"; }
export CONFIG_SHELL=/bin/sh TZ=UTC

# configure OUTPUT COMMAND...: in a folder whose path is the same each time, and becomes OUTPUT.
configure() {
	local output=$1
	shift
	mkdir "$WORK/build"
	(cd "$WORK/build" && "$@" ../source/configure >output 2>&1; echo "status $?" >>output)
	# Names that are made up each time; the log says what the environment is.
	sed -E -i 's!/tmp/cc[A-Za-z0-9]{6}!/tmp/ccXXXXXX!g; s/conf[0-9]+([a-z.]*)/confN\1/g' "$WORK"/build/{output,config.log}
	mv "$WORK/build" "$WORK/$output"
}
same() { diff -r "$WORK/plain" "$WORK/$1" >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "other results: $1"; }; }

configure plain env
grep -q '^status 0' "$WORK/plain/output" && [ -s "$WORK/plain/config.h" ] || { tail "$WORK/plain/output"; failed "configure"; }
configure traced strace -f -q -e trace=execve -e signal=none -o "$WORK/trace"
same traced
# The first record finds out what is started, the second counts it.
configure first record
same first
configure profiled record
same profiled
echo "$name: the same config.h, config.log, config.status, Makefile and output; $(du -sm "$RUN" | cut -f 1) MiB of counter files"
check_all_replaced

# How often each program's first instruction was started is how often strace saw it started, and there are as many processes.
count-extract -q "$RUN" >"$WORK/profile"
count-extract -q --by-process "$RUN" >"$WORK/processes"
"$PYTHON" - "$WORK" "$RUN" "$REPO/test" <<'P' || failed "counts do not add up"
import collections, glob, os, re, sys
work, run, test = sys.argv[1:]
sys.path[:0] = [test, test + "/oracle"]
sys.dont_write_bytecode = True
import counts, oracle
from elftools.elf.elffile import ELFFile

started, pids, begun = collections.Counter(), set(), {}
for line in open(work + "/trace"):
    pid, call = line.split(None, 1)
    pids.add(pid)
    m = re.match(r'execve\("([^"]+)"', call)
    begun[pid] = m or begun.get(pid)    # another process's line may come between begin and end
    if re.search(r"execve.* = 0$", call):
        m = begun[pid]
        path = os.path.realpath(os.path.join(work, "build", m[1]))
        with open(path, "rb") if os.path.exists(path) else open(os.devnull, "rb") as f:
            script = re.match(rb"#! *(\S+)", f.readline(200))
        started[os.path.realpath(script[1].decode()) if script else path] += 1
pids = len(pids)

entered = {}
for head, rows in counts.objects(work + "/profile"):
    path = os.path.realpath(head["path"])
    if path in started and os.path.exists(path):
        with open(path, "rb") as f:
            entry = ELFFile(f)["e_entry"]
        entered[path] = sum(r[3] for r in rows if r[0] == 0 and r[1] == entry)

wrong = {p: (n, entered.get(p)) for p, n in started.items() if "conftest" not in p and entered.get(p) != n}
counted = {oracle.Counters(path).pid for path in glob.glob(run + "/libc.so.6~*")}
print(f"configure: {sum(entered.values())} starts of {len(entered)} programs, {len(counted)} processes; strace: {sum(started.values())} starts, "
      f"{sum(n for p, n in started.items() if 'conftest' in p)} of them of conftest, {pids} processes")
for path, (traced, profiled) in wrong.items():
    print(f"configure: {path}: strace {traced}, counted {profiled}")
sys.exit(bool(wrong) or len(counted) != pids or len(entered) < 15)
P

files() { find "$RUN" -type f -name '*~*' | wc -l; }
all=$(files)

# A cap that the run reaches: what is beyond it counts in private memory, and that is said.
rm -rf "$RUN" "$RUN.old"
SOPROF_MAX=$((40 << 20)) configure capped record
same capped
size=$(find "$RUN" -type f ! -name '.*' -printf '%s\n' | awk '{ s += $1 } END { print s }')
[ "$size" -le $((40 << 20)) ] && [ "$size" -gt $((35 << 20)) ] || failed "$size bytes of counter files, where 40 MiB are allowed"
count-extract "$RUN" 2>"$WORK/said" >"$WORK/profile"
refused=$(sed -n 's/.*: \([0-9]*\) counter files were not made because of the cap.*/\1/p' "$WORK/said")
# A child of a process without a file tries to make none.
[ "${refused:-0}" -gt 0 ] && [ $((refused + $(files))) -le "$all" ] || failed "$(files) counter files and ${refused:-none} refused, of $all"
echo "$name: with SOPROF_MAX of 40 MiB: the same results, $((size >> 20)) MiB, $refused of $all counter files refused"
check_clean
