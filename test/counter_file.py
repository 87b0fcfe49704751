#!/usr/bin/python3
"""Prints counter files, decoded by a reader of its own: an oracle for the tests.

usage: counter_file.py [--field NAME | --counter N | --total] FILE...
With no option: all fields of the header as "name: value", then "counter N: value" for each counter that is not 0.
--total sums all counters of each file."""
import argparse
import struct
import sys

FIELDS = (  # name, offset, format
    ('magic', 0, '8s'), ('version', 8, 'I'), ('header_size', 12, 'I'), ('page', 16, 'I'), ('flags', 20, 'I'),
    ('counters', 24, 'Q'), ('blocks', 32, 'Q'), ('map_hash', 40, 'Q'), ('original_build_id', 48, '32s'), ('build_id', 80, '32s'),
    ('original_build_id_size', 112, 'I'), ('build_id_size', 116, 'I'), ('header_address', 120, 'Q'), ('object', 128, '128s'),
    ('load_bias', 256, 'Q'), ('pid', 264, 'I'), ('parent', 268, 'I'), ('start_ns', 272, 'Q'), ('serial', 280, 'I'),
    ('limit', 288, 'Q'), ('executable', 296, '512s'),
)


def text(raw):
    return raw.split(b'\0')[0].decode('utf-8', 'surrogateescape')


def decode(data):
    """The header's fields as a dictionary, and the list of counters."""
    order = '>' if data[8:12] == b'\0\0\0\1' else '<'
    head = {}
    for name, at, form in FIELDS:
        value, = struct.unpack_from(order + form, data, at)
        head[name] = value
    if head['magic'] != b'soprofct':
        raise ValueError('no counter file: it begins with %r' % head['magic'])
    for name in ('original_build_id', 'build_id'):
        head[name] = head[name][:head[name + '_size']].hex()
    for name in ('magic', 'object', 'executable'):
        head[name] = text(head[name])
    return head, list(struct.unpack_from('%s%dQ' % (order, head['counters']), data, head['header_size']))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--field')
    p.add_argument('--counter', type=int)
    p.add_argument('--total', action='store_true')
    p.add_argument('files', nargs='+')
    a = p.parse_args()
    for name in a.files:
        with open(name, 'rb') as f:
            head, counters = decode(f.read())
        if a.field:
            print(head[a.field])
        elif a.counter is not None:
            print(counters[a.counter])
        elif a.total:
            print(sum(counters))
        else:
            for field in head:
                print('%s: %s' % (field, head[field]))
            for i, value in enumerate(counters):
                if value:
                    print('counter %d: %d' % (i, value))


if __name__ == '__main__':
    try:
        main()
    except (OSError, ValueError, struct.error) as e:
        sys.exit('counter_file.py: %s' % e)
