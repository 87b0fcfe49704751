#!/usr/bin/env python3
"""What the loader itself says that it maps, against what so-input lists.

loader.py fields STREAM NAME...   the named fields of each listed object, tab-separated, one object a line
loader.py compare TOOL FILE...    says each difference; the last line is "N compared, N different"
"""
import ctypes
import io
import os
import re
import subprocess
import sys

import cbor2

LOADER = "/lib64/ld-linux-x86-64.so.2"


def objects(stream):
    f = io.BytesIO(stream)
    assert cbor2.load(f) == ["so-list", 1]
    while f.tell() < len(stream):
        o = cbor2.load(f)
        assert cbor2.load(f) == [-1, 0]
        yield o


def trace(path):
    """The paths in the order of loading, and the names that are missing: what ldd prints, without its shell script."""
    env = dict(os.environ, LD_TRACE_LOADED_OBJECTS="1")
    out = subprocess.run([LOADER, path], env=env, capture_output=True, text=True).stdout
    found, missing = [], []
    for line in out.splitlines():
        if m := re.match(r"\t(\S+) => not found", line):
            missing.append(m[1])
        elif m := re.match(r"\t(?:\S+ => )?(?!linux-vdso)(\S+) \(0x", line):
            found.append(os.path.join(os.getcwd(), m[1].removeprefix("./")))
    return found, sorted(set(missing))


def is_dynamic(path):
    try:
        with open(path, "rb") as f:
            head = f.read(20)
    except OSError:
        return False
    return head[:6] == b"\x7fELF\2\1" and head[16] in (2, 3) and head[18] == 62


def compare(tool, path):
    run = subprocess.run([tool, path], capture_output=True)
    listed = [o["path"] for o in objects(run.stdout) if o["path"] != path]
    missing = sorted(set(re.findall(r"so-input: (\S+): not found; needed by", run.stderr.decode())))
    want, want_missing = trace(path)
    # The loader does not list itself unless something needs it; so-input names it, last.
    loader = [p for p in want if p == LOADER] or [p for p in listed if p == LOADER]
    want = [p for p in want if p != LOADER] + loader
    if listed == want and missing == want_missing and run.returncode == bool(missing):
        return True
    print(f"{path}: so-input {listed} missing {missing} status {run.returncode}; loader {want} missing {want_missing}; {run.stderr.decode()}")
    return False


def digest(path):
    """XXH3-128 in canonical form, through libxxhash's own function."""
    class Hash(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]
    xxh = ctypes.CDLL("libxxhash.so.0").XXH3_128bits
    xxh.restype, xxh.argtypes = Hash, [ctypes.c_char_p, ctypes.c_size_t]
    data = open(path, "rb").read()
    h = xxh(data, len(data))
    return f"{h.high:016x}{h.low:016x}"


def show(value):
    if value is None or value is False:
        return "-"
    return value.hex() if isinstance(value, bytes) else "yes" if value is True else str(value)


def main(command, *args):
    if command == "fields":
        data = sys.stdin.buffer.read() if args[0] == "-" else open(args[0], "rb").read()
        for o in objects(data):
            print("\t".join(show(o.get(name)) for name in args[1:]))
    elif command == "digest":
        print(digest(args[0]))
    elif command == "compare":
        paths = sorted({os.path.realpath(p) for p in args[1:]})
        results = [compare(args[0], p) for p in paths if is_dynamic(p)]
        print(f"{len(results)} compared, {results.count(False)} different")


main(*sys.argv[1:])
