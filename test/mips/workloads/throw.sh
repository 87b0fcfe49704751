# a C++ program that throws through three libraries of ours, libstdc++ and threads
programs=$INPUT/throwhost

prepare() {
	part throwlib.cc libthrow3.so -DLEVEL=3
	part throwlib.cc libthrow2.so -DLEVEL=2 -L. -lthrow3
	part throwlib.cc libthrow1.so -DLEVEL=1 -L. -lthrow2
	host throwhost.cc throwhost -L. -lthrow1 -lthrow2 -lthrow3 -Wl,-rpath,'$ORIGIN'
}

workload() {
	status throwhost 100
	BIND_NOW=1 status throwhost 3
	status throwhost -1 2>&1 | grep -v core
}
