# permissions.py [-s SEED] [-n RANDOM] [-t TYPES] [--emulate QEMU] TABLE COMMAND... - deletes rows from a relocation table, makes the objects, runs
# the command with them: its output must not change, and no block may count more than with the whole table.
# Each row type is deleted wholly, then RANDOM times 10, 50 and 90 % of all rows.  Prints one line for each subset, "bad: ..."
# for what is wrong.  The command runs without address randomisation and with the same environment each time.
import argparse, io, os, random, shlex, shutil, subprocess, sys
import cbor2
from counts import objects

TYPES = {0: "prologue", 1: "address", 2: "reference", 3: "range", 4: "table", 5: "entry", 6: "pad", 7: "start", 8: "not moved", 9: "label"}
HERE = os.path.abspath("subset")	# the same path each time: its length reaches the program's stack

options = argparse.ArgumentParser()
options.add_argument("-s", "--seed", type=int, default=1)
options.add_argument("-n", "--random", type=int, default=1)
options.add_argument("-t", "--types", default="0,1,2,3,4,5,6,7,8,9")
options.add_argument("--only", help="one subset: its name as printed")
options.add_argument("--ignore", default="", help="an object whose counts depend on what moved (it unwinds)")
options.add_argument("--reader", default="0-0", help="LOW-HIGH, addresses of code that reads unwinding tables: what it runs depends on them")
options.add_argument("--emulate", type=shlex.split, default=[], help="qemu with its options, that the command runs under")
options.add_argument("table")
options.add_argument("command", nargs=argparse.REMAINDER)
options = options.parse_args()
reader = [int(a, 16) for a in options.reader.split("-")]
bad = False


def read_items():
    with open(options.table, "rb") as f:
        while True:
            try:
                yield cbor2.load(f)
            except EOFError:
                return


def subset(items, keep):
    out, kept = io.BytesIO(), 0
    for item in items:
        if isinstance(item, list) and item[0] == -1:
            item = [-1, kept]
        elif isinstance(item, dict):
            kept = 0
        elif isinstance(item[0], int):
            if not keep(item):
                continue
            kept += 1
        cbor2.dump(item, out, canonical=True)
    return out.getvalue()


def fail(name, what):
    global bad
    bad = True
    print("bad:", name + ":", what)


# The emulator itself must not look for libraries there.
def run_command():
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "SOPROF_DIR": HERE + "/counters"}
    path = "LD_LIBRARY_PATH=" + HERE + "/out"
    how = options.emulate + ["-E", path] if options.emulate else ["env", path]
    return subprocess.run(["setarch", "-R"] + how + options.command, env=env, stdin=subprocess.DEVNULL, capture_output=True)


def run(name, table):
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE + "/counters")
    made = subprocess.run(["so-gen", "-o", HERE + "/out", "-"], input=table, capture_output=True)
    if made.returncode not in (0, 1):
        fail(name, f"so-gen ends with {made.returncode}")
    got = run_command()
    counts = {}
    if os.listdir(HERE + "/counters"):
        with open(HERE + "/profile", "wb") as f:
            subprocess.run(["count-extract", "-q", "-O", HERE + "/counters", HERE + "/out"], stdout=f, check=True)
        for head, rows in objects(HERE + "/profile"):
            counts[head["name"]] = {r[1]: r[3] for r in rows if r[0] == 0}
    return got, counts, made.stderr.decode(errors="replace").splitlines()


def compare(name, table, plain, full):
    got, counts, said = run(name, table)
    if (got.returncode, got.stdout, got.stderr) != plain:
        fail(name, f"status {got.returncode}, was {plain[0]}; {got.stderr[:300]!r}; output " + ("equal" if got.stdout == plain[1] else "differs"))
    total = 0
    for lib, blocks in counts.items():
        if lib == options.ignore:
            continue
        total += sum(blocks.values())
        more = [a for a in blocks if blocks[a] > full[lib].get(a, 0) and not reader[0] <= a < reader[1]]
        if more:
            a = more[0]
            fail(name, f"{lib}: {len(more)} blocks count more, 0x{a:x} {blocks[a]}, was {full[lib].get(a, 'no block')}")
    left = sum(any(w in s for w in ("not moved", "not profiled", "no rows for")) for s in said)
    print(f"{name}: {total} executions of blocks, {left} messages on what was left")
    return total, left


items = list(read_items())
shutil.rmtree(HERE, ignore_errors=True)
plain = run_command()
plain = plain.returncode, plain.stdout, plain.stderr
_, full, _ = run("whole", subset(items, lambda row: True))
whole = sum(sum(b.values()) for b in full.values())
print(f"whole: {whole} executions of blocks")
cases = [(TYPES[t], lambda row, t=t: row[0] != t) for t in map(int, options.types.split(","))]
for i in range(options.random):
    for per_cent in (10, 50, 90):
        r = random.Random(f"{options.seed} {i} {per_cent}")
        cases.append((f"{per_cent} % of all, {i}", lambda row, r=r, p=per_cent: r.random() * 100 >= p))
    for t in map(int, options.types.split(",")):	# half of one kind: where some of what belongs together is missing
        r = random.Random(f"{options.seed} {i} {t}")
        cases.append((f"half of {TYPES[t]}, {i}", lambda row, r=r, t=t: row[0] != t or r.random() < .5))
for name, keep in cases:
    if options.only in (None, name):
        compare(name, subset(items, keep), plain, full)
sys.exit(bad)
