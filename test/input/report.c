/* What report.s says it was compiled from. */
int sum(int n)
{
	int total = 0;
	while (n)
		total += n--;
	return total;
}

int never(int n)
{
	return n + 1;
}

int guarded(int n)
{
	if (n < 0)
		return -1;
	return n * 2;
}
