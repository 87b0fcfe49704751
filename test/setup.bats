# setup.bats - the set-up works in a minimal Debian: `make demo` alone, with nothing installed before but make.
load common

# The archive that this machine uses, as it stands in its source lists.
mirror() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -nE 's!^(deb +(\[[^]]*\] +)?|URIs: *)(https?://[^ ]*/debian)/?( .*)?$!\3!p' | head -n 1
}

# This machine's proxies, as options of mmdebstrap.
proxies() { apt-config dump | grep -E '^Acquire::.*[Pp]roxy' | sed 's/^/--aptopt=/'; }

in_minimal_debian() {	# HOOK...: commands that find the system's root in $1
	local options=() apart=() archive release
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	archive=$(mirror)
	mapfile -t options < <(proxies)
	for hook; do options+=(--customize-hook="$hook"); done
	# root's mounts are in a namespace of their own: they go when this is killed, before anybody removes the files
	[ "$(id -u)" != 0 ] || apart=(unshare --mount --propagation private)
	# format null: what is made lies in TMPDIR, and is removed with its mounts by mmdebstrap
	TMPDIR=$PWD timeout -k 20 400 "${apart[@]}" mmdebstrap --quiet --variant=minbase --include=make --format=null --skip=cleanup \
		"${options[@]}" "$release" /dev/null ${archive:+"deb $archive $release main"}
}

# Skips where no minimal Debian can be made at all.
need_debian() {
	local why=
	command -v mmdebstrap >/dev/null || why="no mmdebstrap"
	[ -n "$why" ] || [ "$(id -u)" = 0 ] || unshare -Ur true 2>error || why="not root, and no user namespaces: $(cat error)"
	[ -n "$why" ] || apt-get -qq --print-uris --reinstall install make >error 2>&1 || why="apt-get does not know the archive: $(tail -n 1 error)"
	[ -z "$why" ] || skip "$why"
}

@test "make demo in a minimal Debian installs what it needs and prints a report" {
	need_debian
	export REPO
	mkdir copy
	(cd "$REPO" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do
		[ ! -f "$f" ] || printf '%s\0' "$f"; done | tar --null -T - -cf -) >copy.tar
	tar -C copy -xf copy.tar
	run in_minimal_debian 'cp /etc/hosts "$1/etc/hosts"' 'mkdir "$1/soprof" && tar -C "$1/soprof" --no-same-owner -xf copy.tar' \
		'env -u BIN -u MAKEFLAGS -u MFLAGS -u MAKELEVEL chroot "$1" make -C /soprof demo'
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"Installing these Debian packages"* ]]
	[[ $output == *libzydis-dev* ]]
	[[ $output == *"the same output as with the original objects"* ]]
	[[ $output == *"instructions executed"* ]]
	[[ $output == *liblzma.so.5* ]]
	# neither mounts nor files are left
	[ -z "$(grep -F "$PWD" /proc/self/mounts)" ]
	[ -z "$(ls -d mmdebstrap.* 2>/dev/null)" ]
}

@test "make install: programs and man pages below PREFIX in DESTDIR, beside them lib/soprof alone" {
	make -s -C "$REPO" -o all BIN="$BIN" DESTDIR="$PWD/root" PREFIX=/opt/soprof install
	(cd root && find . -type f ! -path "*/lib/soprof/*") | sort >installed
	for dir in "$REPO"/tools/*/; do
		name=$(basename "$dir")
		[ -x "$BIN/$name" ] || continue
		echo "./opt/soprof/bin/$name"
		echo "./opt/soprof/share/man/man1/$name.1"
	done | sort >wanted
	diff wanted installed
	[ "$(root/opt/soprof/bin/so-input --version)" = "$("$BIN/so-input" --version)" ]
}

@test "man pages are sound, and name every option that --help has" {
	command -v mandoc >/dev/null || skip "no mandoc"
	for page in "$REPO"/tools/*/*.1; do
		mandoc -T lint -W warning "$page" >faults || { cat faults; return 1; }
		name=$(basename "$page" .1)
		"$BIN/$name" --help | sed -nE 's/^  (-.|  ),? *--([a-z-]+).*/\2/p' >options
		[ -s options ]
		mandoc -T ascii "$page" | sed "s/.\x08//g" >text
		while read -r option; do
			grep -qe "--$option" text || { echo "$name: --$option is not in its man page"; return 1; }
		done <options
	done
}

@test "nothing in the repository belongs to one machine" {
	git -C "$REPO" rev-parse --git-dir >/dev/null 2>&1 || skip "not a git repository"
	run git -C "$REPO" grep -nE '(^|[^A-Za-z0-9_.$}*/])/(work|home|root)/' -- ':!test/setup.bats'
	echo "$output"
	[ "$status" = 1 ]
}
