/* load-each.c - reads paths of shared objects, loads each in a process of its own, prints "1" or "0 why" a line. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int load(const char *path)
{
	if (dlopen(path, RTLD_NOW))
		return 1;
	fprintf(stdout, "0 %s\n", dlerror());
	fflush(stdout);
	return 0;
}

int main(void)
{
	char path[4096];

	while (fgets(path, sizeof path, stdin)) {
		pid_t pid;
		int status;

		path[strcspn(path, "\n")] = 0;
		fflush(stdout);
		pid = fork();
		if (!pid) {
			alarm(20);
			_exit(load(path));
		}
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status))
			printf("0 signal %d\n", WTERMSIG(status));
		else if (WEXITSTATUS(status) == 1)
			puts("1");
		else if (WEXITSTATUS(status))
			printf("0 exit %d\n", WEXITSTATUS(status));
	}
	return 0;
}
