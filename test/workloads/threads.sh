# a threaded program: mutexes, condition variables, thread-local data, qsort, cancellation, timers and signals
programs=$INPUT/threadhost
also=/lib/x86_64-linux-gnu/libgcc_s.so.1

prepare() {
	host threadlib.c libthreads.so -shared -fPIC
	host threadhost.c threadhost -L. -lthreads -lz -pthread -Wl,-rpath,'$ORIGIN'
}

workload() {
	status threadhost 4 5000
}
