# bzip2: libbz2
where=debian
programs=$ROOT/bin/bzip2

prepare() {
	words 600 12 >words
	yes aaaaaaaaaaaaaaaabbbb | head -c 60000 >runs
}

workload() {
	bzip2 -9 -k -c "$INPUT/words" >words.bz2
	bzip2 -1 -v -c "$INPUT/runs" >runs.bz2
	bzip2 -dc words.bz2 | cksum
	bzip2 -dsc runs.bz2 | cksum
	{ head -c 3000 words.bz2; echo damage; } >damaged.bz2
	status bzip2 -tvv damaged.bz2
}
