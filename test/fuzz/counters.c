/* counters.c - libFuzzer target: any bytes as a counter file for map-dump. */
#include "tools/map-dump/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static FILE *null;
	FILE *f;

	if (!n)
		return 0;
	if (!null)
		null = fopen("/dev/null", "w");
	for (int as_json = 0; as_json < 2; as_json++) {
		struct dump d = { .to = null, .json = { .f = null }, .as_json = as_json, .all = true };

		f = fmemopen((void *)bytes, n, "r");
		dump_counters(&d, f, "input");
		fclose(f);
	}
	return 0;
}
