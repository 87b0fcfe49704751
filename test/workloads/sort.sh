# sort: keys, numbers, a locale's order, several threads, a merge
programs=/usr/bin/sort

prepare() { words 5000 20 >words; awk '{ print length($0) * 37 % 101, $3 }' words >numbers; }

workload() {
	sort "$INPUT/words" | cksum
	LC_ALL=C.UTF-8 sort -f -k2,2 -k1r "$INPUT/words" | cksum
	sort -n -k1,1 -s "$INPUT/numbers" -o sorted
	sort --parallel=2 -S 100K -u "$INPUT/words" | cksum
	sort -m sorted sorted | sort -c -n && echo in order
	sort -R --random-source="$INPUT/words" "$INPUT/numbers" | cksum
	sort -h -k1,1 sorted | sort --debug -V 2>&1 | head -n 5
	status sort -c "$INPUT/words"
	status sort missing
}
