# a C host over libz: deflate and inflate at all levels and strategies
programs=$INPUT/zhost

prepare() {
	host zhost.c zhost -lz
	words 500 13 >words
	words 20 1 >few
}

workload() {
	zhost "$INPUT/words"
	zhost "$INPUT/few" 3
	status zhost missing
}
