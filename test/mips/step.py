#!/usr/bin/python3
"""step.py [--start N,...] [--signal] [--plain] [--log FILE] COUNTERS OBJECT HOST ENDIAN ARG... - runs qemu-ENDIAN ARG... HOST (input/mips-step.c)
under its gdb stub, with the counter file in the folder COUNTERS (SOPROF_DIR), and checks each counter of the profiled OBJECT in each round.

A round without a signal tells how often each block runs.  --signal: one round for each instruction of new text that a round runs,
counting code too; the program is stopped there and gets SIGUSR1, whose handler does the same as a round: each counter must
have grown by twice as much.  --start: does all that with the counters set to N less what one round adds, less what two rounds
add, and less 1, before each round, N being a number such as 0x100000000 (several: one after the other).
--plain: where the program was stopped between the load of a counter's low word and its store, that counter may lack what the handler
counted, and may have 2^32 more where the handler made the low word overflow.
--log FILE: each place and what it was like.  Prints one line of numbers; status 1 when a counter is wrong."""
import argparse
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "oracle"))
sys.path.insert(0, os.path.join(here, ".."))
sys.dont_write_bytecode = True
import counter_file
import qemu

SIGUSR1 = 0x1e      # as gdb numbers them
MASK = (1 << 64) - 1
RETRY = 0x1000fff9      # of the atomic sequence


