/* zbench FILE N - deflates and inflates FILE N times with libz. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int main(int argc, char **argv)
{
	FILE *f = argc > 2 ? fopen(argv[1], "rb") : NULL;
	uLong n, room = 1 << 22, sum = 0;
	unsigned char *in = malloc(room), *packed, *back = malloc(room);

	if (!f)
		return 1;
	n = fread(in, 1, room, f);
	fclose(f);
	packed = malloc(compressBound(n));
	for (int i = atoi(argv[2]); i > 0; i--) {
		uLong size = compressBound(n), out = room;
		if (compress2(packed, &size, in, n, 6) || uncompress(back, &out, packed, size) || out != n || memcmp(in, back, n))
			return 2;
		sum += size;
	}
	printf("%lu\n", sum);
	return 0;
}
