/* jump-host.c - runs what a libjump.so has; its output is compared with that of the rewritten object */
void run(void);
int main(void) { run(); return 0; }
