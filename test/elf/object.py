#!/usr/bin/env python3
"""Prints the same facts of an ELF file as object-print.c, read by pyelftools."""
import sys

from elftools.elf.elffile import ELFFile
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.sections import NoteSection, SymbolTableSection

RELATIVE = {"x64": 8, "x86": 8, "AArch64": 1027}
BITS64 = (1 << 64) - 1


def word_at(elf, address):
    size = elf.elfclass // 8
    for s in elf.iter_segments("PT_LOAD"):
        if s["p_vaddr"] <= address < s["p_vaddr"] + s["p_filesz"]:
            elf.stream.seek(s["p_offset"] + address - s["p_vaddr"])
            return int.from_bytes(elf.stream.read(size), "little" if elf.little_endian else "big")
    return 0


def relr(elf):
    """gABI: an even word is a slot's address; the bits of an odd one say which of the next words are slots."""
    size, where = elf.elfclass // 8, 0
    for s in elf.iter_sections():
        if s["sh_type"] not in ("SHT_RELR", 19):
            continue
        data = s.data()
        for i in range(0, len(data), size):
            word = int.from_bytes(data[i:i + size], "little" if elf.little_endian else "big")
            if word & 1 == 0:
                yield word
                where = word + size
                continue
            yield from (where + size * (bit - 1) for bit in range(1, 8 * size) if word >> bit & 1)
            where += (8 * size - 1) * size


def relocs(elf):
    dynamic = next((s for s in elf.iter_segments() if isinstance(s, DynamicSegment)), None)
    tables = dynamic.get_relocation_tables() if dynamic else {}
    plt = range(0)
    if "JMPREL" in tables:
        t = tables["JMPREL"]
        plt = range(t._offset, t._offset + t._size)
    for kind, name in (("RELA", "rela"), ("REL", "rel"), ("JMPREL", "plt")):
        if kind not in tables:
            continue
        table = tables[kind]
        for i, r in enumerate(table.iter_relocations()):
            if kind != "JMPREL" and table._offset + i * table.entry_size in plt:
                continue
            addend = r["r_addend"] if r.is_RELA() else word_at(elf, r["r_offset"])
            what = r["r_info_type"]
            if elf["e_machine"] == "EM_MIPS" and elf.elfclass == 32 and what == 3 and r["r_info_sym"]:
                what = 2        # object.h: REL32 of a symbol is given as R_MIPS_32, without one it is a RELATIVE one
            yield name, i, r["r_offset"], addend, what, r["r_info_sym"]
    for i, slot in enumerate(relr(elf)):
        yield "relr", i, slot, word_at(elf, slot), RELATIVE[elf.get_machine_arch()], 0


def symbols(section):
    from elftools.elf import enums
    def number(table, value):
        return table[value] if isinstance(value, str) else value
    for s in section.iter_symbols():
        e = s.entry
        yield (e["st_value"], e["st_size"], number(enums.ENUM_ST_SHNDX, e["st_shndx"]), number(enums.ENUM_ST_INFO_TYPE, e["st_info"]["type"]),
               number(enums.ENUM_ST_INFO_BIND, e["st_info"]["bind"]), number(enums.ENUM_ST_VISIBILITY, e["st_other"]["visibility"]), s.name)


def main(path):
    elf = ELFFile(open(path, "rb"))
    soname = ident = "-"
    for s in elf.iter_segments():
        if isinstance(s, DynamicSegment):
            soname = next((t.soname for t in s.iter_tags("DT_SONAME")), "-")
    ident = next((n["n_desc"] for s in elf.iter_sections() if isinstance(s, NoteSection) for n in s.iter_notes() if n["n_type"] == "NT_GNU_BUILD_ID"), "")
    print(f"soname {soname}\nid {ident}\nprofiled 0")
    for i, s in enumerate(elf.iter_sections()):
        if i:
            code = bool(s["sh_flags"] & 4) and s["sh_size"] > 0
            print(f"section {s.name} {int(code)} 1")
    for name, i, offset, addend, kind, symbol in relocs(elf):
        print(f"reloc {name} {i} {offset:x} {addend & BITS64:x} {kind} {symbol}")
    for kind, what in (("SHT_DYNSYM", "dynsym"), ("SHT_SYMTAB", "symtab")):
        for s in elf.iter_sections(kind):
            if isinstance(s, SymbolTableSection):
                for x in symbols(s):
                    print(what, "%x %x %d %d %d %d %s" % x)


main(sys.argv[1])
