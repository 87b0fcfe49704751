#!/usr/bin/python3
"""traces.py COMMAND PROFILE [REPORT]: looks at a profile of trace-run by itself, with cbor2.

lifetimes PROFILE REPORT  each sample that prof-report --samples --json put on a trace lies within that trace's life, and if its PC is in
                          trace code, within the code that lived there at that time; prints "N samples, N wrong, N naive wrong": the last,
                          how many a reader gets wrong that takes the last trace with that address, whenever it lived
rows PROFILE              how many rows of each type; "cut" when the end is missing
share PROFILE REPORT A B  samples of the functions that begin at lines A and B, or are in chunks of these names, with callees; how far
                          their ratio is from that of the CPU times on standard input, in standard errors of that many samples with
                          their weights
told PROFILE              compares the traces with what told.lua printed on standard input; prints how many traces and how many places
                          in them there were"""
import json
import math
import sys

import cbor2

PROTOTYPE, TRACE, FLUSH, DEATH, SAMPLE = 34, 35, 38, 39, 40
NAMES = {0: 'block', 32: 'run', 33: 'module', 34: 'prototype', 35: 'trace', 36: 'stubs', 37: 'abort', 38: 'flush', 39: 'death', 40: 'sample',
         41: 'end', -1: 'whole'}


def items(path):
    with open(path, 'rb') as f:
        decoder = cbor2.CBORDecoder(f)
        while True:
            try:
                yield decoder.decode()
            except (EOFError, cbor2.CBORDecodeError):
                return


def rows(path):
    return [i for i in items(path) if isinstance(i, list) and isinstance(i[0], int)]


def lives(all_rows):
    """serial -> [start, end, birth, death], and all samples (time, pc) with what lived at their PC."""
    traces, alive, samples = {}, {}, []
    for row in all_rows:
        if row[0] == TRACE:
            assert row[3] not in traces
            traces[row[3]] = alive[row[3]] = [row[1], row[1] + row[2], row[4]['numbers'][0], None]
        elif row[0] == FLUSH:
            for t in alive.values():
                t[3] = row[1]
            alive = {}
        elif row[0] == DEATH:
            alive.pop(row[3])[3] = row[1]
        elif row[0] == SAMPLE:
            here = [s for s, t in alive.items() if t[0] <= row[1] < t[1]]
            assert len(here) <= 1
            samples.append((row[3], row[1], here[0] if here else 0))
    return traces, samples


def lifetimes(profile, report):
    traces, samples = lives(rows(profile))
    with open(report, encoding='utf-8') as f:
        told = json.load(f)['runs'][0]['all']
    assert len(told) == len(samples)
    wrong = naive_wrong = 0
    for (time, pc, here), row in zip(samples, told):
        assert row['time'] == time and int(row['pc'], 16) == pc
        if row['serial']:
            t = traces[row['serial']]
            wrong += not (t[2] <= time and (t[3] is None or time < t[3]))
        wrong += bool(here and row['serial'] != here)
        last = [s for s, t in traces.items() if t[0] <= pc < t[1]]
        naive_wrong += bool(here and last[-1] != here)
    print(f'{len(samples)} samples, {wrong} wrong, {naive_wrong} naive wrong')


def count(profile):
    counts = {}
    for row in rows(profile):
        counts[NAMES[row[0]]] = counts.get(NAMES[row[0]], 0) + 1
    whole = counts.pop('whole', 0)
    print(' '.join(f'{k}={v}' for k, v in sorted(counts.items())) + ('' if whole else ' cut'))


def share(profile, report, a, b):
    weights = [row[4]['numbers'][0] if len(row) > 4 else 1 for row in rows(profile) if row[0] == SAMPLE]
    with open(report, encoding='utf-8') as f:
        functions = json.load(f)['runs'][0]['functions']
    n = [sum(r['total'] for r in functions if r['function'].endswith(':' + name) or r['function'].startswith(name + ' ')) for name in (a, b)]
    times = [float(x) for x in sys.stdin.read().split()]
    p, total = times[0] / sum(times), sum(n)
    independent = sum(weights) ** 2 / sum(w * w for w in weights)
    z = (n[0] / total - p) / math.sqrt(p * (1 - p) / independent)
    print(f'{n[0]} {n[1]} {z:.2f}')


def places(numbers):
    """The ranges of a trace: offset, [(prototype, position), ...] innermost first."""
    at = 9
    while at < len(numbers):
        depth = numbers[at + 1]
        pairs = numbers[at + 2:at + 4 + 2 * depth]
        yield numbers[at], list(zip(pairs[::2], pairs[1::2]))
        at += 4 + 2 * depth


def told(profile):
    lines, numbers_of, seen, recorded, n_places = {}, {0: 0}, [], {}, 0
    for row in rows(profile):
        if row[0] == PROTOTYPE:
            numbers = row[4]['numbers']
            lines[row[3]] = [numbers[0] + sum(numbers[2:3 + i]) for i in range(row[2])]
        elif row[0] == TRACE:
            numbers = row[4]['numbers']
            numbers_of[row[3]] = numbers[1]
            seen.append((row, [numbers[1], row[4]['kind'], numbers_of[numbers[3]], numbers[4], row[1], row[2], numbers[2], numbers_of[numbers[5]],
                               row[4]['why'], lines[numbers[7]][numbers[8]]]))
    said = [line.split() for line in sys.stdin][:-1]
    assert len(said) == len(seen)
    for words, (row, ours) in zip(said, seen):
        if ours[1] == 'root':
            ours[3] = 0
        if words[1] == 'stitched':      # what it was stitched to is told by its exit's number
            words[3] = str(ours[3])
        assert words[:10] == [str(x) for x in ours], (words[:10], ours)
        # Where calls are inlined those around them stand in the parent.
        numbers = row[4]['numbers']
        recorded[row[3]] = {tuple(int(n) for n in w.split('/')) for w in words[10:]} | recorded.get(numbers[3], set())
        ranges = list(places(numbers))
        for offset, chain in ranges:
            assert 0 <= offset < row[2]
            at = [(lines[serial][position] if serial else 0, len(chain) - 1 - k) for k, (serial, position) in enumerate(chain)]
            # The last exit is to what comes behind.
            wrong = [x for x in at if x not in recorded[row[3]]]
            assert not wrong or (offset, chain) == ranges[-1] and wrong == at[:1], (words, offset, at)
            n_places += len(chain)
    print(len(said), n_places)


if __name__ == '__main__':
    command = sys.argv[1]
    if command == 'lifetimes':
        lifetimes(sys.argv[2], sys.argv[3])
    elif command == 'rows':
        count(sys.argv[2])
    elif command == 'told':
        told(sys.argv[2])
    elif command == 'share':
        share(*sys.argv[2:6])