class Stub:
    """The remote protocol, as much of it as is needed here."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(500):
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.01)
        else:
            raise RuntimeError("no gdb stub")
        self.socket.settimeout(60)
        self.buffer = b""

    def byte(self):
        while not self.buffer:
            more = self.socket.recv(65536)
            if not more:
                raise RuntimeError("the program ended")
            self.buffer += more
        c, self.buffer = self.buffer[:1], self.buffer[1:]
        return c

    def ask(self, packet, answer=True):
        data = packet.encode()
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 255))
        if not answer:
            return None
        while True:
            while self.byte() != b"$":
                pass
            body = b""
            while (c := self.byte()) != b"#":
                body += c
            self.byte(), self.byte()
            self.socket.sendall(b"+")
            if not body.startswith(b"O") or body == b"OK":
                return body.decode()

    def good(self, packet):
        answer = self.ask(packet)
        if answer != "OK":
            raise RuntimeError(f"{packet}: {answer}")

    def stop(self, address):
        self.good(f"Z0,{address:x},4")

    def unstop(self, address):
        self.good(f"z0,{address:x},4")

    def go(self, signal=0, on=None):
        """Goes on; where it stops.  None: the program ended.  on: a breakpoint on which it stands."""
        if on is not None:
            self.unstop(on)
            self.ask("s")
            self.stop(on)
        answer = self.ask(f"C{signal:02x}" if signal else "c")
        if answer[0] in "WX":
            return None
        if int(answer[1:3], 16) != 5:
            raise RuntimeError(f"stopped by a signal: {answer}")
        return self.pc()

    def pc(self):
        registers = self.ask("g")
        return int.from_bytes(bytes.fromhex(registers[37 * 8:38 * 8]), self.order)

    def write(self, address, data):
        self.good(f"M{address:x},{len(data):x}:{data.hex()}")


class Run:
    def __init__(self, a):
        self.obj = qemu.Object(a.object)
        self.order = "big" if a.endian == "mips" else "little"
        symbols = subprocess.run([f"{a.endian}-linux-gnu-nm", a.host], capture_output=True, text=True, check=True).stdout
        symbol = {f[2]: int(f[0], 16) for f in map(str.split, symbols.splitlines()) if len(f) == 3}
        self.marker, self.done = symbol["marker"], symbol["done"]
        self.folder = tempfile.mkdtemp()
        path = os.path.join(self.folder, "s")
        self.process = subprocess.Popen([f"qemu-{a.endian}", "-g", path, *a.args, a.host], stdout=subprocess.PIPE, text=True)
        self.stub = Stub(path)
        self.stub.order = self.order
        self.stub.stop(self.marker)
        if self.stub.go() != self.marker:
            raise RuntimeError("the marker was not reached")
        files = [f for f in os.listdir(a.counters) if f.startswith(self.obj.name + ".")]
        self.file = open(os.path.join(a.counters, files[0]), "r+b")
        head = counter_file.decode(self.file.read())[0]
        self.bias, self.n, self.at = head["load_bias"], head["counters"], head["header_size"]
        self.format = (">" if self.order == "big" else "<") + f"{self.n}Q"

    # The file is mapped by the program: what stands in it is what the program has.
    def read(self):
        return struct.unpack(self.format, os.pread(self.file.fileno(), 8 * self.n, self.at))

    def set(self, values):
        os.pwrite(self.file.fileno(), struct.pack(self.format, *(v & MASK for v in values)), self.at)

    def round(self, place=None):
        """From marker to marker, with a signal at the place.  False: it was not reached."""
        if place is None:
            stopped = self.stub.go(on=self.marker)
        else:
            self.stub.stop(place)
            stopped = self.stub.go(on=self.marker)
            self.stub.unstop(place)
            if stopped == place:
                stopped = self.stub.go(SIGUSR1)
            else:
                place = None
        if stopped != self.marker:
            raise RuntimeError(f"stopped at {stopped:#x}, not at the marker again")
        return place is not None

    def end(self):
        self.stub.write(self.done, (1).to_bytes(4, self.order))
        self.stub.unstop(self.marker)
        if self.stub.go() is not None:
            raise RuntimeError("the program did not end")
        return self.process.communicate()[0]


def windows(obj, i):
    """Places between a load from a counter and the store to it, both in the counting code of row i: [(first, last)]."""
    start = obj.new[i] + (4 if obj.size_flags[i] & qemu.oracle.MAP_MARK else 0)
    found, load = [], {}
    for at in range(start, start + (obj.size_flags[i] >> 24), 4):
        w = obj.words[at - obj.text >> 2]
        op, what = w >> 26, w & 0x03ffffff
        if op in (35, 48):
            load[what] = at
        elif op in (43, 56) and what in load:
            found.append((load[what] + 4, at))
    return found


def links(obj):
    """The program's own load-linked and store-conditional: [(place of the load, of the store, counters of the blocks from one to the other)]."""
    found, load = [], None
    for at in range(obj.text, obj.new[obj.by_new[-1]], 4):
        op = obj.words[at - obj.text >> 2] >> 26
        if op not in (48, 56) or obj.role(at) != "program":
            continue
        if op == 48:
            load = at
        elif load is not None:
            found.append((load, at, {i for i in range(obj.row_of(load), obj.row_of(at) + 1)}))
            load = None
    return found


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--start", default="")
    p.add_argument("--signal", action="store_true")
    p.add_argument("--plain", action="store_true")
    p.add_argument("--log")
    p.add_argument("counters")
    p.add_argument("object")
    p.add_argument("host")
    p.add_argument("endian")
    p.add_argument("args", nargs=argparse.REMAINDER)
    a = p.parse_args()
    run, log = Run(a), open(a.log, "w") if a.log else None
    obj = run.obj
    run.round()
    before = run.read()
    run.round()
    once = [y - x for x, y in zip(before, run.read())]
    run.round()
    if [y - 2 * x for x, y in zip(once, run.read())] != list(before):
        print("two rounds differ")
        return 1
    pairs = links(obj)
    blocks = [i for i in range(obj.blocks) if once[i]]
    places = []
    for i in blocks:
        k = obj.by_new.index(i)
        end = obj.new[obj.by_new[k + 1]] if k + 1 < obj.blocks else obj.new[i] + (obj.size_flags[i] & 0xfffff) + (obj.size_flags[i] >> 24)
        places += [(i, at) for at in range(obj.new[i], end, 4)]
    starts = [None]
    for n in filter(None, a.start.split(",")):
        n = int(n, 0)
        starts += [[n - x for x in once], [n - 2 * x for x in once], [n - 1] * run.n]
    wrong = tolerated = rounds = carries = 0
    interrupted = []
    for start in starts:
        for i, at in (places if a.signal else []) + [(None, None)]:
            if start:
                run.set(start)
            before = run.read()
            reached = run.round(at + run.bias if at is not None else None)
            after, rounds, times = run.read(), rounds + 1, 2 if reached else 1
            interrupted += [at] if reached else []
            carries += sum(x >> 32 != y >> 32 for x, y in zip(before, after))
            again = set()
            for load, store, rows in pairs if reached else []:
                if load < at <= store:      # the handler's counting takes the link away
                    again |= rows
            for k in range(run.n):
                want = before[k] + times * once[k] + (k in again and once[k] > 0) & MASK
                if after[k] == want:
                    continue
                inside = (a.plain and k == i and reached and any(x <= at <= y for x, y in windows(obj, i))
                          and after[k] - want + once[k] in (0, 1 << 32))
                tolerated += inside
                wrong += not inside
                if log or not inside:
                    print(f"{'tolerated' if inside else 'WRONG'}: counter {k} of 0x{obj.old[k]:x} {before[k]:#x} -> {after[k]:#x}, not {want:#x}; "
                          f"interrupted at {at and hex(at)} in block {i} (+{at and at - obj.new[i]})", file=log or sys.stdout)
    before = run.read()
    output = run.end()
    after = run.read()
    if any(after[i] != before[i] for i in blocks):
        print("the counters changed at the end")
        wrong += 1
    if log:
        log.write(output)
    lines = output.splitlines()
    print(lines[0])
    # Where the handler says it was: at the place, or at the branch whose delay slot that is.
    for at, line in zip(interrupted, lines[1:]):
        if int(line, 16) - run.bias not in (at, at - 4):
            print(f"interrupted at {line} instead of {at + run.bias:#x}")
            wrong += 1
    wrong += len(lines) - 1 != len(interrupted)
    # A retry is not made unless a store failed: the branch back and its slot.
    missed = [at for _, at in places if at not in interrupted and obj.role(at) == "counting" and RETRY not in (obj.words[at - obj.text >> 2], obj.words[at - obj.text - 4 >> 2])]
    if log:
        log.writelines(f"not interrupted: {at:#x} {obj.words[at - obj.text >> 2]:#010x}\n" for at in missed)
    print(f"blocks {len(blocks)} places {len(places)} rounds {rounds} interrupted {len(interrupted)} at {len(set(interrupted))} carries {carries} missed {len(missed)} tolerated {tolerated} wrong {wrong}")
    return 1 if wrong or run.process.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
