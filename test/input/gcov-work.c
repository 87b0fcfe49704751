/* Loops, branches, a switch, early returns, recursion, a macro and an inline function: compared line by line with gcov. */
#define SQUARE(x) ((x) * (x))

static inline int twice(int x)
{
	return 2 * x;
}

static int fib(int n)
{
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

static int kind(int n)
{
	switch (n % 5) {
	case 0:
		return 1;
	case 1:
	case 2:
		n = twice(n);
		break;
	case 3:
		return SQUARE(n);
	default:
		n--;
	}
	return n;
}

int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += kind(i);
		if (sum > 1000000)
			return -1;
	}
	do {
		sum -= 3;
	} while (sum > 100);
	while (sum-- > 50)
		;
	for (int i = 0; i < 4; i++)
		for (int j = i; j < 4; j++)
			sum += i ^ j;
	return sum + (n > 5 ? fib(10) : twice(n));
}
