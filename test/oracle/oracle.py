"""What the oracles share: profiled objects, counter files, callgrind's output, and the comparison of the three.

Reads everything by itself (struct over formats/counters.h's layout), so that no code of the tools is trusted here."""
import bisect
import os
import re
import struct
import sys
from array import array
from collections import defaultdict

MAP_MARK, MAP_SPLIT, MAP_UNCOUNTED = 1 << 20, 1 << 21, 1 << 22
FORK_SEEN, FORK_UNSAFE, IDENTITY = 2, 4, 8
REL_NOT_MOVED = 8
HEADER = struct.Struct("<8sIIII QQQ 32s32s II Q 128s Q II Q II Q 512s")
HEADER_FIELDS = ("magic version header_size page flags counters blocks map_hash original_build_id build_id original_build_id_size "
                 "build_id_size header_address object load_bias pid parent start_ns serial reserved limit executable").split()
# Instructions that callgrind sees executed more often than they are started: repeated strings, restarted system calls.
AGAIN = re.compile(rb"\x0f\x05|"
                   rb"(?:[\x66\x67\x26\x2e\x36\x3e\x64\x65\xf2\xf3]*[\xf2\xf3][\x66\x67\x26\x2e\x36\x3e\x64\x65\xf2\xf3]*)"
                   rb"[\x40-\x4f]?[\x6c-\x6f\xa4-\xa7\xaa-\xaf]", re.S)


# mov $clone, $vfork or $clone3, %eax; syscall
VFORK = re.compile(rb"\xb8(?:\x38\x00|\x3a\x00|\xb3\x01)\x00\x00\x0f\x05")


class Fault(Exception):
    pass


def cbor(data, at):
    """One item of a CBOR sequence and the offset behind it."""
    head = data[at]
    major, small = head >> 5, head & 31
    at += 1
    if small < 24:
        n = small
    else:
        size = 1 << (small - 24)
        n = int.from_bytes(data[at:at + size], "big")
        if major == 7:
            n = {2: "<e", 4: ">f", 8: ">d"}.get(size) and struct.unpack({2: ">e", 4: ">f", 8: ">d"}[size], data[at:at + size])[0] or n
        at += size
    if major == 0:
        return n, at
    if major == 1:
        return -1 - n, at
    if major in (2, 3):
        raw = bytes(data[at:at + n])
        return (raw if major == 2 else raw.decode("utf-8", "replace")), at + n
    if major == 4:
        items = []
        for _ in range(n):
            item, at = cbor(data, at)
            items.append(item)
        return items, at
    if major == 5:
        items = {}
        for _ in range(n):
            key, at = cbor(data, at)
            items[key], at = cbor(data, at)
        return items, at
    if major == 6:
        return cbor(data, at)
    return {20: False, 21: True, 22: None}.get(small, n), at


