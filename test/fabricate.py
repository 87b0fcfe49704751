#!/usr/bin/python3
"""fabricate.py - profiled objects, counter files and profile streams made by hand, from the description in formats/ and not from our code.

    fabricate.py object  ORIGINAL OUT [block=FROM-TO[:uncounted|:twice|:goes-on|:store]]... [spring=NAME]... [stays=FROM-TO:WHY]... [flags=N] [map_hash=N]
    fabricate.py counts  OBJECT FILE N...  [FIELD=VALUE]...
    fabricate.py profile ORIGINAL FILE [block=FROM-TO:COUNT]... [old=NAME:COUNT]... [stays=FROM-TO:WHY]... [row=TYPE:ADDRESS:INFO:COUNT]... [KEY=VALUE]...

FROM, TO and NAME are symbols of ORIGINAL or numbers."""
import ctypes, os, struct, subprocess, sys, tempfile
import cbor2
from elftools.elf.elffile import ELFFile

HEADER = '<8sIIIIQQQ32s32sIIQ128sQIIQIIQ512s'
FIELDS = ('magic version header_size page flags counters blocks map_hash original_build_id build_id original_build_id_size build_id_size '
          'header_address object load_bias pid parent start_ns serial reserved limit executable').split()
XXH = ctypes.CDLL('libxxhash.so.0')
XXH.XXH3_64bits.restype = ctypes.c_uint64
XXH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

class Hash128(ctypes.Structure):
    _fields_ = [('low', ctypes.c_uint64), ('high', ctypes.c_uint64)]
XXH.XXH3_128bits.restype = Hash128
XXH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

class Original:
    def __init__(self, path):
        self.path = os.path.realpath(path)
        self.bytes = open(path, 'rb').read()
        self.symbols, self.build_id = {}, b''
        with open(path, 'rb') as f:
            elf = ELFFile(f)
            for section in elf.iter_sections():
                if section['sh_type'] in ('SHT_SYMTAB', 'SHT_DYNSYM'):
                    self.symbols.update((s.name, s['st_value']) for s in section.iter_symbols() if s['st_shndx'] != 'SHN_UNDEF')
                if section.name == '.note.gnu.build-id':
                    self.build_id = section.data()[16:]
    def address(self, name):
        return self.symbols[name] if name in self.symbols else int(name, 0)
    def span(self, text):
        start, end = (self.address(part) for part in text.split('-'))
        return start, end - start
    def info(self):
        h = XXH.XXH3_128bits(self.bytes, len(self.bytes))
        info = {'path': self.path, 'name': os.path.basename(self.path), 'machine': 'x86_64', 'class': 64, 'size': len(self.bytes),
                'digest': struct.pack('>QQ', h.high, h.low)}
        if self.build_id:
            info['build-id'] = self.build_id
        return info

def items(*values):
    return b''.join(cbor2.dumps(v, canonical=True) for v in values)

def listed(kind, info, rows):
    return items([kind, 1], info, *rows, [-1, len(rows)])

def add_sections(source, out, sections):
    with tempfile.TemporaryDirectory() as d:
        args = ['objcopy']
        for i, (name, data) in enumerate(sections.items()):
            path = os.path.join(d, str(i))
            open(path, 'wb').write(data)
            args += ['--add-section', f'{name}={path}']
        subprocess.run(args + [source, out], check=True)

def fabricate_object(original, out, args):
    o, rows, springs, stays, given = Original(original), [], [], [], {}
    for key, value in (a.split('=', 1) for a in args):
        if key == 'block':
            value, _, mark = value.partition(':')
            start, size = o.span(value)
            row = (start, 0x10000 + len(rows) * 32, size | {'uncounted': 1 << 22, 'goes-on': 3 << 22, 'store': 1 << 23}.get(mark, 0) | 8 << 24)
            rows += [row, row] if mark == 'twice' else [row]
        elif key == 'spring':
            springs.append(o.address(value))
        elif key == 'stays':
            value, _, why = value.partition(':')
            start, size = o.span(value)
            stays.append([8, start, size, {'why': why, 'name': 'stays'}])
        else:
            given[key] = int(value, 0)
    table = b''.join(struct.pack('<III', *row) for row in sorted(rows, key=lambda r: r[:2]))
    header = dict.fromkeys(FIELDS, 0)
    header.update(magic=b'soprofct', version=1, header_size=4096, page=4096, counters=len(rows) + len(springs), blocks=len(rows),
                  map_hash=XXH.XXH3_64bits(table, len(table)), original_build_id=o.build_id, build_id=b'\x5a' * 20,
                  original_build_id_size=len(o.build_id), build_id_size=20, object=os.path.basename(out).encode(), executable=b'')
    header.update(given)
    add_sections(original, out, {
        '.soprof.map': table, '.soprof.springs': b''.join(struct.pack('<I', s) for s in springs),
        '.soprof.counters': pack(header), '.soprof.info': listed('relocations', o.info(), [[0, 0x1000, 0]] + stays)})

def pack(header):
    return struct.pack(HEADER, *(header[f] for f in FIELDS)).ljust(4096, b'\0')

def fabricate_counts(profiled, path, args):
    with open(profiled, 'rb') as f:
        data = ELFFile(f).get_section_by_name('.soprof.counters').data()
    header = dict(zip(FIELDS, struct.unpack_from(HEADER, data)))
    header.update(pid=4711, executable=b'/usr/bin/app')
    counts = [int(a) for a in args if '=' not in a]
    for key, value in (a.split('=', 1) for a in args if '=' in a):
        header[key] = value.encode() if isinstance(header[key], bytes) else int(value, 0)
    open(path, 'wb').write(pack(header) + struct.pack(f'<{len(counts)}Q', *counts))

def fabricate_profile(original, path, args):
    o, rows = Original(original), []
    info = dict(o.info(), processes=1)
    for key, value in (a.split('=', 1) for a in args):
        if key == 'block':
            value, _, count = value.partition(':')
            rows.append([0, *o.span(value), int(count)])
        elif key == 'old':
            value, _, count = value.partition(':')
            rows.append([1, o.address(value), 0, int(count)])
        elif key == 'stays':
            value, _, why = value.partition(':')
            rows.append([2, *o.span(value), 0, {'why': why}])
        elif key == 'row':
            rows.append([int(v, 0) for v in value.split(':')])
        else:
            info[key] = int(value) if value.isdigit() else value
    open(path, 'wb').write(listed('profile', info, rows))

if __name__ == '__main__':
    {'object': fabricate_object, 'counts': fabricate_counts, 'profile': fabricate_profile}[sys.argv[1]](sys.argv[2], sys.argv[3], sys.argv[4:])
