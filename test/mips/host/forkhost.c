/* forkhost N - forks, in two generations, and uses libz in each process; one child dies of a signal. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static unsigned long work(int n)
{
	unsigned long sum = 0;

	for (int i = 0; i < n; i++)
		sum = crc32(sum, (const unsigned char *)&"some bytes and more"[i % 10], 9);
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, status;

	printf("first %lx\n", work(n));
	fflush(stdout);
	for (int i = 1; i <= 3; i++) {
		if (fork() == 0) {
			printf("child %d %lx\n", i, work(n * i));
			fflush(stdout);
			if (i == 2 && fork() == 0) {
				printf("grandchild %lx\n", work(n * 10));
				fflush(stdout);
				_exit(5);
			}
			if (i == 2)
				wait(&status);
			if (i == 3)
				raise(SIGKILL);
			_exit(i);
		}
		wait(&status);
		printf("ended %x, then %lx\n", status, work(n));
		fflush(stdout);
	}
	return 0;
}
