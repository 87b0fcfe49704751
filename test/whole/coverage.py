"""coverage.py TITLE COUNTERS OBJECTS RUN... - compares counters with callgrind's runs as oracle/compare does, and prints the coverage.

A springboard that was executed is a jump of ours in the place of an entry whose instructions then run counted: it is no instruction of
the program.  Its executions are printed beside the coverage.  Status 1 when a counter differs or the coverage is below 99.99 %."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
sys.dont_write_bytecode = True
import oracle

title, counters, objects, *runs = sys.argv[1:]
tallies, not_compared = oracle.compare(runs, counters, objects)
program = uncounted = old = springs = differ = compared = 0
for t in tallies.values():
    entries = set(t.obj.springs)
    jumps = sum(n for a, n in t.old_at.items() if a in entries or a - 4 in entries)
    program += t.program
    uncounted += t.uncounted
    springs += jumps
    old += t.old - jumps
    compared += t.compared
    differ += len(t.mismatches) + len(t.spring_mismatches)
    for pid, i, count, expected in t.mismatches[:3]:
        print(f"{title}: {t.obj.name}: block at {t.obj.old[i]:#x}: counter {count}, executed {expected}")
    rest = t.old - jumps
    if rest * 1000 > t.program + rest:
        for n, start, end, label, named in t.old_ranges()[:3]:
            print(f"{title}: {t.obj.name}: old text {start:#x}-{end:#x} {label}: {n} instructions")
total = program + uncounted + old
print(f"{title}: coverage {100 * program / total:.4f} % of {total} instructions in {sum(1 for t in tallies.values() if t.total)} objects; "
      f"{springs} springboards; {compared} counters of {max(t.processes for t in tallies.values())} processes compared, "
      f"{max(t.forked for t in tallies.values())} of them forked, {differ} differ"
      f"{f'; {not_compared} files of what became another program, or was killed, not compared' if not_compared else ''}")
sys.exit(1 if differ or program < 0.9999 * total else 0)
