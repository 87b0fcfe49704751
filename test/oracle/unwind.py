#!/usr/bin/python3
"""Compares an object's unwinding tables with the moved ones that test/unwind-check.c wrote: call frame instructions as readelf
decodes them, LSDAs and the sorted header by a decoder of its own.
unwind.py [-a] ORIGINAL NEW FACTOR LOW      -a: the new ones have adjustments (128 bytes at each multiple of 16, for 3 bytes)"""
import bisect
import re
import struct
import subprocess
import sys

TEXT = 0x40000000


def readelf(*arguments):
    run = subprocess.run(('readelf', '-W') + arguments, capture_output=True, text=True, check=True)
    if run.stderr:
        sys.exit(f'readelf complains: {run.stderr[:300]}')
    return run.stdout


class File:
    def __init__(self, path):
        self.path = path
        self.bytes = open(path, 'rb').read()
        self.order = '>' if self.bytes[5] == 2 else '<'
        self.sections = {}
        for line in readelf('-S', path).splitlines():
            m = re.match(r'\s*\[\s*\d+\] (\.\S+)\s+\S+\s+(\S+) (\S+) (\S+)', line)
            if m:
                self.sections[m[1]] = tuple(int(x, 16) for x in m.groups()[1:])

    def at(self, address, size):
        for start, offset, length in self.sections.values():
            if start and start <= address < start + length:
                return self.bytes[offset + address - start:offset + address - start + size]
        raise ValueError(f'{self.path}: nothing at {address:x}')

    def signed(self, address, size=4):
        return struct.unpack(self.order + ('i' if size == 4 else 'q'), self.at(address, size))[0]

    def pointer(self, address, encoding):
        """What an encoded pointer yields (0x1b, 0x1c and their indirect forms; 0x80 with 32-bit words)."""
        value = self.signed(address, 8 if encoding & 0xf == 0xc else 4)
        return value and (address if encoding & 0x10 else 0) + value


def fdes_raw(file):
    """[(offset, augmentation, start, end, [instruction or location])] from readelf -wf."""
    found, cie, current = [], {}, None
    for line in readelf('-wNf', file.path).splitlines():
        m = re.match(r'([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (CIE|FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+))', line)
        if m and m[2] == 'CIE':
            current = None
            number = int(m[1], 16)
        elif m and m[4] == m[5]:
            current = None              # of no bytes: left out
        elif m:
            current = []
            found.append((int(m[1], 16), cie[int(m[3], 16)], int(m[4], 16), int(m[5], 16), current))
        elif 'Augmentation:' in line:
            cie[number] = [line.split('"')[1], None, None]
        elif current is None and 'Augmentation data:' in line:
            text = cie[number][0]
            data = cie[number][1] = bytes.fromhex(line.split(':')[1].replace(' ', ''))
            if 'P' in text:             # behind length, id, version, text, three numbers of a byte, length, encoding
                cie[number][2] = data[0] & 0x80, file.pointer(file.sections['.eh_frame'][0] + number + 15 + len(text), data[0])
        elif current is not None and line.startswith('  DW_CFA_') and 'DW_CFA_nop' not in line:
            m = re.search(r'DW_CFA_(?:advance_loc.* to|set_loc:) ([0-9a-f]+)', line)
            current.append(int(m[1], 16) if m else line.strip())
    return found


def fdes_rows(file):
    """{start: (end, [(location, {column: rule})])} from readelf -wF."""
    found, cies, rows = {}, {}, None
    for line in readelf('-wNF', file.path).splitlines():
        m = re.match(r'([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (CIE|FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+))', line)
        if m:
            rows = []
            if m[2] == 'CIE':
                cies[int(m[1], 16)] = rows
            else:
                found[int(m[4], 16)] = (int(m[5], 16), rows, cies[int(m[3], 16)])
        elif line.strip().startswith('LOC'):
            columns = line.split()[1:]
        elif re.match(r'[0-9a-f]{8,16} (?!ZERO)', line):
            words = line.split()
            rules = dict((c, v) for c, v in zip(columns, words[1:]) if v != 'u')
            rows.append((int(words[0], 16), rules))
    for start, (end, rows, cie) in found.items():
        if not rows:
            rows += [(start, r) for _, r in cie]
    return found


def joined(rules):
    """Two advances that meet at one place are one."""
    out = []
    for r in rules:
        if isinstance(r, int) and out and isinstance(out[-1], int):
            out.pop()
        out.append(r)
    return out


def check_rules(old, new, place, moved_only):
    copies = {d[2]: d for d in new if d[2] < TEXT}
    moved = {d[2]: d for d in new if d[2] >= TEXT}
    count = 0
    for _, cie, start, end, rules in old:
        copy = copies.pop(start)
        assert (copy[1][::2], copy[3], copy[4]) == (cie[::2], end, rules), f'copy of {start:x} differs'
        there = moved.pop(place(start), None)
        if there is None:
            continue
        count += 1
        assert there[1] is copy[1], f'{start:x}: CIE'
        assert there[3] == place(end), f'{start:x}: end {there[3]:x}'
        if not moved_only:
            want = joined([place(r) if isinstance(r, int) else r for r in rules])
            assert joined(there[4]) == want, f'{start:x}: {there[4]} is not {want}'
    assert not copies, f'{len(copies)} copies of nothing'
    assert len(moved) == 1, f'{len(moved) - 1} new FDEs of nothing'
    return count


