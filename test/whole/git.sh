#!/bin/bash
# git.sh - clone over file://: two programs of git with pipes between them, and what they start.
name=git
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
need git
export HOME=$WORK GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2001-01-01 00:00 +0000' GIT_COMMITTER_DATE='2001-01-01 00:00 +0000'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main "$WORK/source"
for i in $(seq 40); do
	seq $i $((i * 50)) >"$WORK/source/file$((i % 7))"
	git -C "$WORK/source" add . && git -C "$WORK/source" commit -q -m "commit $i"
done
clone() { (cd "$WORK" && rm -rf copy && "$@" git clone -q "file://$WORK/source" copy 2>&1; echo "status $?"; git -C copy log --format='%H %s'; git -C copy fsck 2>&1; cat copy/file*); }
clone env >"$WORK/plain"
# The first record finds out what git starts, the second counts it.
clone record >"$WORK/first"
diff "$WORK/plain" "$WORK/first" >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "another clone in the first record"; }
clone record >"$WORK/profiled"
diff "$WORK/plain" "$WORK/profiled" >"$WORK/difference" || { head -n 20 "$WORK/difference"; failed "another clone"; }
echo "$name: the same clone; $(ls "$RUN" | sed -n 's/^git~.*\.\([0-9]*\)\.[0-9]*$/\1/p' | sort -u | wc -l) processes of git"
check_all_replaced
rm -rf "$WORK/copy"
# Under valgrind a program is called by its file, and git-upload-pack is git's.
coverage "$(command -v git)" clone -q -u 'git upload-pack' "file://$WORK/source" copy
[ -f "$WORK/copy/file3" ] || failed "no clone under callgrind"
check_clean
