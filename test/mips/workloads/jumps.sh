# gp-relative jump tables, computed gotos, setjmp and longjmp, signals, function tables; lazy and immediate binding
programs=$INPUT/jumphost

prepare() {
	part jumplib.c libjump.so
	host jumphost.c jumphost -L. -ljump -Wl,-rpath,'$ORIGIN'
}

workload() {
	jumphost
	BIND_NOW=1 jumphost
}