def row_at(rows, address):
    return rows[bisect.bisect_right(rows, address, key=lambda r: r[0]) - 1][1]


def check_adjusted(old, new, place, factor):
    for start, (end, rows, _) in old.items():
        if place(start) not in new:
            continue
        end_new, rows_new, _ = new[place(start)]
        rows = [(place(at), rules) for at, rules in rows]
        points = {r[0] for r in rows} | {r[0] for r in rows_new}
        for at in sorted(points):
            if not place(start) <= at < place(end):
                continue
            want = dict(row_at(rows, at))
            have = row_at(rows_new, at)
            m = re.match(r'rsp\+(\d+)$', want['CFA'])
            if m and at % 16 < 3:
                # An event lies inside the FDE only when its multiple of 16 does.
                if at - at % 16 >= place(start):
                    want['CFA'] = f'rsp+{int(m[1]) + 128}'
            assert have == want, f'{start:x}: at {at:x} {have} is not {want}'


class Lsda:
    def __init__(self, file, address, start):
        self.file, self.p = file, address
        self.start = start
        lpstart = self.byte()
        assert lpstart == 0xff
        self.types_end = 0
        self.encoding = self.byte()
        if self.encoding != 0xff:
            n = self.uleb()
            self.types_end = self.p + n
        assert self.byte() == 1
        n = self.uleb()
        end = self.p + n
        self.sites = []
        while self.p < end:
            self.sites.append((self.uleb(), self.uleb(), self.uleb(), self.uleb()))
        assert self.p == end
        self.actions = end
        self.chains = [self.chain(a) for *_, a in self.sites]

    def byte(self):
        self.p += 1
        return self.file.at(self.p - 1, 1)[0]

    def uleb(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                return value

    def sleb(self):
        start = self.p
        value = self.uleb()
        bits = 7 * (self.p - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def type(self, index):
        at = self.types_end - (8 if self.encoding & 0xf == 0xc else 4) * index
        assert at % 4 == 0
        return (self.encoding & 0x80, self.file.pointer(at, self.encoding))

    def chain(self, action):
        out = []
        self.p = self.actions + action - 1
        while action:
            kind = self.sleb()
            here = self.p
            step = self.sleb()
            if kind > 0:
                out.append(self.type(kind))
            elif kind < 0:
                keep, self.p = self.p, self.types_end - kind - 1
                types = []
                while index := self.uleb():
                    types.append(self.type(index))
                out.append(types)
                self.p = keep
            else:
                out.append('cleanup')
            if not step:
                break
            self.p = here + step
        return out


def lsda_of(file, fde):
    encoding = fde[1][1][-2]            # in "zPLR" and "zLR" the L's byte is the last but one
    return file.pointer(file.sections['.eh_frame'][0] + fde[0] + 17, encoding)


def check_lsdas(old_file, new_file, old, new, place, factor):
    moved = {d[2]: d for d in new}
    count = 0
    for fde in old:
        if 'L' not in fde[1][0] or place(fde[2]) not in moved:
            continue
        a, b = lsda_of(old_file, fde), lsda_of(new_file, moved[place(fde[2])])
        assert lsda_of(new_file, moved[fde[2]]) == a
        assert bool(a) == bool(b), f'{fde[2]:x}: null'
        if not a:
            continue
        count += 1
        a, b = Lsda(old_file, a, fde[2]), Lsda(new_file, b, fde[2])
        assert b.encoding in (0xff, (a.encoding & 0x80) | 0x1b)
        sites = [(s * factor, n * factor, p * factor, x) for s, n, p, x in a.sites if n]
        assert b.sites == sites, f'{fde[2]:x}: call sites'
        assert [c for c, s in zip(a.chains, a.sites) if s[1]] == b.chains, f'{fde[2]:x}: actions {b.chains} not {a.chains}'
    return count


def check_header(new_file, new):
    start, offset, size = new_file.sections['.eh_frame_hdr']
    h = new_file.bytes[offset:offset + size]
    frame = new_file.sections['.eh_frame'][0]
    version, a, b, c, pointer, count = struct.unpack_from(new_file.order + 'BBBBiI', h)
    assert (version, a, b, c) == (1, 0x1b, 0x03, 0x3b) and start + 4 + pointer == frame
    assert size == 12 + 8 * count
    table = [(start + x, start + y) for x, y in struct.iter_unpack(new_file.order + 'ii', h[12:])]
    assert table == sorted(table)
    assert sorted(table) == sorted((d[2], frame + d[0]) for d in new)


def main():
    arguments = sys.argv[1:]
    adjusted = arguments[0] == '-a'
    old_file, new_file = File(arguments[-4]), File(arguments[-3])
    factor, low = int(arguments[-2]), int(arguments[-1], 16)

    def place(address):
        return TEXT + (address - low) * factor

    old, new = fdes_raw(old_file), fdes_raw(new_file)
    moved = check_rules(old, new, place, adjusted)
    if adjusted:
        check_adjusted(fdes_rows(old_file), fdes_rows(new_file), place, factor)
    lsdas = check_lsdas(old_file, new_file, old, new, place, factor)
    check_header(new_file, new)
    print(f'equal: {moved} moved, {lsdas} LSDAs')


main()
