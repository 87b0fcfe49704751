/* survive-lib.c - the function whose calls the survival tests count: one block. */
long called(long x);
long called(long x) { return x + 1; }
