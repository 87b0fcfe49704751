/* Three libraries, one source: each calls the next with objects that must be destroyed when the last one throws. */
#include <stdexcept>
#include <string>
#include <vector>

#define NAME_(a, n) a##n
#define NAME(a, n) NAME_(a, n)
#define NEXT1 call2
#define NEXT2 call3

extern long destroyed;
struct guard {
	std::string text;
	explicit guard(int n) : text("guard " + std::to_string(n)) {}
	~guard() { destroyed += text.size(); }
};
struct problem : std::runtime_error {
	int level;
	problem(int n) : std::runtime_error("problem " + std::to_string(n)), level(n) {}
};

int call2(int);
int call3(int);

#if LEVEL == 3
long destroyed;
int call3(int n)
{
	guard g(n);
	std::vector<int> v(static_cast<std::size_t>(n % 5 + 1), n);

	switch (n % 7) {
	case 1: throw problem(n);
	case 2: throw std::string("a string ") + std::to_string(n);
	case 3: throw n;
	case 4: v.at(static_cast<std::size_t>(n)) = 1; break;
	case 5: v.resize(static_cast<std::size_t>(-1)); break;
	}
	return v.back();
}
#else
int NAME(call, LEVEL)(int n)
{
	guard g(n * LEVEL);

	try {
		guard inner(n + LEVEL);
		return NAME(NEXT, LEVEL)(n) + LEVEL;
	} catch (const problem &p) {
		if (p.level % 2 == LEVEL % 2)
			throw;
		throw std::logic_error(std::string(p.what()) + " seen in " + std::to_string(LEVEL));
	} catch (int i) {
		if (LEVEL == 1)
			return -i;
		throw;
	}
}
#endif
