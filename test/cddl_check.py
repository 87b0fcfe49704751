#!/usr/bin/python3
"""cddl_check.py [--strict] SCHEMA RULE [FILE]: check a CBOR sequence against an array rule whose elements are its items.

Reads the part of RFC 8610 that formats/*.cddl use: choices, literals, ranges, arrays, maps, groups and their choices,
occurrence marks, .size, #6.n tags; an unknown mark is an error.  Each item must be in deterministic encoding (RFC 8949,
4.2.1).  With --strict a map may hold only the keys that the schema names, whatever "* tstr => any" permits.
Prints "N items match RULE", or "FILE: item N at byte B: fault" and ends with 1."""
import io
import re
import sys

import cbor2

TOKEN = re.compile(r'"[^"]*"|#6\.\d+|\.\.|\.size|=>|//|-?0x[0-9a-fA-F]+|-?\d+|[A-Za-z_$@][\w$@-]*(?:\.[\w$@-]+)*|[][(){}=/:,?*+]')
SPACE = re.compile(r'(?:\s+|;[^\n]*)*')
EVER = 1 << 62


def kind(*types):
    return lambda v: type(v) in types


PRELUDE = {
    'uint': lambda v: type(v) is int and v >= 0, 'nint': lambda v: type(v) is int and v < 0, 'int': kind(int),
    'tstr': kind(str), 'text': kind(str), 'bstr': kind(bytes), 'bytes': kind(bytes), 'bool': kind(bool),
    'true': lambda v: v is True, 'false': lambda v: v is False, 'null': lambda v: v is None, 'nil': lambda v: v is None,
    'any': lambda v: True,
}


class Fault(Exception):
    pass


class Parser:
    """Schema text to rules: name -> type or group, as nested tuples."""

    def __init__(self, text):
        self.tokens, at = [], SPACE.match(text).end()
        while at < len(text):
            m = TOKEN.match(text, at)
            if not m:
                raise Fault(f'schema: cannot read {text[at:at + 20]!r}')
            self.tokens.append(m.group())
            at = SPACE.match(text, m.end()).end()
        self.tokens += [None] * 3
        self.at, self.rules = 0, {}
        while self.tokens[self.at] is not None:
            name = self.take()
            self.take('=')
            if name in self.rules:
                raise Fault(f'schema: {name} is defined twice')
            self.rules[name] = self.choice()

    def see(self, *wanted):
        return self.tokens[self.at] in wanted

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if token is None or wanted not in (None, token):
            raise Fault(f'schema: token {self.at} is {token!r}, not {wanted!r}')
        self.at += 1
        return token

    def choice(self):
        types = [self.controlled()]
        while self.see('/'):
            self.take()
            types.append(self.controlled())
        return types[0] if len(types) == 1 else ('choice', types)

    def controlled(self):
        left = self.primary()
        if self.see('..'):
            self.take()
            return ('range', self.number(left), self.number(self.primary()))
        if self.see('.size'):
            self.take()
            right = self.primary()
            if right[0] == 'group':
                right = as_type(right)
            low, high = right[1:] if right[0] == 'range' else (self.number(right),) * 2
            return ('size', left, low, high)
        return left

    @staticmethod
    def number(node):
        if node[0] != 'literal' or type(node[1]) is not int:
            raise Fault(f'schema: a number expected, not {node}')
        return node[1]

    def primary(self):
        token = self.take()
        ends = {'[': ']', '{': '}', '(': ')'}
        if token in ends:
            return ({'[': 'array', '{': 'map', '(': 'group'}[token], self.group(ends[token]))
        if token.startswith('#6.'):
            self.take('(')
            inner = self.choice()
            self.take(')')
            return ('tag', int(token[3:]), inner)
        if token[0] == '"':
            return ('literal', token[1:-1])
        if re.match(r'-?\d', token):
            return ('literal', int(token, 0))
        if re.match(r'[A-Za-z_$@]', token):
            return ('prelude', token) if token in PRELUDE else ('name', token)
        raise Fault(f'schema: token {self.at - 1} is {token!r}, not a type')

    def group(self, end):
        """A list of choices, each a list of (least, most, key, type)."""
        choices = [[]]
        while not self.see(end):
            if self.see('//'):
                self.take()
                choices.append([])
                continue
            choices[-1].append(self.entry())
            if self.see(','):
                self.take()
        self.take(end)
        return choices

    def entry(self):
        marks = {'?': (0, 1), '*': (0, EVER), '+': (1, EVER)}
        least, most = marks[self.take()] if self.see(*marks) else (1, 1)
        if self.tokens[self.at + 1] == ':':
            word = self.take()
            self.take(':')
            key = int(word, 0) if re.match(r'-?\d', word) else word.strip('"')
            return (least, most, ('literal', key), self.choice())
        value, key = self.choice(), None
        if self.see('=>'):
            self.take()
            key, value = value, self.choice()
        return (least, most, key, value)


def as_type(node):
    """A group of one plain entry is that entry's type in parentheses."""
    choices = node[1]
    if len(choices) == 1 and len(choices[0]) == 1 and choices[0][0][:3] == (1, 1, None):
        return choices[0][0][3]
    raise Fault(f'schema: a group stands where a type is needed')


