# mutexes, condition variables, thread-local data, qsort, cancellation, timers and signals
count=atomic
programs=$INPUT/threadhost
also=$(library libgcc_s.so.1)

prepare() {
	part threadlib.c libthreads.so
	host threadhost.c threadhost -L. -lthreads -lz -pthread -Wl,-rpath,'$ORIGIN'
}

workload() { status threadhost 4 2000; }
