# xz: liblzma, with its filters, threads and a damaged file
where=debian
programs=$ROOT/usr/bin/xz
count=atomic

prepare() {
	words 1000 11 >words
	head -c 60000 "$ROOT/usr/bin/xz" >code
}

workload() {
	cp "$INPUT/words" "$INPUT/code" .
	xz -6 -k -c words >words.xz
	xz -3 --arm --lzma2=preset=3 --check=sha256 -c code >code.xz
	xz --format=lzma -2 -c words >words.lzma
	xz -T2 --block-size=16384 -1 -c words >words.mt.xz
	for f in *.xz words.lzma; do xz -dc "$f" | cksum; done
	xz -lvv words.xz code.xz words.mt.xz
	{ head -c 1000 words.xz; head -c 1000 code; } >damaged.xz
	status xz -t damaged.xz
	status xz -d missing.xz
}