class Object:
    """A profiled object: its sections, map table, springboards and what it says was not moved."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)
        with open(path, "rb") as f:
            data = f.read()
        if data[:6] != b"\x7fELF\x02\x01":
            raise Fault(f"{path}: not a 64-bit little-endian ELF file")
        shoff, = struct.unpack_from("<Q", data, 0x28)
        shentsize, shnum, shstrndx = struct.unpack_from("<HHH", data, 0x3a)
        heads = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shentsize) for i in range(shnum)]
        names = heads[shstrndx][4]
        self.sections = {}
        self.code = []    # executable sections of the original: (start, end, name)
        for name, kind, flags, addr, offset, size, *_ in heads:
            name = data[names + name:data.index(b"\0", names + name)].decode()
            self.sections[name] = (addr, offset, size)
            if flags & 4 and kind != 8 and not name.startswith(".soprof"):
                self.code.append((addr, addr + size, name))
        if ".soprof.map" not in self.sections:
            raise Fault(f"{path}: no .soprof.map section")

        def bytes_of(name):
            addr, offset, size = self.sections.get(name, (0, 0, 0))
            return data[offset:offset + size]
        self.text, _, size = self.sections[".soprof.text"]
        self.text_end = self.text + size
        self.text_bytes = bytes_of(".soprof.text")
        table = array("I", bytes_of(".soprof.map"))
        if sys.byteorder == "big":
            table.byteswap()
        self.old, self.new, self.size_flags = table[0::3], table[1::3], table[2::3]
        self.blocks = len(self.old)
        self.fork = self.symbol(bytes_of(".dynsym"), bytes_of(".dynstr"), b"_Fork")
        self.springs = [s for s, in struct.iter_unpack("<I", bytes_of(".soprof.springs"))]
        self.not_moved = self.read_info(bytes_of(".soprof.info"))
        self.by_new = sorted(range(self.blocks), key=self.new.__getitem__)
        self.new_starts = array("I", map(self.new.__getitem__, self.by_new))

    @staticmethod
    def symbol(symbols, strings, wanted):
        """Where a dynamic symbol begins and ends, (0, 0) where there is none."""
        for name, _, _, _, value, size in struct.iter_unpack("<IBBHQQ", symbols):
            if strings[name:name + len(wanted) + 1] == wanted + b"\0":
                return value, value + size
        return 0, 0

    @staticmethod
    def read_info(data):
        """(start, size, name, why) of what stayed, ascending."""
        at, ranges = 0, []
        while at < len(data):
            item, at = cbor(data, at)
            if isinstance(item, list) and len(item) >= 3 and item[0] == REL_NOT_MOVED:
                details = item[3] if len(item) > 3 else {}
                ranges.append((item[1], item[2], details.get("name") or "", details.get("why") or ""))
        return sorted(ranges)

    def head(self, i):
        """Where new text must have been executed as often as the counter of block i says."""
        new, size_flags = self.new[i], self.size_flags[i]
        if size_flags & MAP_MARK:
            return new
        at = new + (size_flags >> 24)
        if self.again(at):
            return new     # the counting code before it is not repeated
        return at

    def again(self, address):
        return AGAIN.match(self.text_bytes, address - self.text)

    def before_syscall(self, i):
        """True when a system call stands in block i, or in one of the two that it falls through to."""
        for _ in range(3):
            start = self.new[i] + (self.size_flags[i] >> 24)
            end = start + (self.size_flags[i] & 0xfffff)
            if b"\x0f\x05" in self.text_bytes[start - self.text:end - self.text]:
                return True
            k = bisect.bisect_left(self.new_starts, end)
            if k == self.blocks or self.new_starts[k] >= end + 16:    # there may be padding before a loop
                return False
            i = self.by_new[k]
        return False

    def before_fork(self, i):
        """True for what runs in _Fork up to its system call: callgrind's output at its entry is the parent's alone, the rest the child has too."""
        return self.fork[0] <= self.new[i] < self.fork[1]

    def after_vfork(self, i):
        at = self.new[i] - self.text
        return VFORK.search(self.text_bytes, max(0, at - 64), at)

    def row_of(self, address):
        """The number of the block whose new text holds the address, or None."""
        k = bisect.bisect_right(self.new_starts, address) - 1
        return self.by_new[k] if k >= 0 else None

    def role(self, address):
        """What the instruction at an address of new text is: "program", "uncounted", "counting" (and all else of ours)."""
        i = self.row_of(address)
        if i is None:
            return "counting"
        new, size_flags = self.new[i], self.size_flags[i]
        offset, inserted, size = address - new, size_flags >> 24, size_flags & 0xfffff
        if size_flags & MAP_MARK:
            if 4 <= offset < 4 + inserted:
                return "counting"
            if offset >= 4 + inserted:
                offset -= inserted
        else:
            offset -= inserted
        if not 0 <= offset < size:
            return "counting"
        return "uncounted" if size_flags & MAP_UNCOUNTED else "program"

    def stayed(self, address):
        """Why an address of old text was not moved: (start, end, label), or None where nothing says so."""
        k = bisect.bisect_right(self.not_moved, (address, 1 << 64)) - 1
        if k >= 0:
            start, size, name, why = self.not_moved[k]
            if address < start + size:
                return start, start + size, f"{name or 'code'}: {why}"
        return None


class Counters:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            data = f.read(HEADER.size)
        if len(data) < HEADER.size or data[:8] != b"soprofct":
            raise Fault(f"{path}: not a counter file")
        for field, value in zip(HEADER_FIELDS, HEADER.unpack_from(data)):
            setattr(self, field, value)
        self.object = self.object.split(b"\0")[0].decode()
        self.executable = self.executable.split(b"\0")[0].decode()

    def values(self):
        numbers = array("Q")
        with open(self.path, "rb") as f:
            f.seek(self.header_size)
            numbers.fromfile(f, self.counters)
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers


def read_counters(folder):
    """The counter files of the last program that each process ran: {pid: [Counters]}, and how many earlier ones there are."""
    by_pid, earlier = defaultdict(list), 0
    for name in sorted(os.listdir(folder)):
        if not name.startswith(".") and name != "not-profiled":
            c = Counters(os.path.join(folder, name))
            by_pid[c.pid].append(c)
    for pid, files in by_pid.items():
        last = max(files, key=lambda c: c.start_ns)
        newest = {}
        for c in files:
            if c.executable == last.executable and c.serial >= newest.get(c.object, c).serial:
                newest[c.object] = c
        earlier += len(files) - len(newest)
        by_pid[pid] = list(newest.values())
    return by_pid, earlier


class Executed:
    """Callgrind's output (or the stepper's): executions of each instruction, {object: {link-time address: count}}."""

    def __init__(self, path, earlier=()):
        self.path = path
        self.pid, self.part, self.command, self.creator = 0, 1, "", ""
        self.objects = defaultdict(lambda: defaultdict(int))
        self.read(path)
        # Those of a program that this one took the place of have higher numbers, or were overwritten.
        for number, part in earlier:
            if number < self.part:
                self.read(part, header=False)
        self.objects = {os.path.realpath(k) if k[0] == "/" else k: {int(a, 16): n for a, n in v.items() if n} for k, v in self.objects.items()}

    def read(self, path, header=True):
        current, skip = self.objects["???"], False
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                c = line[0]
                if c == "0":
                    if skip:
                        skip = False
                        continue
                    address, _, count = line.partition(" ")
                    current[address] += int(count or 0)
                elif c == "o" and line.startswith("ob="):
                    current = self.objects[line[3:-1]]
                elif c == "c" and line.startswith("calls="):
                    skip = True
                elif c == "p" and line.startswith("pid: ") and header:
                    self.pid = int(line[5:])
                elif c == "p" and line.startswith("part: ") and header:
                    self.part = int(line[6:])
                elif c == "c" and line.startswith("creator:"):
                    self.creator = line[8:].strip()
                elif c == "c" and line.startswith("cmd:"):
                    self.command = line[4:].strip()
                elif c == "p" and line.startswith("positions:") and line.split() != ["positions:", "instr"]:
                    raise Fault(f"{path}: positions must be instr alone (--dump-instr=yes --dump-line=no)")

    def of(self, obj, counters):
        """Of one object; addresses that callgrind could not give to any object are told by where it was loaded."""
        found = dict(self.objects.get(os.path.realpath(obj.path), {}))
        bias = counters.load_bias if counters else 0
        for address, n in self.objects.get("???", {}).items() if counters else ():
            at = address - bias
            if obj.text <= at < obj.text_end or any(a <= at < b for a, b, _ in obj.code):
                found[at] = found.get(at, 0) + n
        return found


class Tally:
    """What was found out about one object, over all processes."""

    def __init__(self, obj):
        self.obj = obj
        self.compared = self.executed = self.processes = self.forked = self.unseen = 0
        self.program = self.uncounted = self.old = 0
        self.mismatches = []      # (pid, row number, counter, executions)
        self.old_at = defaultdict(int)
        self.spring_mismatches = []

    def add(self, executed, counters, pid):
        found = executed.of(self.obj, counters)
        self.processes += 1
        for address, n in found.items():
            if self.obj.text <= address < self.obj.text_end:
                role = self.obj.role(address)
                if self.obj.again(address) and role != "counting":
                    n = min(n, found.get(self.obj.head(self.obj.row_of(address)), 0))
                if role == "program":
                    self.program += n
                elif role == "uncounted":
                    self.uncounted += n
            elif any(a <= address < b for a, b, _ in self.obj.code):
                self.old += n
                self.old_at[address] += n
        if counters is None or counters.flags & IDENTITY:
            return
        obj, run_is_exact = self.obj, executed.creator == "stepper"
        if counters.blocks != obj.blocks or counters.counters != obj.blocks + len(obj.springs):
            raise Fault(f"{counters.path}: {counters.blocks} blocks and {counters.counters} counters, but {obj.path} has "
                        f"{obj.blocks} rows and {len(obj.springs)} springboards")
        forked, unsafe = counters.parent != 0 or counters.flags & FORK_SEEN, counters.flags & FORK_UNSAFE
        self.forked += bool(forked)
        values = counters.values()
        self.compared += obj.blocks
        # Where the counter is zero and nothing of the block was executed they are equal.
        rows = {i for i in range(obj.blocks) if values[i]}
        self.executed += len(rows)
        rows.update(obj.row_of(a) for a in found if obj.text <= a < obj.text_end)
        for i in sorted(rows - {None}):
            if obj.size_flags[i] & MAP_UNCOUNTED:
                continue
            count, expected = values[i], found.get(obj.head(i), 0)
            # Callgrind gives a forked child what its parent executed since its last output: that at the entry of _Fork.
            if count == expected or unsafe and count < expected or forked and count + 1 == expected and obj.before_fork(i):
                continue
            # Callgrind adds up a run of instructions at its end, which one that ends in a system call has not when the thread
            # or the process ends there (exit, kill, cancellation).  Behind a vfork it sees nothing of the parent until it returns.
            if count > expected and not run_is_exact and (obj.before_syscall(i) or obj.after_vfork(i)):
                self.unseen += count - expected
                continue
            self.mismatches.append((pid, i, count, expected))
        for i, entry in enumerate(obj.springs):
            count, expected = values[obj.blocks + i], found.get(entry, 0)
            if count != expected and not (unsafe and count < expected):
                self.spring_mismatches.append((pid, entry, count, expected))

    @property
    def total(self):
        return self.program + self.uncounted + self.old

    def old_ranges(self):
        """Executed old text by what it lies in: [(instructions, start, end, label, named)], the most first."""
        ranges, springs = defaultdict(int), set(self.obj.springs)
        for address, n in self.old_at.items():
            if address in springs or address - 4 in springs:
                ranges[(address, address, "springboard", True)] += n
                continue
            stayed = self.obj.stayed(address)
            if stayed:
                ranges[stayed + (True,)] += n
            else:
                section = next((name for a, b, name in self.obj.code if a <= address < b), "?")
                ranges[(address & ~0x3f, (address & ~0x3f) + 64, f"in {section}, NOT NAMED", False)] += n
        return sorted(((n,) + r for r, n in ranges.items()), reverse=True)


def split_parts(paths):
    """Callgrind leaves an output RUN.PID.N at each fork (test/oracle/valgrind), and RUN.PID at the end: the last ones, {last: [(N, path)]}."""
    last, parts = [], defaultdict(list)
    for path in paths:
        m = re.fullmatch(r"(.+\.\d+)\.(\d+)", path)
        if m:
            parts[m[1]].append((int(m[2]), path))
        else:
            last.append(path)
    return last, parts


def compare(runs, counter_folder, object_folder):
    """Tallies by object's name; runs are the paths of callgrind's output files."""
    by_pid, earlier = read_counters(counter_folder)
    objects, tallies, seen = {}, {}, set()
    runs, parts = split_parts(runs)
    for name in os.listdir(object_folder):
        path = os.path.join(object_folder, name)
        if os.path.isfile(path):
            objects[os.path.realpath(path)] = path
    for path in runs:
        run = Executed(path, parts[path])
        files = {c.object: c for c in by_pid.get(run.pid, [])}
        seen.add(run.pid)
        for real, path in objects.items():
            counters = files.get(os.path.basename(path))
            if counters is None and real not in run.objects:
                continue
            if path not in tallies:
                tallies[path] = Tally(Object(path))
            tallies[path].add(run, counters, run.pid)
    unseen = sum(len(files) for pid, files in by_pid.items() if pid not in seen)
    return tallies, earlier + unseen


def report(title, tallies, not_compared, out, limit=10):
    """Prints it; the number of faults."""
    faults, program, total = 0, 0, 0
    print(f"{title}:", file=out)
    for path in sorted(tallies, key=lambda p: -tallies[p].total):
        t = tallies[path]
        if not t.total:
            continue
        program += t.program
        total += t.total
        bad = len(t.mismatches) + len(t.spring_mismatches)
        print(f"  {t.obj.name:32s} {t.compared:9d} counters compared, {t.executed:7d} not zero, {bad} differ"
              f"{f', {t.forked} forked' if t.forked else ''}"
              f"{f', {t.unseen} not seen by callgrind (exit, vfork)' if t.unseen else ''}; "
              f"{t.program:12d} in new text, {t.old} in old, {t.uncounted} uncounted: {t.program / t.total:.6f}", file=out)
        for pid, i, count, expected in t.mismatches[:limit]:
            old, new, size_flags = t.obj.old[i], t.obj.new[i], t.obj.size_flags[i]
            print(f"    process {pid}: block {i} at {old:#x}, new {new:#x}, {size_flags & 0xfffff} bytes, flags {size_flags >> 20 & 15:#x}: "
                  f"counter {count}, executed {expected}", file=out)
        for pid, entry, count, expected in t.spring_mismatches[:limit]:
            print(f"    process {pid}: springboard at {entry:#x}: counter {count}, executed {expected}", file=out)
        unnamed = 0
        for k, (n, start, end, label, named) in enumerate(t.old_ranges()):
            unnamed += not named
            if k < limit or not named and unnamed <= limit:
                print(f"    old text {start:#x}-{end:#x} {label}: {n} instructions", file=out)
        faults += bad + unnamed
    coverage = program / total if total else 0
    note = f"; {not_compared} counter files of processes without an output of the oracle not compared" if not_compared else ""
    print(f"  {title}: coverage {coverage:.6f} ({program} of {total} instructions, {sum(1 for t in tallies.values() if t.total)} objects), "
          f"{faults} faults{note}", file=out)
    return faults, coverage
