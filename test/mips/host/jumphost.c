/* jumphost - calls jumplib. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

int jump_switch(int c, int x);
unsigned jump_text(const char *s);
long jump_machine(const unsigned char *code);
int jump_far(int n, int (*callback)(int));
int jump_table(int i, int x);
int (*jump_pick(int i))(int);

static volatile sig_atomic_t seen;

static int callback(int x)
{
	raise(SIGUSR1);
	return x + 2;
}

static void handle(int sig)
{
	seen += jump_switch(sig % 14, 3) + (int)(jump_text("abcdefh") & 1);
}

int main(void)
{
	static const unsigned char loop[] = { 0, 200, 0, 3, 0, 4, 1, 3, 4, 7, 5 }, product[] = { 0, 6, 0, 7, 2, 3, 5 };

	signal(SIGUSR1, handle);
	for (int i = -2; i < 16; i++)
		printf("%d %d %d %d\n", i, jump_switch(i, i * 31 - 7), jump_table(i + 2, i), jump_pick(i)(i));
	printf("%u %u %u\n", jump_text("abcdefh xyz"), jump_text("hhhggg"), jump_text("fedcbafedcba"));
	printf("%ld %ld\n", jump_machine(product), jump_machine(loop));
	for (int i = 0; i < 5; i++)
		printf("far %d\n", jump_far(i * 10, callback));
	printf("seen %d\n", (int)seen);
	return 0;
}
