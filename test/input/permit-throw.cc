// permit-throw.cc - throws and catches through libstdc++ in many ways; ends by an exception that nobody catches.
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <vector>
#include <functional>
struct noisy { ~noisy() { std::cout << "~"; } };
static int deep(int n) { noisy x; if (!n) throw std::out_of_range("bottom"); return deep(n - 1) + 1; }
int main() {
	std::map<std::string, int> m;
	std::ostringstream o;
	for (int i = 0; i < 200; i++) m["k" + std::to_string(i % 17)] += i;
	for (auto &p : m) o << p.first << '=' << p.second << ' ';
	std::cout << o.str() << '\n';
	for (int i = 0; i < 20; i++) try { std::cout << deep(i); } catch (std::logic_error &e) { std::cout << e.what() << '\n'; }
	try { std::vector<int> v; v.at(3); } catch (std::exception &e) { std::cout << e.what() << '\n'; }
	try { std::regex r("("); } catch (std::regex_error &e) { std::cout << e.what() << '\n'; }
	try { std::string().substr(4); } catch (...) { std::cout << "any\n"; }
	try { std::function<void()> f; f(); } catch (std::bad_function_call &e) { std::cout << e.what() << '\n'; }
	try { try { throw 3; } catch (...) { throw; } } catch (int i) { std::cout << i << '\n'; }
	std::istringstream in("12 3.5 abc"); int a; double d; std::string s; in >> a >> d >> s; std::cout << a + d << s << '\n';
	std::cout << std::hex << 255 << ' ' << std::fixed << 3.25 << '\n';
	in.exceptions(std::ios::failbit); try { in >> a; } catch (std::ios_base::failure &e) { std::cout << e.what() << '\n'; }
	try { dynamic_cast<std::ostringstream &>(static_cast<std::ostream &>(std::cout)); } catch (std::bad_cast &e) { std::cout << e.what() << '\n'; }
	throw std::runtime_error("end");
}
