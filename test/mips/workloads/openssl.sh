# openssl: digests, ciphers, signatures with fixed keys
where=debian
programs=$ROOT/usr/bin/openssl

prepare() {
	words 300 14 >words
	openssl genrsa -out rsa.pem 1024
	openssl genpkey -algorithm ed25519 -out ed25519.pem
	openssl pkey -in rsa.pem -pubout -out rsa.pub
	openssl pkey -in ed25519.pem -pubout -out ed25519.pub
}

workload() {
	local key=000102030405060708090a0b0c0d0e0f iv=101112131415161718191a1b1c1d1e1f d c
	export OPENSSL_CONF=/dev/null
	for d in md5 sha1 sha256 sha512 sha3-256 blake2b512 sm3; do openssl dgst -$d <"$INPUT/words"; done
	for c in aes-128-cbc aes-128-ctr camellia-128-cbc chacha20; do
		openssl enc -$c -K $key$([ $c = chacha20 ] && echo $key) -iv $iv -in "$INPUT/words" -out $c
		openssl enc -d -$c -K $key$([ $c = chacha20 ] && echo $key) -iv $iv -in $c | cksum
	done
	openssl dgst -sha256 -sign "$INPUT/rsa.pem" -out rsa.sig "$INPUT/words"
	openssl dgst -sha256 -verify "$INPUT/rsa.pub" -signature rsa.sig "$INPUT/words"
	openssl pkeyutl -sign -rawin -inkey "$INPUT/ed25519.pem" -in "$INPUT/rsa.pub" -out ed25519.sig
	openssl pkeyutl -verify -rawin -pubin -inkey "$INPUT/ed25519.pub" -in "$INPUT/rsa.pub" -sigfile ed25519.sig
	status openssl pkeyutl -verify -rawin -pubin -inkey "$INPUT/ed25519.pub" -in "$INPUT/words" -sigfile ed25519.sig
	status openssl dgst -sha256 missing 2>&1 | sed 's/^[0-9A-F]*:error:/THREAD:error:/'
}
