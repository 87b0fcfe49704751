/* zhost FILE - deflates it at every level and strategy, inflates it again, checks and prints sizes and checksums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static unsigned char *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	unsigned char *p = malloc(1 << 22);

	if (!f) {
		perror(path);
		exit(1);
	}
	*n = fread(p, 1, 1 << 22, f);
	fclose(f);
	return p;
}

static size_t pack(unsigned char *to, size_t room, unsigned char *from, size_t n, int level, int strategy, int bits)
{
	z_stream z;

	memset(&z, 0, sizeof z);
	if (deflateInit2(&z, level, Z_DEFLATED, bits, 8, strategy) != Z_OK)
		exit(2);
	z.next_in = from;
	z.avail_in = n;
	z.next_out = to;
	z.avail_out = room;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		exit(3);
	deflateEnd(&z);
	return z.total_out;
}

static size_t unpack(unsigned char *to, size_t room, unsigned char *from, size_t n, size_t step)
{
	z_stream z;
	int status = Z_OK;

	memset(&z, 0, sizeof z);
	if (inflateInit2(&z, 47) != Z_OK)
		exit(4);
	z.next_out = to;
	z.avail_out = room;
	for (size_t i = 0; i < n && status == Z_OK; i += step) {
		z.next_in = from + i;
		z.avail_in = n - i < step ? n - i : step;
		status = inflate(&z, Z_NO_FLUSH);
	}
	if (status != Z_STREAM_END)
		printf("inflate: %d %s\n", status, z.msg ? z.msg : "");
	inflateEnd(&z);
	return z.total_out;
}

int main(int argc, char **argv)
{
	int last = argc > 2 ? atoi(argv[2]) : 9;
	size_t n, packed, back;
	unsigned char *in = slurp(argv[1], &n), *out, *again;

	out = malloc(2 * n + 100000);
	again = malloc(n + 1);
	for (int level = 0; level <= last; level++)
		for (int strategy = 0; strategy <= (level == 6 ? Z_FIXED : 0); strategy++) {
			packed = pack(out, 2 * n + 100000, in, n, level, strategy, level % 2 ? 15 : 31);
			back = unpack(again, n, out, packed, level == 9 ? 7 : 4096);
			printf("%d %d: %zu %08lx %08lx %s\n", level, strategy, packed, crc32(0, out, packed), adler32(1, out, packed),
			       back == n && !memcmp(in, again, n) ? "same" : "different");
		}
	out[packed / 2] ^= 0x55;
	back = unpack(again, n, out, packed, 4096);
	printf("damaged: %zu\n", back);
	return 0;
}
