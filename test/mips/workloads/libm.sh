# sums of libm's functions
programs=$INPUT/mathhost

prepare() { host mathhost.c mathhost -lm; }

workload() { mathhost 500; }
