# dlopen, dlsym and dlclose of two libraries, several times
programs=$INPUT/dlhost
also="$INPUT/libjump.so $INPUT/libjump2.so"

prepare() {
	part jumplib.c libjump.so
	part jumplib.c libjump2.so -O1 -Wl,-z,now
	host dlhost.c dlhost -Wl,-rpath,'$ORIGIN'
}

workload() { dlhost libjump.so libjump2.so libjump.so missing.so; }
