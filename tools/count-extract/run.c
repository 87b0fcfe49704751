/* run.c - what lies in a run directory beside counter files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lib/base/mem.h"
#include "tools/count-extract/files.h"
#include "tools/count-extract/run.h"

bool run_is(const char *directory)
{
	const struct run_index *x = run_index_map(directory);
	struct stat here, objects;
	bool is = x && !stat(directory, &here) && (stat(run_string(x, x->directory), &objects) || here.st_dev != objects.st_dev || here.st_ino != objects.st_ino);

	run_index_unmap(x);
	return is;
}

struct notes { VEC(char *) lines; };

static bool has(const struct notes *n, const char *line)
{
	for (size_t i = 0; i < n->lines.n; i++)
		if (!strcmp(n->lines.v[i], line))
			return true;
	return false;
}

static void write_note(struct stream_writer *w, char *line)
{
	char *tab = strchr(line, '\t');
	const char *slash;
	struct object_info info = { .path = line };

	*tab = 0;
	slash = strrchr(line, '/');
	info.name = slash ? slash + 1 : line;
	info.skip = tab + 1;
	stream_object(w, &info);
	stream_object_end(w);
}

/* Several processes may have written one line at the same moment. */
void run_write_notes(struct stream_writer *w, const char *directory)
{
	char *path = path_join(directory, RUN_NOTES), *line = NULL;
	struct notes notes = {{0}};
	struct stat st;
	size_t cap = 0;
	FILE *f = !stat(path, &st) && S_ISREG(st.st_mode) && run_is(directory) ? fopen(path, "r") : NULL;

	while (f && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (*line == '/' && strchr(line, '\t') && !has(&notes, line))
			vec_push(&notes.lines, xstrdup(line));
	}
	if (f)
		fclose(f);
	for (size_t i = 0; i < notes.lines.n; i++) {
		write_note(w, notes.lines.v[i]);
		free(notes.lines.v[i]);
	}
	vec_free(&notes.lines);
	free(line);
	free(path);
}
