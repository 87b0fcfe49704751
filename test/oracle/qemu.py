"""The comparison of oracle.py for MIPS objects, with what qemu executed (qemu-trace) in the place of callgrind's output."""
import bisect
import os
import struct
import sys
from array import array
from collections import defaultdict

import oracle
from oracle import Fault

SPRING_WORDS = 5
SYSCALL = 0x0000000c    # its code field is zero in Linux programs


MAP_GOES_ON = 1 << 23

class Object(oracle.Object):
    """A profiled MIPS object, of either byte order."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)
        with open(path, "rb") as f:
            data = f.read()
        if data[:5] != b"\x7fELF\x01" or data[5] not in (1, 2):
            raise Fault(f"{path}: not a 32-bit ELF file")
        self.order = order = "<>"[data[5] - 1]
        shoff, = struct.unpack_from(order + "I", data, 0x20)
        shentsize, shnum, shstrndx = struct.unpack_from(order + "HHH", data, 0x2e)
        heads = [struct.unpack_from(order + "10I", data, shoff + i * shentsize) for i in range(shnum)]
        names = heads[shstrndx][4]
        self.sections, self.code = {}, []
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
        self.words = self.numbers("I", bytes_of(".soprof.text")[:size & ~3])
        table = self.numbers("I", bytes_of(".soprof.map"))
        self.old, self.new, self.size_flags = table[0::3], table[1::3], table[2::3]
        self.blocks = len(self.old)
        self.springs = list(self.numbers("I", bytes_of(".soprof.springs")))
        self.not_moved = self.read_info(bytes_of(".soprof.info"))
        self.by_new = sorted(range(self.blocks), key=self.new.__getitem__)
        self.new_starts = array("I", map(self.new.__getitem__, self.by_new))

    def numbers(self, code, data):
        values = array(code, data)
        if (self.order == "<") != (sys.byteorder == "little"):
            values.byteswap()
        return values

    def again(self, address):
        """A system call that was interrupted is started again."""
        return self.text <= address < self.text_end and self.words[address - self.text >> 2] == SYSCALL

    def before_syscall(self, i):
        return False    # the trace misses nothing

    def role(self, address):
        """An instruction may have become several: what stands behind the counting code, up to the next block, is the program's."""
        i = self.row_of(address)
        if i is None:
            return "counting"
        mark = 4 if self.size_flags[i] & oracle.MAP_MARK else 0
        if mark <= address - self.new[i] < mark + (self.size_flags[i] >> 24):
            return "counting"
        return "program" if self.is_counted(i) else "uncounted"

    def first(self, i):
        """The first row of the block that row i is part of."""
        while self.size_flags[i] & MAP_GOES_ON:
            i -= 1
        return i

    def is_counted(self, i):
        i = self.first(i)
        while self.size_flags[i] & oracle.MAP_UNCOUNTED:
            i += 1
            if i == self.blocks or not self.size_flags[i] & MAP_GOES_ON:
                return False
        return True

    def head(self, i):
        """A block that is counted in a row behind its first is begun as often as the counter says."""
        return super().head(self.first(i))


class Counters(oracle.Counters):
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            data = f.read(oracle.HEADER.size)
        if len(data) < oracle.HEADER.size or data[:8] != b"soprofct":
            raise Fault(f"{path}: not a counter file")
        self.order = ">" if data[8:12] == b"\0\0\0\1" else "<"
        for field, value in zip(oracle.HEADER_FIELDS, struct.unpack_from(self.order + oracle.HEADER.format[1:], data)):
            setattr(self, field, value)
        self.object = self.object.split(b"\0")[0].decode()
        self.executable = self.executable.split(b"\0")[0].decode()

    def values(self):
        numbers = array("Q")
        with open(self.path, "rb") as f:
            f.seek(self.header_size)
            numbers.fromfile(f, self.counters)
        if (self.order == "<") != (sys.byteorder == "little"):
            numbers.byteswap()
        return numbers


class Trace:
    """What one process executed: {address: how often}; also what oracle.Tally asks of callgrind's output."""
    creator = "stepper"    # exact

    def __init__(self, path):
        self.path = path
        self.counts = {}
        with open(path, "rb") as f:
            magic, self.pid, pages, full = struct.unpack("=8s3Q", f.read(32))
            if magic != b"qemuruns":
                raise Fault(f"{path}: not a trace")
            if full:
                raise Fault(f"{path}: the table was too small")
            for _ in range(pages):
                page = array("Q")
                page.fromfile(f, 1025)
                self.counts.update((page[0] + 4 * i, n) for i, n in enumerate(page[1:]) if n)

    def of(self, obj, counters):
        """Of one object, by its link-time addresses."""
        if counters is None:
            return {}
        ranges = [(obj.text, obj.text_end)] + [(a, b) for a, b, _ in obj.code]
        bias, found = counters.load_bias, {}
        for address, n in self.counts.items():
            at = address - bias
            if any(a <= at < b for a, b in ranges):
                found[at] = n
        return found

    @property
    def total(self):
        return sum(self.counts.values())


class Tally(oracle.Tally):
    """In a forked process too the trace knows what happened since the fork; before its first look at the fork nothing is counted."""

    def add(self, executed, counters, pid):
        if counters and counters.flags & oracle.FORK_SEEN:
            counters.flags &= ~oracle.FORK_SEEN
            counters.parent = 0
        super().add(executed, counters, pid)

    def old_ranges(self):
        """A springboard has up to five instructions: those behind the first are moved there before the others are looked at."""
        springs = set(self.obj.springs)
        for address in [a for a in self.old_at if a not in springs and any(a - 4 * k in springs for k in range(2, SPRING_WORDS))]:
            self.old_at[next(address - 4 * k for k in range(2, SPRING_WORDS) if address - 4 * k in springs)] += self.old_at.pop(address)
        return super().old_ranges()


def compare(traces, counter_folder, object_folder):
    """Tallies by object's path, and how many counter files had no trace.  Of an object that was loaded several times in a process
    (dlclose, dlopen) the counts are those of all its files."""
    files = [Counters(os.path.join(counter_folder, name)) for name in sorted(os.listdir(counter_folder)) if not name.startswith(".")]
    by_pid = defaultdict(lambda: defaultdict(list))
    for c in files:
        by_pid[c.pid][c.object].append(c)
    tallies, seen, several = {}, 0, 0
    for path in traces:
        trace = Trace(path)
        for name, loads in by_pid[trace.pid].items():
            target = os.path.join(object_folder, name)
            if target not in tallies:
                tallies[target] = Tally(Object(target))
            seen += len(loads)
            if len(loads) > 1:
                loads = join(loads)
                several += len(loads) > 1
            for c in loads:
                tallies[target].add(trace, c, trace.pid)
    return tallies, len(files) - seen


class Joined:
    """The counter files of one object that was loaded at the same address each time."""

    def __init__(self, parts):
        self.__dict__.update(parts[-1].__dict__)
        self.parts = parts

    def values(self):
        return [sum(v) for v in zip(*(c.values() for c in self.parts))]


def join(loads):
    by_bias = defaultdict(list)
    for c in loads:
        by_bias[c.load_bias].append(c)
    return [Joined(parts) if len(parts) > 1 else parts[0] for parts in by_bias.values()]
