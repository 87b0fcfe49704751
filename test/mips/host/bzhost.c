/* bzhost FILE - compresses it with libbz2 in pieces and at once, decompresses, prints sizes and whether it is the same. */
#include <bzlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	static char in[1 << 20], out[1 << 21], back[1 << 20];
	FILE *f = fopen(argc > 1 ? argv[1] : "missing", "rb");
	unsigned n, packed, got;
	int status;

	if (!f) {
		perror("bzhost");
		return 1;
	}
	n = (unsigned)fread(in, 1, sizeof in, f);
	fclose(f);
	for (int level = 1; level <= 9; level += 4) {
		packed = sizeof out;
		status = BZ2_bzBuffToBuffCompress(out, &packed, in, n, level, 0, level * 10);
		got = sizeof back;
		printf("%d: %d %u ", level, status, packed);
		status = BZ2_bzBuffToBuffDecompress(back, &got, out, packed, level == 5, 0);
		printf("%d %s\n", status, got == n && !memcmp(in, back, n) ? "same" : "different");
	}
	out[packed / 2] ^= 0x10;
	got = sizeof back;
	printf("damaged: %d\n", BZ2_bzBuffToBuffDecompress(back, &got, out, packed, 0, 0));
	return 0;
}
