# bzip2: libbz2
programs=/bin/bzip2

prepare() {
	words 4000 12 >words
	yes aaaaaaaaaaaaaaaabbbb | head -c 60000 >runs
	words 20 1 >few
}

workload() {
	bzip2 -9 -k -c "$INPUT/words" >words.bz2
	bzip2 -1 -v -c "$INPUT/runs" >runs.bz2
	bzip2 -dc words.bz2 | cksum
	bzip2 -dsc runs.bz2 | cksum
	{ head -c 3000 words.bz2; echo damage; } >damaged.bz2
	status bzip2 -tvv damaged.bz2
}

workload_small() { bzip2 -1 -c "$INPUT/few"; }
