# xz: liblzma, with its BCJ filters, threads and a damaged file
programs=/usr/bin/xz

prepare() {
	words 6000 11 >words
	head -c 200000 /usr/bin/xz >code
	words 20 1 >few
}

workload() {
	cp "$INPUT/words" "$INPUT/code" .
	xz -9 -k -c words >words.xz
	xz -3 --x86 --lzma2=preset=3 --check=sha256 -c code >code.xz
	xz --format=lzma -2 -c words >words.lzma
	xz -T2 --block-size=65536 -1 -c words >words.mt.xz
	for f in *.xz words.lzma; do xz -dc "$f" | cksum; done
	xz -lvv words.xz code.xz words.mt.xz
	{ head -c 1000 words.xz; head -c 1000 code; } >damaged.xz
	status xz -t damaged.xz
	status xz -d missing.xz
}

workload_small() { xz -0 -c "$INPUT/few"; }
