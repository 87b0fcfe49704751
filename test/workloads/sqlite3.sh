# sqlite3: joins, an index, a window function, JSON, full-text search, an error
programs=/usr/bin/sqlite3

prepare() { :; }

workload() {
	sqlite3 test.db <<-SQL
	PRAGMA journal_mode = WAL;
	CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, size REAL, parent REFERENCES item);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows:-2000})
		INSERT INTO item SELECT i, 'item ' || (i * 7919 % 2003), i * 1.5 / 7, i / 3 FROM n;
	CREATE INDEX item_name ON item(name, size);
	SELECT count(*), sum(size), group_concat(name, '+') FROM item WHERE name LIKE '%99%';
	SELECT a.name, b.name FROM item a JOIN item b ON a.parent = b.id WHERE b.name > 'item 19' ORDER BY 1, 2 LIMIT 20;
	SELECT id, sum(size) OVER (ORDER BY id ROWS 3 PRECEDING) FROM item LIMIT 8;
	SELECT json_group_array(json_object('id', id, 'size', size)) FROM item WHERE id < 6;
	CREATE VIRTUAL TABLE text USING fts5(body);
	INSERT INTO text SELECT name || ' of ' || parent FROM item WHERE id < 500;
	SELECT count(*), max(body) FROM text WHERE text MATCH 'item AND 1*';
	UPDATE item SET size = size + 1 WHERE id % 5 = 0;
	DELETE FROM item WHERE id % 7 = 0;
	SELECT printf('%.3f %d %s', avg(size), count(*), upper(hex('ab'))), date(86400 * 365, 'unixepoch') FROM item;
	PRAGMA integrity_check;
	EXPLAIN QUERY PLAN SELECT * FROM item WHERE name = 'x';
	VACUUM;
	SQL
	status sqlite3 test.db 'SELECT * FROM nothing'
	sqlite3 test.db .dump | cksum
	rm -f test.db*
}
