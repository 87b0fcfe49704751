#!/usr/bin/env python3
# jump-tables.py - two ways to the lengths of an object's jump tables, ascending, in one line
#   asm FILE.s...   from what the compiler wrote: runs of label differences behind a label that code takes the address of
#   rows            from map-dump --json of a relocation table on standard input; a table used by two jumps counts once
import json
import re
import sys


def from_asm(names):
    lengths = []
    for name in names:
        text = open(name).read()
        run = 0
        for line in text.split("\n") + [""]:
            line = line.strip()
            if re.match(r"\.(long|quad)\s+\.?L\S*\s*-\s*\.?L\S+$", line) or re.match(r"\.quad\s+\.L(tmp)?\w+$", line):
                run += 1
                continue
            if run:
                lengths.append(run)
            run = 0
    return lengths


def from_rows():
    tables = {}
    for line in sys.stdin:
        row = json.loads(line)
        if row.get("row") == "jump-table" and row["details"]["kind"] != "tail":
            tables[row["information"]] = row["details"].get("count", 0)
    return list(tables.values())


lengths = from_asm(sys.argv[2:]) if sys.argv[1] == "asm" else from_rows()
print(*sorted(lengths))
