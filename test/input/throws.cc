// Exception tables of many shapes: several catch types, exception specifications (C++14), cleanups, nesting.  Never run.
struct A { int a; virtual ~A(); };
struct B : A { int b; };
struct G { ~G(); };
void may(int);

int types(int x)
{
	G g;
	try {
		may(x);
		may(x + 1);
	} catch (A &a) {
		return a.a;
	} catch (B &) {
		return 3;
	} catch (int i) {
		return i;
	} catch (...) {
		may(9);
	}
	return x;
}

void specified(int x) throw(int, A);
void specified(int x) throw(int, A)
{
	try {
		may(x);
	} catch (long) {
		may(2);
	}
	may(5);
}

void no_throw(int x) noexcept { may(x); }

void empty_specification(int x) throw()
{
	G g;
	may(x);
}

void nested(int)
{
	G a;
	may(1);
	G b;
	may(2);
	try {
		G c;
		may(3);
	} catch (long) {
		may(7);
		throw;
	}
}
