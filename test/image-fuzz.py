# image-fuzz.py NULL FILE RUNS SEED - changes bytes of FILE's headers and tables at random; the twin is written or refused in one line.
import os, random, struct, subprocess, sys

null, path, runs, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
original = open(path, "rb").read()
phoff, shoff = struct.unpack_from("<QQ", original, 32)
phentsize, phnum, shentsize, shnum = struct.unpack_from("<HHHH", original, 54)
rng = random.Random(seed)
places = [(24, 64), (phoff, phoff + phentsize * phnum), (shoff, shoff + shentsize * shnum)]
for i in range(phnum):
    kind, _, offset, _, _, filesz = struct.unpack_from("<IIQQQQ", original, phoff + i * phentsize)
    if kind in (2, 4):
        places.append((offset, offset + filesz))
for i in range(shnum):
    _, kind, _, _, offset, size = struct.unpack_from("<IIQQQQ", original, shoff + i * shentsize)
    if kind in (2, 11):
        places.append((offset, offset + size))
edges = [0, 1, 7, 8, 0xFF, 0xFFF, 0x1000, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 62, (1 << 63) - 1, (1 << 64) - 1, (1 << 64) - 4096, len(original)]
bad = written = 0
for run in range(runs):
    b = bytearray(original)
    for _ in range(rng.choice((1, 1, 2, 5))):
        start, end = rng.choice(places)
        at = rng.randrange(start, end)
        if rng.random() < 0.5:
            b[at] = rng.randrange(256)
        else:
            width = rng.choice((2, 4, 8))
            at = min(at // width * width, len(b) - width)
            b[at:at + width] = ((rng.choice(edges) + rng.randrange(-1, 2)) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    with open("fuzzed", "wb") as f:
        f.write(b)
    got = subprocess.run([null, "-e", "-x", "twice", "-n", "0x6ffffdf8=1", "fuzzed", "twin"], capture_output=True, text=True, errors="replace")
    written += got.returncode == 0
    if got.returncode not in (0, 1) or (got.returncode == 1 and got.stderr.count("\n") != 1) or "runtime error" in got.stderr:
        bad += 1
        os.rename("fuzzed", "bad-%d-%d" % (seed, run))
        print("bad:", run, got.returncode, got.stderr[:2000])
print("runs", runs, "written", written, "bad", bad)
