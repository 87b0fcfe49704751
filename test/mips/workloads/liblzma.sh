# a C host over liblzma
programs=$INPUT/lzmahost

prepare() {
	host lzmahost.c lzmahost -llzma
	words 500 11 >words
}

workload() {
	lzmahost "$INPUT/words"
	status lzmahost missing
}
