# curl: file:// and its two dozen libraries
programs=/usr/bin/curl

prepare() { words 2000 18 >words; }

workload() {
	curl -s "file://$INPUT/words" -o copy
	curl -s -r 100-299 "file://$INPUT/words"
	curl -s -I "file://$INPUT/words" | grep -v Last-Modified
	curl -s -T "$INPUT/words" "file://$PWD/uploaded"
	status curl -sS "file://$INPUT/missing"
	status curl -sS nonsense://x
	curl -s -w '%{http_code} %{size_download} %{scheme}\n' "file://$INPUT/[a-v]ords" "file://$INPUT/{words,words}" -o /dev/null -o '#1' -o '#1'
	curl -V
}
