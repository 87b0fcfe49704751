/* pyhost - the python3 command over the shared libpython (Debian's own has it built in). */
#include <Python.h>

int main(int argc, char **argv)
{
	return Py_BytesMain(argc, argv);
}
