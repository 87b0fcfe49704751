/* perlhost - the perl command over the shared libperl, without its headers. */
void Perl_sys_init3(int *argc, char ***argv, char ***env);
void Perl_sys_term(void);
void *perl_alloc(void);
void perl_construct(void *perl);
int perl_parse(void *perl, void (*init)(void *), int argc, char **argv, char **env);
int perl_run(void *perl);
int perl_destruct(void *perl);
void perl_free(void *perl);
void *Perl_newXS(void *perl, const char *name, void (*f)(void *, void *), const char *file);
void boot_DynaLoader(void *perl, void *cv);

static void init(void *perl)
{
	Perl_newXS(perl, "DynaLoader::boot_DynaLoader", boot_DynaLoader, __FILE__);
}

int main(int argc, char **argv, char **env)
{
	void *perl;
	int status;

	Perl_sys_init3(&argc, &argv, &env);
	perl = perl_alloc();
	perl_construct(perl);
	status = perl_parse(perl, init, argc, argv, 0);
	if (!status)
		status = perl_run(perl);
	perl_destruct(perl);
	perl_free(perl);
	Perl_sys_term();
	return status;
}
