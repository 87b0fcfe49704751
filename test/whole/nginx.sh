#!/bin/bash
# nginx.sh - a master and two workers that give up their rights, under a bounded load on loopback.
name=nginx
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
PATH=$PATH:/usr/sbin
need nginx
mkdir -p "$WORK/site" "$WORK/logs"
chmod 755 "$WORK" "$WORK/site"
seq 20000 >"$WORK/site/numbers.txt"
echo '<p>hello</p>' >"$WORK/site/index.html"
port=$($PYTHON -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
user=$([ "$(id -u)" = 0 ] && echo 'user nobody nogroup;')
cat >"$WORK/nginx.conf" <<-END
	$user
	worker_processes 2;
	daemon off;
	pid $WORK/nginx.pid;
	error_log $WORK/logs/error.log;
	events { worker_connections 64; }
	http {
		access_log off; gzip on; gzip_min_length 1; gzip_types text/plain;
		client_body_temp_path $WORK/b; proxy_temp_path $WORK/p; fastcgi_temp_path $WORK/f; uwsgi_temp_path $WORK/u; scgi_temp_path $WORK/s;
		server { listen 127.0.0.1:$port; root $WORK/site; location /moved { return 301 /index.html; } }
	}
END
cat >"$WORK/load.py" <<-'END'
	import hashlib, http.client, sys, threading
	port, results = int(sys.argv[1]), {}
	def work(k):
	    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
	    for i in range(100):
	        path = ("/numbers.txt", "/index.html", "/moved", "/missing")[i % 4]
	        c.request("GET", path, headers={"Accept-Encoding": "gzip"} if i % 8 < 4 else {})
	        r = c.getresponse()
	        body = r.read()
	        results.setdefault((path, i % 8 < 4), set()).add((r.status, r.getheader("Content-Encoding"), hashlib.sha256(body).hexdigest()))
	threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
	for t in threads: t.start()
	for t in threads: t.join()
	for k in sorted(results): print(k, sorted(results[k], key=str))
END
serve() {	# OUTPUT COMMAND...
	local output=$1 pid
	shift
	"$@" nginx -e "$WORK/logs/start.log" -c "$WORK/nginx.conf" &
	pid=$!
	started="$started $pid"
	for _ in $(seq 400); do $PYTHON -c "import socket; socket.create_connection(('127.0.0.1', $port))" 2>/dev/null && break; sleep 0.05; done
	$PYTHON "$WORK/load.py" $port >"$output" 2>&1
	kill -QUIT "$pid"
	wait "$pid"
	echo "status $?" >>"$output"
}
run_record() { exec soprof record -o "$RUN" "$@"; }
run_plain() { exec "$@"; }

serve "$WORK/plain" run_plain
# The first record finds out what is opened while it runs, the second counts it.
for record in first second; do
	serve "$WORK/profiled" run_record
	diff "$WORK/plain" "$WORK/profiled" >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "other answers in the $record record"; }
done
[ "$(wc -l <"$WORK/plain")" -ge 8 ] || { cat "$WORK/plain"; failed "no answers"; }
echo "$name: 400 answers, the same; $(ls "$RUN" | grep -c '^nginx~') processes counted"
check_all_replaced
has_valgrind || { check_clean; exit 0; }
serve "$WORK/callgrind.answers" under_callgrind
diff "$WORK/plain" "$WORK/callgrind.answers" >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "other answers under callgrind"; }
measure 2
check_clean
