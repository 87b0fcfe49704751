#!/usr/bin/python3
"""mips1-check.py ORDER FILE END - checks that the words of FILE up to the offset END are MIPS I code (with ll, sc and sync, which the
kernel emulates) that can run at any address: no absolute jump, every branch inside, no register used by the instruction behind its
load, HI and LO not written within two instructions behind a read of them, no load in a delay slot.  Prints how many instructions of
some kinds there are.  ORDER: big or little."""
import struct
import sys
from collections import Counter

SPECIAL = {0: "sll", 2: "srl", 3: "sra", 4: "sllv", 6: "srlv", 7: "srav", 8: "jr", 9: "jalr", 12: "syscall", 15: "sync", 16: "mfhi",
           18: "mflo", 17: "mthi", 19: "mtlo", 24: "mult", 25: "multu", 26: "div", 27: "divu", 32: "add", 33: "addu", 34: "sub",
           35: "subu", 36: "and", 37: "or", 38: "xor", 39: "nor", 42: "slt", 43: "sltu"}
LOADS = {32: "lb", 33: "lh", 34: "lwl", 35: "lw", 36: "lbu", 37: "lhu", 38: "lwr", 48: "ll"}
STORES = {40: "sb", 41: "sh", 42: "swl", 43: "sw", 46: "swr", 56: "sc"}
BRANCHES = {4: "beq", 5: "bne", 6: "blez", 7: "bgtz"}
IMMEDIATE = {8: "addi", 9: "addiu", 10: "slti", 11: "sltiu", 12: "andi", 13: "ori", 14: "xori", 15: "lui"}
REGIMM = {0: "bltz", 1: "bgez", 16: "bltzal", 17: "bgezal"}

PADDING = 0x04170001    # what lld puts between sections


def decode(word):
    """Name, registers read, register written by a load, branch offset or None."""
    if word == PADDING:
        return "padding", set(), None, None
    op, rs, rt, function, imm = word >> 26, word >> 21 & 31, word >> 16 & 31, word & 63, (word & 0xffff ^ 0x8000) - 0x8000
    if op == 0 and function in SPECIAL:
        return SPECIAL[function], {rs, rt}, None, None
    if op == 1 and rt in REGIMM:
        return REGIMM[rt], {rs}, None, imm
    if op in BRANCHES:
        return BRANCHES[op], {rs, rt}, None, imm
    if op in IMMEDIATE:
        return IMMEDIATE[op], {rs}, None, None
    if op in LOADS:
        return LOADS[op], {rs} | ({rt} if op in (34, 38) else set()), rt, None
    if op in STORES:
        return STORES[op], {rs, rt}, rt if op == 56 else None, None
    return None, None, None, None


def main():
    order, path, end = sys.argv[1], sys.argv[2], int(sys.argv[3], 0)
    data = open(path, "rb").read()[:end]
    insns = [decode(w) for w, in struct.iter_unpack(">I" if order == "big" else "<I", data[:len(data) & ~3])]
    faults, kinds = 0, Counter()

    def fault(i, what):
        nonlocal faults
        faults += 1
        print(f"{4 * i:#x}: {what}")
    for i, (name, _, loaded, offset) in enumerate(insns):
        if name is None:
            fault(i, "no MIPS I instruction, or an absolute jump")
            continue
        kinds[name] += 1
        after = insns[i + 1] if i + 1 < len(insns) else (None, set(), None, None)
        if loaded and loaded in (after[1] or ()):
            fault(i, f"{name}: ${loaded} is used at once")
        if offset is not None and not 0 <= i + 1 + offset < len(insns):
            fault(i, f"{name} leads out")
        if (offset is not None or name in ("jr", "jalr")) and after[2] is not None:
            fault(i, f"{name}: a load in its delay slot")
        if name in ("mfhi", "mflo") and any(n[0] in ("mult", "multu", "div", "divu", "mthi", "mtlo") for n in insns[i + 1:i + 3]):
            fault(i, f"{name}: HI and LO are written too soon")
    print(len(insns), *(f"{n} {kinds[n]}" for n in ("syscall", "bgezal", "ll", "sc", "jalr", "lui")))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
