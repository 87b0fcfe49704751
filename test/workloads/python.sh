# a C host that embeds libpython3.11 and runs Python's own tests
programs=$INPUT/pyhost
also=$(echo /usr/lib/python3.11/lib-dynload/{_json,_testcapi,_contextvars,_decimal,_asyncio,_queue}.*.so)

prepare() { host pyhost.c pyhost $(python3.11-config --includes) -lpython3.11; }

workload() {
	local test tests=${TESTS:-test_json test_dict test_generators test_exceptions}
	export HOME=$PWD PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$OUT
	[ -z "${ORACLE:-}" ] || tests="test_dict test_generators"
	for test in $tests; do
		echo "$test"
		status pyhost -m unittest -v test.$test >$test.txt 2>&1
		tail -n 3 $test.txt
	done
	# Passed and skipped tests with their reasons, not the times.
	sed -i -E 's/^Ran ([0-9]+) tests? in .*/Ran \1 tests/' *.txt
	status pyhost -c 'import sys; print(sys.version); sum(i * i for i in range(1000)); 1/0'
}
