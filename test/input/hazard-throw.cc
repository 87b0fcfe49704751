// hazard-throw.cc - cold parts with landing pads, rethrows, several catch types, frames without exceptions between, throws at once
#include <cstdio>
#include <stdexcept>
#include <string>
int throw_all(int n);
extern "C" int throw_between(int (*f)(int), int n);
#ifdef HOST
int main()
{
	for (int i = 0; i < 12; i++)
		try { std::printf("%d ", throw_all(i)); } catch (const char *s) { std::printf("%s ", s); } catch (long n) { std::printf("L%ld ", n); }
	std::printf("\n");
	return 0;
}
#else
static int alive;
struct scope { int n; explicit scope(int n) : n(n) { alive += n; } ~scope() { alive -= n; } };
__attribute__((noinline)) static void at_once() { throw 5; }
__attribute__((cold, noinline)) static void unlikely(int n) { if (n > 6) throw std::runtime_error("cold"); }
static int inner(int n)
{
	scope s(n);
	if (__builtin_expect(n > 3, 0)) {
		scope t(100);
		unlikely(n);
		if (n == 4) at_once();
		if (n == 5) throw "text";
		if (n == 6) throw long(n);
	}
	return n;
}
int throw_between(int (*f)(int), int n) { return f(n) + 1; }
int throw_all(int n)
{
	scope s(1000);
	try {
		try {
			return throw_between(inner, n) + alive;
		} catch (int) {
			if (n & 1) throw;
			return 50 + alive;
		} catch (const std::exception &e) {
			if (n == 9) throw;
			if (n == 10) throw std::string("other");
			return 60 + int(e.what()[0]) + alive;
		}
	} catch (const std::string &t) {
		return int(t.size()) + alive;
	} catch (const std::runtime_error &) {
		return 70 + alive;
	}
}
#endif
