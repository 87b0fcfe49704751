# counts.py PROFILE OBJECT [SYMBOL...] - from a profile stream, for the object whose base name is OBJECT: the count of the block that
# begins at SYMBOL (looked up with pyelftools in the original), or without SYMBOL all blocks, "address count" a line.
import cbor2, os, sys
from elftools.elf.elffile import ELFFile


def objects(path):
    with open(path, "rb") as f:
        now, rows = None, None
        while True:
            try:
                item = cbor2.load(f)
            except EOFError:
                return
            if isinstance(item, dict):
                now, rows = item, []
            elif isinstance(item[0], str):
                pass
            elif item[0] == -1:
                yield now, rows
            else:
                rows.append(item)


def symbol(path, name):
    with open(path, "rb") as f:
        elf = ELFFile(f)
        for table in (".symtab", ".dynsym"):
            section = elf.get_section_by_name(table)
            for s in section.iter_symbols() if section else ():
                if s.name == name and s["st_shndx"] != "SHN_UNDEF":
                    return s["st_value"]
    raise SystemExit(f"{path}: no symbol {name}")


if __name__ == "__main__":
    for head, rows in objects(sys.argv[1]):
        if os.path.basename(head["name"]) != sys.argv[2]:
            continue
        blocks = {r[1]: r[3] for r in rows if r[0] == 0}
        for name in sys.argv[3:]:
            print(blocks.get(symbol(head["path"], name), "none"))
        if len(sys.argv) == 3:
            for address in sorted(blocks):
                print(f"{address:x} {blocks[address]}")
