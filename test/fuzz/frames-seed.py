#!/usr/bin/python3
"""Writes seeds for test/fuzz/frames.c: the unwinding tables of objects.  frames-seed.py DIR OBJECT..."""
import os
import re
import struct
import subprocess
import sys


def seed(path, directory):
    text = subprocess.run(['readelf', '-SW', path], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        m = re.match(r'\s*\[\s*\d+\] (\.eh_frame|\.eh_frame_hdr|\.gcc_except_table)\s+\S+\s+(\S+) (\S+) (\S+)', line)
        if m:
            found[m[1]] = [int(x, 16) for x in m.groups()[1:]]
    if '.eh_frame' not in found:
        return
    flags = (1 if 'ELF32' in kind(path) else 0) | (2 if 'big endian' in kind(path) else 0) | (8 if 'MIPS' in kind(path) else 0)
    base = min(address for address, _, _ in found.values())
    end = max(address + size for address, _, size in found.values())
    image = bytearray(end - base)
    data = open(path, 'rb').read()
    for address, offset, size in found.values():
        image[address - base:address - base + size] = data[offset:offset + size]
    for name, extra in (('.eh_frame', 0), ('.eh_frame', 16), ('.eh_frame_hdr', 4), ('.eh_frame_hdr', 68)):
        if name in found:
            head = struct.pack('<BIII', flags | extra, base, found[name][0], found[name][2])
            open(f'{directory}/{os.path.basename(path)}-{extra}', 'wb').write(head + image)


def kind(path):
    return subprocess.run(['readelf', '-hW', path], capture_output=True, text=True, check=True).stdout


for object_path in sys.argv[2:]:
    seed(object_path, sys.argv[1])
