# a configure run: hundreds of processes of the shell, sed, grep, expr and the compiler
programs="/bin/sh /bin/sed /bin/grep /usr/bin/expr /bin/cat /bin/rm /usr/bin/gcc /usr/bin/as /usr/bin/ld $(gcc -print-prog-name=cc1)
	$(gcc -print-prog-name=collect2)"

prepare() {
	cat >configure.ac <<-'M'
	AC_INIT([sample], [1.0])
	AC_CONFIG_HEADERS([config.h])
	AC_PROG_CC
	AC_CHECK_HEADERS([unistd.h sys/mman.h nothing.h])
	AC_CHECK_FUNCS([mmap memfd_create no_such_function])
	AC_CHECK_SIZEOF([long])
	AC_C_BIGENDIAN
	AC_CONFIG_FILES([Makefile])
	AC_OUTPUT
	M
	echo 'CC = @CC@' >Makefile.in
	autoheader && autoconf
}

workload() {
	cp "$INPUT"/configure "$INPUT"/*.in .
	export CONFIG_SHELL=/bin/sh ac_cv_header_stdc_times=
	status ./configure --quiet
	./configure | tail -n 20
	cat Makefile config.h
	rm -rf config.log config.status autom4te.cache
}
