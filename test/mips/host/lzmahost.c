/* lzmahost FILE - compresses it with liblzma at some presets and checks, decompresses, prints sizes and whether it is the same. */
#include <lzma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	static const lzma_check checks[] = { LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64, LZMA_CHECK_SHA256 };
	static uint8_t in[1 << 20], out[1 << 21], back[1 << 20];
	FILE *f = fopen(argc > 1 ? argv[1] : "missing", "rb");
	size_t n, packed = 0, at, got;
	uint64_t memory;

	if (!f) {
		perror("lzmahost");
		return 1;
	}
	n = fread(in, 1, sizeof in, f);
	fclose(f);
	for (unsigned i = 0; i < 4; i++) {
		packed = at = got = 0;
		memory = UINT64_MAX;
		printf("%u: %d ", i, lzma_easy_buffer_encode(i * 2, checks[i], NULL, in, n, out, &packed, sizeof out));
		printf("%zu %d ", packed, lzma_stream_buffer_decode(&memory, 0, NULL, out, &at, packed, back, &got, sizeof back));
		printf("%s\n", got == n && !memcmp(in, back, n) ? "same" : "different");
	}
	out[packed / 2] ^= 0x10;
	at = got = 0;
	memory = UINT64_MAX;
	printf("damaged: %d\n", lzma_stream_buffer_decode(&memory, 0, NULL, out, &at, packed, back, &got, sizeof back));
	return 0;
}