class Machine:
    """The items of an array or a sequence against a group: a set of states moves along, so nothing is tried twice."""

    def __init__(self, schema, choices):
        self.schema, self.states = schema, [('end',)]
        self.now = self.close({self.build(choices, 0)})

    def add(self, state):
        self.states.append(state)
        return len(self.states) - 1

    def build(self, choices, after):
        starts = []
        for entries in choices:
            at = after
            for least, most, _, node in reversed(entries):
                at = self.repeat(node, least, most, at)
            starts.append(at)
        return self.add(('fork', starts))

    def repeat(self, node, least, most, after):
        if most == EVER:
            loop = self.add(None)
            self.states[loop] = ('fork', [after, self.one(node, loop)])
            at = loop
        else:
            at = after
            for _ in range(most - least):
                at = self.add(('fork', [after, self.one(node, at)]))
        for _ in range(least):
            at = self.one(node, at)
        return at

    def one(self, node, after):
        node = self.schema.resolve(node)
        return self.build(node[1], after) if node[0] == 'group' else self.add(('test', node, after))

    def close(self, states):
        seen, left = set(), list(states)
        while left:
            s = left.pop()
            if s not in seen:
                seen.add(s)
                left += self.states[s][1] if self.states[s][0] == 'fork' else []
        return seen

    def step(self, item):
        tests = [self.states[s] for s in self.now if self.states[s][0] == 'test']
        self.now = self.close({after for _, node, after in tests if self.schema.match(node, item)})
        return bool(self.now)

    def done(self):
        return 0 in self.now


class Schema:
    def __init__(self, text, strict):
        self.rules, self.strict, self.machines = Parser(text).rules, strict, {}

    def resolve(self, node):
        while node[0] == 'name':
            if node[1] not in self.rules:
                raise Fault(f'schema: no rule {node[1]}')
            node = self.rules[node[1]]
        return node

    def match(self, node, v):
        node = self.resolve(node)
        return getattr(self, 'match_' + node[0])(v, *node[1:])

    def match_prelude(self, v, name):
        return PRELUDE[name](v)

    def match_literal(self, v, literal):
        return type(v) is type(literal) and v == literal

    def match_choice(self, v, types):
        return any(self.match(t, v) for t in types)

    def match_range(self, v, low, high):
        return type(v) is int and low <= v <= high

    def match_size(self, v, inner, low, high):
        return self.match(inner, v) and (v < 1 << 8 * high if type(v) is int else low <= len(v) <= high)

    def match_tag(self, v, number, inner):
        return isinstance(v, cbor2.CBORTag) and v.tag == number and self.match(inner, v.value)

    def match_group(self, v, choices):
        return self.match(as_type(('group', choices)), v)

    def match_array(self, v, choices):
        if type(v) is not list:
            return False
        machine = self.machines.get(id(choices))
        if not machine:
            machine = self.machines[id(choices)] = Machine(self, choices)
            machine.first = machine.now
        machine.now = machine.first
        inner, ok = machine, all(machine.step(item) for item in v)
        return ok and inner.done()

    def match_map(self, v, choices):
        return isinstance(v, dict) and any(self.match_members(v, self.members(entries)) for entries in choices)

    def members(self, entries):
        """Entries with groups that stand among them put in their place."""
        for entry in entries:
            node = self.resolve(entry[3])
            if entry[2] is None and node[0] == 'group':
                yield from self.members(node[1][0])
            else:
                yield entry

    def match_members(self, v, entries):
        named, open_to = set(), []
        for least, _, key, node in entries:
            if key[0] != 'literal':
                open_to.append((key, node))
                continue
            named.add(key[1])
            if key[1] not in v:
                if least:
                    return False
            elif not self.match(node, v[key[1]]):
                return False
        rest = [k for k in v if k not in named]
        if self.strict:
            return not rest
        return all(any(self.match(k, key) and self.match(n, v[key]) for k, n in open_to) for key in rest)


def check(schema, rule, data):
    node = schema.resolve(('name', rule))
    if node[0] != 'array':
        raise Fault(f'schema: {rule}: a sequence is described by an array')
    machine, stream, n, at = Machine(schema, node[1]), io.BytesIO(data), 0, 0
    while at < len(data):
        where = f'item {n} at byte {at}'
        try:
            item = cbor2.CBORDecoder(stream).decode()
        except (cbor2.CBORDecodeError, ValueError, EOFError, OverflowError, RecursionError) as e:
            raise Fault(f'{where}: {e}')
        raw = data[at:stream.tell()]
        if cbor2.dumps(item, canonical=True) != raw:
            raise Fault(f'{where}: not in deterministic encoding')
        if not machine.step(item):
            raise Fault(f'{where}: {item!r} does not match')
        at, n = stream.tell(), n + 1
    if not machine.done():
        raise Fault(f'the sequence ends too early, after {n} items')
    return n


def main(arguments):
    strict = arguments[:1] == ['--strict']
    arguments = arguments[strict:]
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    name = arguments[2] if len(arguments) == 3 else 'standard input'
    try:
        with open(arguments[0], encoding='utf-8') as f:
            schema = Schema(f.read(), strict)
        with open(arguments[2], 'rb') if len(arguments) == 3 else sys.stdin.buffer as f:
            data = f.read()
        print(f'{check(schema, arguments[1], data)} items match {arguments[1]}')
    except Fault as e:
        print(f'{name}: {e}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
