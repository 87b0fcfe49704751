#!/bin/bash
# numpy.sh - NumPy's own tests of its core: extension modules, libblas, the executable at a fixed address.
name=numpy
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
tests=/usr/lib/python3/dist-packages/numpy/core/tests
[ -d $tests ] && $PYTHON -c 'import pytest, hypothesis' 2>/dev/null || { echo "$name: skipped: no NumPy with tests"; exit 3; }
FILES="$tests/test_half.py $tests/test_indexing.py $tests/test_einsum.py $tests/test_datetime.py"
run_tests() { (cd "$WORK" && "$@" /usr/bin/python3.11 -m pytest -q -p no:cacheprovider -rA -W ignore $FILES); }
verdicts() { grep -aE '^(PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)' "$1" | sort; }

run_tests >"$WORK/plain" 2>&1
plain=$?
run_tests record --discover >"$WORK/profiled" 2>&1
[ $? = $plain ] || failed "another status than $plain"
diff <(verdicts "$WORK/plain") <(verdicts "$WORK/profiled") >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "other verdicts"; }
echo "$name: $(verdicts "$WORK/plain" | wc -l) verdicts, the same; status $plain"
check_all_replaced
coverage /usr/bin/python3.11 -c 'import numpy; a = numpy.arange(900.0).reshape(30, 30); print(numpy.einsum("ij,jk", a, a).sum(), (a @ a).sum())'
check_clean
