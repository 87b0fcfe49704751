# a C host that embeds libpython3.11: the interpreter, modules of C, exceptions, generators
where=debian
programs=$INPUT/pyhost
also=$(echo "$ROOT"/usr/lib/python3.11/lib-dynload/{_json,_decimal,_queue,_contextvars}.*.so)

prepare() {
	host pyhost.c pyhost "$(library libpython3.11.so.1.0)" -Wl,--unresolved-symbols=ignore-in-shared-libs
	cat >script.py <<-'P'
	import collections, decimal, functools, itertools, json, re, struct, sys, zlib
	words = open(sys.argv[1]).read().split()
	print(collections.Counter(words).most_common(5))
	print(zlib.crc32(" ".join(sorted(set(words))).encode()), len(zlib.compress("".join(words).encode())))
	print(json.dumps(json.loads('{"a": [1, 2.5, null, {"b": "\\u00e9"}]}'), sort_keys=True))
	print(decimal.Decimal(2).sqrt(), sum(i ** 3 for i in range(200)), 3 ** 200 % 10 ** 30)
	print(re.sub(r"(\w)(\w+)", lambda m: m[2] + m[1], " ".join(words[:20])))
	print(struct.pack("<IdH", 7, 2.5, 9).hex(), functools.reduce(lambda a, b: a * 31 + b & 0xffff, range(99)))
	def tree(n):
	    if n:
	        yield from tree(n - 1)
	        yield n
	        yield from tree(n - 1)
	print(*itertools.islice(tree(6), 20))
	class Problem(Exception): pass
	try:
	    try:
	        raise Problem("inner")
	    finally:
	        print("finally")
	except Problem as e:
	    print("caught", e)
	print({k: v for k, v in zip("abc", map(float.hex, (0.1, 1e300, -2.5)))})
	1 / 0
	P
	words 200 21 >words
}

workload() {
	export PYTHONPATH=$OUT PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 PYTHONHOME=$ROOT/usr HOME=$PWD
	status pyhost "$INPUT/script.py" "$INPUT/words"
	status pyhost -c 'import sys; print(sys.byteorder, sys.maxsize); sys.exit(3)'
}
