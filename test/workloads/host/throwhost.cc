/* throwhost N - N calls through three libraries, of which most throw; -1: an exception that nobody catches. */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <locale>
#include <sstream>
#include <string>
#include <thread>

int call1(int);
extern long destroyed;

static std::string outcome(int n)
{
	std::ostringstream s;

	try {
		s << "returned " << call1(n);
	} catch (const std::logic_error &e) {
		s << "logic_error " << e.what();
	} catch (const std::exception &e) {
		s << "exception " << e.what();
	} catch (const std::string &e) {
		s << "string " << e;
	}
	return s.str();
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? std::atoi(argv[1]) : 10;

	if (n < 0)
		call1(8);
	for (int i = 0; i < n; i++)
		if (i < 30)
			std::cout << i << ": " << outcome(i) << '\n';
		else
			outcome(i);
	std::cout << "destroyed " << destroyed << std::endl;
	std::thread([] { std::cout << outcome(15) << std::endl; }).join();
	auto f = std::async(std::launch::async, [] { return call1(1); });
	try {
		f.get();
	} catch (...) {
		std::exception_ptr p = std::current_exception();
		try {
			std::rethrow_exception(p);
		} catch (const std::exception &e) {
			std::cout << "from a future: " << e.what() << '\n';
		}
	}
	try {
		std::cin.exceptions(std::ios::failbit);
		int x;
		std::cin >> x;
	} catch (const std::ios_base::failure &) {
		std::cout << "stream failed\n";
	}
	return 7;
}
