# sqlite3: the shell over libsqlite3, as in test/workloads, with fewer rows
. "$REPO/test/workloads/sqlite3.sh"
where=debian
programs=$ROOT/usr/bin/sqlite3
rows=400
