# tar: making, listing, comparing and unpacking, sparse files, long names, a damaged archive
programs=/bin/tar

prepare() {
	mkdir -p "tree/$(printf 'long%.0s' $(seq 30))" tree/b
	words 800 21 >tree/words
	words 10 22 >"tree/$(printf 'long%.0s' $(seq 30))/name"
	ln -s words tree/link
	ln tree/words tree/b/hard
	truncate -s 1M tree/sparse
}

workload() {
	tar -C "$INPUT" --sort=name --mtime=@1700000000 --owner=0 --group=0 --numeric-owner --format=gnu -cSf gnu.tar tree
	tar -C "$INPUT" --sort=name --mtime=@1700000000 --owner=0 --group=0 --numeric-owner --format=posix --pax-option=delete=atime,delete=ctime,exthdr.name=x -cf pax.tar tree
	TZ=UTC tar -tvf gnu.tar
	tar -tf pax.tar | cksum
	tar -xf gnu.tar && tar -df gnu.tar tree && cksum tree/words tree/sparse
	head -c 9000 gnu.tar >cut.tar
	status tar -tf cut.tar
	status tar -xf missing.tar
	rm -rf tree
}
