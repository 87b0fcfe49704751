/* mips-behind - a function with a jump table, and behind it one that nothing but a word of data leads to; stripped, no symbol tells that it begins there. */
int behind_pick(int x, int y)
{
	switch (x) {
	case 0: return y + 1;
	case 1: return y * 3;
	case 2: return y ^ 0x55;
	case 3: return y - 9;
	case 4: return ~y;
	case 5: return y << 3;
	case 6: return y / 5;
	case 7: return y % 7;
	default: __builtin_unreachable();
	}
}

static __attribute__((noinline)) int behind(int y)
{
	return y * 7 + 3;
}

int (*behind_pointer)(int) = behind;
