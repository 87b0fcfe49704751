/* hazard-tls.c - thread-local variables: general and local dynamic, initial exec, descriptors, from two threads. */
#include "hazard.h"
#include <pthread.h>
int tls_bump(int n);
#ifdef HOST
static void *thread(void *n) { return (void *)(long)(tls_bump(*(int *)n) + tls_bump(1)); }
int main(void)
{
	int n = 5;
	void *result;
	pthread_t t;

	printf("%d ", tls_bump(2));
	pthread_create(&t, NULL, thread, &n);
	pthread_join(t, &result);
	printf("%ld %d\n", (long)result, tls_bump(3));
	return 0;
}
#else
__thread int tls_general = 3;
static __thread int tls_local = 4;
static __thread int tls_bss[40];
__thread int tls_initial __attribute__((tls_model("initial-exec"))) = 5;
int tls_bump(int n)
{
	tls_general += n;
	tls_local += tls_general;
	tls_bss[n & 31] += tls_local;
	tls_initial += tls_bss[n & 31];
	return tls_general * 1000000 + tls_local * 10000 + tls_bss[n & 31] * 100 + tls_initial;
}
#endif
