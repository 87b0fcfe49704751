# processes that fork, two generations; one is killed
programs=$INPUT/forkhost

prepare() { host forkhost.c forkhost -lz; }

workload() { forkhost 50; }
