#!/bin/bash
# python.sh - CPython's own test modules: the executable, which has a fixed address, and every extension module profiled.
name=python
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
TESTS="test_json test_dict test_generators test_exceptions test_re test_struct test_zlib test_bz2 test_lzma test_decimal test_pickle test_hashlib"
[ -d /usr/lib/python3.11/test ] || { echo "$name: skipped: no libpython3.11-testsuite"; exit 3; }
verdicts() { grep -aE '^(test_.* \.\.\. |Ran |OK|FAILED)' "$1" | sed -E 's/ in [0-9.]+s//; s/No module named .*//' | sort; }
run_tests() { (cd "$WORK" && "$@" /usr/bin/python3.11 -m test -v -u none $TESTS); }

run_tests >"$WORK/plain" 2>&1
plain=$?
run_tests record --discover >"$WORK/profiled" 2>&1
[ $? = $plain ] || failed "another status than $plain"
diff <(verdicts "$WORK/plain") <(verdicts "$WORK/profiled") >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "other verdicts"; }
echo "$name: $(verdicts "$WORK/plain" | grep -c '^test_') verdicts, the same; status $plain"
check_all_replaced
coverage /usr/bin/python3.11 -m unittest -q test.test_generators test.test_struct test.test_json.test_scanstring
check_clean
