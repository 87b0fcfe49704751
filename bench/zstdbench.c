/* zstdbench FILE N - compresses and decompresses FILE N times with libzstd, at levels 3 and 9. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int main(int argc, char **argv)
{
	FILE *f = argc > 2 ? fopen(argv[1], "rb") : NULL;
	size_t n, room = 1 << 22, size, sum = 0;
	char *in = malloc(room), *packed, *back = malloc(room);

	if (!f)
		return 1;
	n = fread(in, 1, room, f);
	fclose(f);
	packed = malloc(ZSTD_compressBound(n));
	for (int i = 2 * atoi(argv[2]); i > 0; i--) {
		size = ZSTD_compress(packed, ZSTD_compressBound(n), in, n, i % 2 ? 3 : 9);
		if (ZSTD_isError(size) || ZSTD_decompress(back, room, packed, size) != n || memcmp(in, back, n))
			return 2;
		sum += size;
	}
	printf("%zu\n", sum);
	return 0;
}
