# a library with more symbols than one global offset table has room for
programs=$INPUT/gothost

prepare() {
	local part
	for part in 1 2 3; do
		"$here/host/gotlib" -v part=$part -v n=6000 >part$part.c
		"$ENDIAN-linux-gnu-gcc" -O1 -fPIC $(kind_flags) -c part$part.c
		rm part$part.c
	done
	"$ENDIAN-linux-gnu-gcc" -shared $(kind_flags) -Wl,-soname,libgot.so -o libgot.so part[123].o
	rm part[123].o
	host gothost.c gothost -L. -lgot -Wl,-rpath,'$ORIGIN'
}

workload() {
	gothost
	BIND_NOW=1 gothost
}
