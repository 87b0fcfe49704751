# a C++ program that throws through three libraries of ours (which are profiled, as is libstdc++)
programs=$INPUT/throwhost

prepare() {
	host throwlib.cc libthrow3.so -shared -fPIC -Wl,-rpath,'$ORIGIN' -DLEVEL=3
	host throwlib.cc libthrow2.so -shared -fPIC -Wl,-rpath,'$ORIGIN' -DLEVEL=2 -L. -lthrow3
	host throwlib.cc libthrow1.so -shared -fPIC -Wl,-rpath,'$ORIGIN' -DLEVEL=1 -L. -lthrow2
	host throwhost.cc throwhost -L. -lthrow1 -lthrow2 -lthrow3 -Wl,-rpath,'$ORIGIN'
}

workload() {
	status throwhost 200
	status throwhost -1 2>&1 | grep -v core
}

workload_small() { throwhost 3; }
