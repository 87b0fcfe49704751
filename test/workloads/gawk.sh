# gawk: associative arrays, regular expressions, big numbers, sorting, a pipe, an error
programs=/usr/bin/gawk

prepare() { words 3000 19 >words; }

workload() {
	gawk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { PROCINFO["sorted_in"] = "@val_num_desc"
		for (w in n) if (n[w] > 12) print n[w], w }' "$INPUT/words"
	gawk -M 'BEGIN { PREC = 200; print 2 ^ 300, 1 / 3, exp(1); x = 1; for (i = 1; i < 60; i++) x *= i; print x }'
	gawk '{ $2 = toupper($2); gsub(/[aeiou]+/, "<&>"); print | "sort | cksum" } END { close("sort | cksum")
		print gensub(/(.)(.)/, "\\2\\1", "g", "abcdef"), strftime("%F", 0, 1), sprintf("%5.2f|%-8s|%x", 3.14159, "ab", 255)
		print match("foobar", /o(b)(a)/, m), m[1], m[2], length(m), asort(m), substr("hello", 2, 3) }' "$INPUT/words"
	status gawk 'BEGIN { print 1 / 0 }'
	status gawk 'BEGIN { print ( }'
	words 20 1 >few
}

workload_small() { gawk '{ n += NF; gsub(/e+/, "E") } END { print n, $0 }' "$INPUT/few"; }
