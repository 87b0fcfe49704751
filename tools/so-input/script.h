/* script.h - a program named by its file, by a name in PATH, or by a script's first line. */
#ifndef SO_INPUT_SCRIPT_H
#define SO_INPUT_SCRIPT_H

/* The file itself, or, when there is none and the name has no slash, the first executable of that name in PATH.  Allocated. */
char *find_program(const char *name);
/* The program that runs the script (what env would find, for env), or NULL when the file is not a script.  Allocated. */
char *script_interpreter(const char *path);
#endif
