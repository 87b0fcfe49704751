#!/usr/bin/python3
"""run.py BIN LOAD WORK [--max BYTES] [--jobs N] [DIR...]   every shared object under DIR (default /usr/lib) through the pipeline

For each object: a counted and a poisoned identity twin; both have to load with dlopen(RTLD_NOW) wherever the original does and
resolve as many ifuncs.  Prints faults, the reasons why code stays, and the share of the FDEs' bytes that moved.  Status 1 for
a fault, less than 99.5 % moved, or more than one object in 200 refused."""
import argparse, collections, concurrent.futures, hashlib, os, re, shutil, subprocess, sys

p = argparse.ArgumentParser()
p.add_argument('bin'), p.add_argument('load'), p.add_argument('work'), p.add_argument('dirs', nargs='*')
p.add_argument('--max', type=int, default=0, help='leave out larger files'), p.add_argument('--jobs', type=int, default=2)
a = p.parse_intermixed_args()	# folders may follow options
os.environ['PATH'] = a.bin + ':' + os.environ['PATH']


def objects():
    seen = set()
    for top in a.dirs or ['/usr/lib']:
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if '.so' not in name or os.path.islink(path) or not os.path.isfile(path):
                    continue
                size = os.path.getsize(path)
                with open(path, 'rb') as f:
                    head = f.read(20)
                # ELF, 64 bits, little-endian, ET_DYN, x86-64
                if head[:6] != b'\x7fELF\x02\x01' or head[16:18] != b'\x03\0' or head[18:20] != b'\x3e\0':
                    continue
                if a.max and size > a.max:
                    continue
                with open(path, 'rb') as f:
                    digest = hashlib.sha1(f.read()).digest()
                if digest not in seen:
                    seen.add(digest)
                    yield path


def run(*command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors='replace', timeout=900, **more)


def one(task):
    number, path = task
    out = os.path.join(a.work, str(number))
    for kind in ('counted', 'poison'):
        os.makedirs(f'{out}/{kind}', exist_ok=True)
    said, table = [], out + '/table'
    first = run('sh', '-c', 'so-input -q --with-app --only "*/${1##*/}" "$1" >"$2/list" ; reloc-extract -v -o "$2/table" "$2/list"', 'sh', path, out)
    said += first.stderr.splitlines()
    for kind, options in (('counted', ['-v']), ('poison', ['-q', '--identity', '--poison-old'])):
        got = run('so-gen', *options, '-o', f'{out}/{kind}', table)
        said += got.stderr.splitlines()
    # so-gen names the file as the loader asks for it (the soname)
    made = [path] + [f'{out}/{kind}/{n}' for kind in ('counted', 'poison') for n in sorted(os.listdir(f'{out}/{kind}')) if n[0] != '.']
    env = dict(os.environ, SOPROF_DIR=out)
    loaded = run(a.load, *made, env=env).stdout
    verdicts = [re.search('^' + re.escape(x) + r' ((?:ok|no|signal).*)$', loaded, re.M) for x in made]
    verdicts = [v[1] if v else 'no verdict' for v in verdicts]
    shutil.rmtree(out, ignore_errors=True)
    return path, said, len(made), verdicts


total = collections.Counter()
reasons, refused, faults = collections.Counter(), [], []
with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
    for path, said, made, verdicts in pool.map(one, enumerate(objects())):
        total['objects'] += 1
        moved = kept = 0
        why = [s for s in said if 'not profiled:' in s]
        static = [s for s in said if 'nothing to do' in s]
        for s in said:
            m = re.search(r', (\d+) bytes, not moved: (.*)', s)
            if m:
                reasons[re.sub(r'0x[0-9a-f]+', '0x...', m[2])] += int(m[1])
            m = re.search(r': (\d+) of (\d+) bytes that unwinding entries cover moved', s)
            if m:
                moved, kept = int(m[1]), int(m[2]) - int(m[1])
        total['moved'] += moved
        total['kept'] += kept
        if moved + kept and kept / (moved + kept) > 0.02:
            print(f'{path}: {100 * kept / (moved + kept):.2f} % stays', flush=True)
        if made < 3:
            (refused if why else faults).append(f'{path}: ' + (why or said or ['nothing written'])[0])
            print(path, (why or said)[:2], flush=True)
            continue
        total['loadable'] += verdicts[0].startswith('ok')
        for kind, v in zip(('counted', 'poison'), verdicts[1:]):
            if verdicts[0].startswith('ok') and v != verdicts[0]:
                faults.append(f'{path}: {kind}: {v}')
                print(faults[-1], flush=True)

for why, n in reasons.most_common(25):
    print(f'{n:12} bytes stay: {why}')
for line in refused:
    print('refused:', line)
for line in faults:
    print('fault:', line)
share = 100 * total['moved'] / max(1, total['moved'] + total['kept'])
print(f"{total['objects']} objects, {total['loadable']} of them load, {total['moved'] + total['kept']} bytes under unwinding entries, {share:.3f} % moved, "
      f"{len(refused)} refused, {len(faults)} faults")
sys.exit(bool(faults) or share < 99.5 or len(refused) * 200 > total['objects'])
