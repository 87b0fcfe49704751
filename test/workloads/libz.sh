# a C host over libz: deflate and inflate at all levels and strategies
programs=$INPUT/zhost

prepare() {
	host zhost.c zhost -lz
	words 2500 13 >words
}

workload() {
	"$INPUT/zhost" "$INPUT/words"
	"$INPUT/zhost" /dev/null
	status "$INPUT/zhost" missing
}
