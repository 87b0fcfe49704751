/* script.c - which program stands behind a name or a script. */
#include "tools/so-input/script.h"
#include "lib/base/mem.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *in_path(const char *name)
{
	const char *list = getenv("PATH");

	while (list) {
		size_t n = strcspn(list, ":");
		char *path = xasprintf("%.*s/%s", n ? (int)n : 1, n ? list : ".", name);

		if (!access(path, X_OK))
			return path;
		free(path);
		list = list[n] ? list + n + 1 : NULL;
	}
	return NULL;
}

char *find_program(const char *name)
{
	char *path = !*name || strchr(name, '/') || !access(name, F_OK) ? NULL : in_path(name);

	return path ? path : xstrdup(name);
}

/* #!/usr/bin/env [-S] [NAME=VALUE...] PROGRAM: what is run is the program. */
static char *behind_env(char *words, char *env)
{
	char *save, *w = strtok_r(words, " \t", &save);

	while (w && (*w == '-' || strchr(w, '=')))
		w = strtok_r(NULL, " \t", &save);
	return w ? find_program(w) : xstrdup(env);
}

char *script_interpreter(const char *path)
{
	char line[512], *program, *rest, *slash;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	program = line + 2 + strspn(line + 2, " \t");
	rest = program + strcspn(program, " \t");
	if (rest == program)
		return NULL;
	if (*rest)
		*rest++ = 0;
	slash = strrchr(program, '/');
	return !strcmp(slash ? slash + 1 : program, "env") ? behind_env(rest, program) : xstrdup(program);
}
