# image-corpus.py NULL LOAD-EACH <paths - writes each object's twin, strips and copies it, loads all four, looks at them with
# readelf and eu-elflint.  Prints "bad: ..." for what an original does and its twin does not, and the sums.
import collections, os, re, subprocess, sys, tempfile

null, load_each = sys.argv[1:]
sums = collections.Counter(written=0, refused=0, loadable=0, known=0)
# False complaints of eu-elflint: a NOBITS section in the file's range that an earlier bss would have; a relocation whose symbol's
# size, added to its place, reaches a read-only segment.
known = re.compile(r"soprof\.counters' not fully contained in segment|read-only section modified")


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")


def load(paths):
    out = subprocess.run([load_each], input="".join(p + "\n" for p in paths), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, errors="replace").stdout.splitlines()
    return [line for line in out if re.match(r"1$|0 ", line)]


def lint(path):
    out = run("eu-elflint", "--gnu-ld", path).stdout.splitlines()
    return collections.Counter(re.sub(r"\d+", "N", line) for line in out if line != "No errors")


def later_tools(path, twin):
    outs = []
    for command in (["strip", "-o", twin + ".strip", twin], ["objcopy", twin, twin + ".objcopy"], ["eu-strip", "-o", twin + ".eu", twin]):
        got = run(*command)
        if got.returncode or got.stderr:
            was = run(*[path if word == twin else word for word in command])
            if not was.returncode and not was.stderr:
                print("bad:", path, command[0], got.stderr.strip())
            run(*command)
        outs.append(twin + "." + {"strip": "strip", "objcopy": "objcopy", "eu-strip": "eu"}[command[0]])
    return outs


def look(path, twin):
    if run("readelf", "-lSW", twin).stderr and not run("readelf", "-lSW", path).stderr:
        print("bad:", path, "readelf warns")
    for message in lint(twin) - lint(path):
        if known.search(message):
            sums["known"] += 1
        else:
            print("bad:", path, "eu-elflint:", message)
    loaded = load([path, twin] + later_tools(path, twin))
    sums["loadable"] += loaded[0] == "1"
    for name, line in zip(("twin", "strip", "objcopy", "eu-strip"), loaded[1:]):
        if (line == "1") != (loaded[0] == "1"):
            print("bad:", path, name, line)


for path in sys.stdin.read().splitlines():
    with open(path, "rb") as f:
        if f.read(4) != b"\x7fELF":
            continue
    with tempfile.TemporaryDirectory(dir=".") as directory:
        twin = os.path.abspath(os.path.join(directory, os.path.basename(path)))
        got = run(null, "-o", os.path.dirname(path), path, twin)
        if got.returncode:
            sums["refused"] += 1
            print(got.stderr.strip())
            continue
        sums["written"] += 1
        look(path, twin)
for name, n in sums.items():
    print(name, n)
