/* A little of everything that tables describe: switches, label tables, pointers in data, calls through the PLT, landing pads
   (-fexceptions and a cleanup), inner symbols, entry marks. */
#include <stdlib.h>
#include <string.h>

int counter;
static int (*const steps[])(const char *) = { atoi };

static void release(char **p) { free(*p); }

int dispatch(int what, const char *s)
{
	switch (what) {
	case 0: return atoi(s);
	case 1: return (int)strlen(s);
	case 2: return s[0];
	case 3: return s[0] * 3 + 1;
	case 4: return counter++;
	case 5: return counter -= 2;
	case 6: abort();
	}
	return steps[0](s);
}

int run(const unsigned char *code, int x)
{
	static const void *const labels[] = { &&end, &&add, &&twice, &&back };
	char *copy __attribute__((cleanup(release))) = strdup((const char *)code);
	const unsigned char *p = code;
	goto *labels[*p++ & 3];
add:
	x += dispatch(x & 7, copy);
	goto *labels[*p++ & 3];
twice:
	x *= 2;
	goto *labels[*p++ & 3];
back:
	if (x--)
		goto *labels[*p++ & 3];
end:
	return x;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void sort(int *v, int n) { qsort(v, n, sizeof *v, compare); }
