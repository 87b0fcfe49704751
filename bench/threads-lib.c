/* threads-lib.c - functions of one block each: eight side by side, whose counters share cache lines, and eight with others between. */
#define ONE(name) __attribute__((noinline)) long name(long x) { __asm__ volatile (""); return x + 1; }
#define FILL(n) ONE(fill##n##a) ONE(fill##n##b) ONE(fill##n##c) ONE(fill##n##d) ONE(fill##n##e) ONE(fill##n##f) ONE(fill##n##g) ONE(fill##n##h) \
	ONE(fill##n##i) ONE(fill##n##j) ONE(fill##n##k) ONE(fill##n##l) ONE(fill##n##m) ONE(fill##n##n) ONE(fill##n##o) ONE(fill##n##p)

ONE(near0) ONE(near1) ONE(near2) ONE(near3) ONE(near4) ONE(near5) ONE(near6) ONE(near7)
FILL(0) ONE(far0) FILL(1) ONE(far1) FILL(2) ONE(far2) FILL(3) ONE(far3)
FILL(4) ONE(far4) FILL(5) ONE(far5) FILL(6) ONE(far6) FILL(7) ONE(far7)
