#!/bin/bash
# redis.sh - threads for input and output, a fork to save, under a bounded load on loopback; the saved file is read again.
name=redis
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
KIND=atomic
need redis-server
need redis-benchmark
port=$($PYTHON -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cli() { redis-cli -p $port "$@"; }
questions() {
	cli eval 'for i = 1, 3000 do redis.call("set", "key" .. i, i * i); redis.call("zadd", "z", i % 97, "m" .. i); redis.call("hset", "h", i, "v" .. i) end return redis.call("dbsize")' 0
	cli debug digest
	timeout 60 redis-benchmark -p $port -q -n 3000 -c 8 -P 4 -r 1 -t set,get,incr,lpush,lpop,sadd,hset >"$WORK/benchmark" 2>&1
	cli bgsave
	for _ in $(seq 200); do cli info persistence | grep -q 'rdb_bgsave_in_progress:0' && break; sleep 0.05; done
	cli info persistence | grep -a rdb_last_bgsave_status
	cli zrange z 0 20 withscores
	cli hget h 77
	cli get counter:000000000000
	cli shutdown nosave
}
serve() {	# OUTPUT COMMAND...
	local output=$1 pid
	shift
	rm -f "$WORK/dump.rdb"
	"$@" redis-server --port $port --bind 127.0.0.1 --dir "$WORK" --save '' --io-threads 2 --io-threads-do-reads yes --enable-debug-command local >"$output.log" 2>&1 &
	pid=$!
	started="$started $pid"
	for _ in $(seq 400); do cli ping >"$WORK/ping" 2>&1 && break; sleep 0.05; done
	kill -0 "$pid" 2>"$WORK/ping" || { cat "$output.log"; failed "no server"; }
	questions >"$output" 2>&1
	wait "$pid"
	echo "status $?" >>"$output"
	redis-check-rdb "$WORK/dump.rdb" | grep -a 'looks\|keys read' | sed 's/^\[.*\] //' >>"$output"
}
run_record() { exec soprof record --atomic -o "$RUN" "$@"; }
run_plain() { exec "$@"; }

serve "$WORK/plain" run_plain
# The first record finds out what is opened while it runs, the second counts it.
for record in first second; do
	serve "$WORK/profiled" run_record
	diff "$WORK/plain" "$WORK/profiled" >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "other answers in the $record record"; }
done
grep -q 'status:ok' "$WORK/plain" || { cat "$WORK/plain"; failed "nothing was saved"; }
echo "$name: the same answers and the same data; $(ls "$RUN" | grep -c '^redis-[a-z-]*~') processes counted"
check_all_replaced
has_valgrind || { check_clean; exit 0; }
serve "$WORK/callgrind.log" under_callgrind
measure 1
check_clean
