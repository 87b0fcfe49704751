/* mathhost N - sums of libm's functions, printed exactly. */
#include <complex.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef double (*function)(double);

static const struct { const char *name; function f; } functions[] = {
	{ "sin", sin }, { "cos", cos }, { "tan", tan }, { "asin", asin }, { "acos", acos }, { "atan", atan }, { "sinh", sinh },
	{ "cosh", cosh }, { "tanh", tanh }, { "exp", exp }, { "exp2", exp2 }, { "expm1", expm1 }, { "log", log }, { "log2", log2 },
	{ "log1p", log1p }, { "sqrt", sqrt }, { "cbrt", cbrt }, { "erf", erf }, { "lgamma", lgamma }, { "tgamma", tgamma },
	{ "j0", j0 }, { "y1", y1 }, { "rint", rint }, { "floor", floor }, { "round", round },
};

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	double sum, x, whole;
	double complex z = 1;
	int exponent = 0;

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		sum = 0;
		for (int k = 1; k <= n; k++)
			sum += functions[i].f(0.01 + (double)k / (n + 1));
		printf("%s %a\n", functions[i].name, sum);
	}
	sum = 0;
	for (int k = 1; k <= n; k++) {
		x = 0.37 * k;
		sum += pow(x, 1.7) + fmod(x, 0.11) + hypot(x, k) + atan2(k, x) + frexp(x, &exponent) + modf(x, &whole) + exponent + ldexp(x, 3);
		z = csqrt(z + x * I);
	}
	printf("two arguments %a, complex %a %a\n", sum, creal(z), cimag(z));
	printf("%g %g %g %d\n", log(0.0), sqrt(-1.0), exp(1000.0), fetestexcept(FE_DIVBYZERO) != 0);
	return 0;
}
