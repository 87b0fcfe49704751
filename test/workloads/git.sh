# git: init, commits with fixed dates, a merge, diff, log, gc, fsck, a clone of its own folder
programs=/usr/bin/git

prepare() {
	words 300 16 >words
	words 300 17 >more
}

workload() {
	export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=c \
		GIT_COMMITTER_EMAIL=c@example.org GIT_AUTHOR_DATE='1700000000 +0100' GIT_COMMITTER_DATE='1700000001 +0000'
	git config --global init.defaultBranch main
	git config --global gc.auto 0
	git config --global pack.threads 1
	git init tree && cd tree || return
	cp "$INPUT/words" words && git add . && git commit -m first
	sed '1,40s/e/E/3' words >new && mv new words && cp "$INPUT/more" more && git add -A && git commit -m second
	git checkout -b side HEAD^ && echo line >>words && git commit -am side
	git checkout main && git merge -m merge side
	git log --graph --stat --format='%H %an %ad %s'
	git diff --word-diff HEAD^ HEAD | cksum
	git grep -n -c -E 'e[a-z]+o' -- words
	git gc --quiet && git count-objects -v && git fsck --full --strict
	git archive HEAD | cksum
	cd .. && git clone --quiet "file://$PWD/tree" copy && git -C copy rev-parse HEAD
	status git -C copy checkout nothing
	rm -rf copy/.git tree/.git
}
