# a C host over libbz2
programs=$INPUT/bzhost

prepare() {
	host bzhost.c bzhost -lbz2
	words 600 12 >words
	yes aaaaaaaaaaaaaaaabbbb | head -c 60000 >runs
}

workload() {
	bzhost "$INPUT/words"
	bzhost "$INPUT/runs"
	status bzhost missing
}
