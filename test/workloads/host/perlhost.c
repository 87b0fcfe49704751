/* perlhost - the perl command over the shared libperl (Debian's own has it built in). */
#include <EXTERN.h>
#include <perl.h>

EXTERN_C void boot_DynaLoader(pTHX_ CV *cv);

static void xs_init(pTHX)
{
	newXS("DynaLoader::boot_DynaLoader", boot_DynaLoader, __FILE__);
}

int main(int argc, char **argv, char **env)
{
	PerlInterpreter *my_perl;
	int status;

	PERL_SYS_INIT3(&argc, &argv, &env);
	my_perl = perl_alloc();
	perl_construct(my_perl);
	PL_exit_flags |= PERL_EXIT_DESTRUCT_END;
	status = perl_parse(my_perl, xs_init, argc, argv, NULL);
	if (!status)
		perl_run(my_perl);
	status = perl_destruct(my_perl);
	perl_free(my_perl);
	PERL_SYS_TERM();
	return status;
}
