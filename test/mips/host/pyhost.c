/* pyhost - the python3 command over the shared libpython, without its headers. */
int Py_BytesMain(int argc, char **argv);

int main(int argc, char **argv)
{
	return Py_BytesMain(argc, argv);
}
