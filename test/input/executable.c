/* executable.c - what a program can learn of itself, and what its headers promise: prints it in a form that does not depend on where
   the program lies.  With -DLIB the library whose variable it copies. */
#ifdef LIB
int shared_word = 41;
int *where_is_it(void);
int *where_is_it(void) { return &shared_word; }
#else
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

enum { TIMES = 1003 };
extern int shared_word;
int *where_is_it(void);
void _start(void);

__attribute__((noinline)) long own(long x) { __asm__ volatile (""); return x + 1; }
static long twice(long x) { return own(own(x)) - 1; }
/* A table of addresses that the loader fills in and then protects. */
static long (*const functions[])(long) = { own, twice };

static int seen(struct dl_phdr_info *info, size_t size, void *first)
{
	(void)size;
	if (*(int *)first)
		return 1;
	*(int *)first = 1;
	printf("the loader's headers are the kernel's: %d, %d of them\n", (void *)info->dlpi_phdr == (void *)getauxval(AT_PHDR),
	       info->dlpi_phnum == getauxval(AT_PHNUM));
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_PHDR)
			printf("they lie where they say: %d\n", at == (const char *)info->dlpi_phdr);
		if (p->p_type == PT_INTERP)
			printf("interpreter %.*s\n", (int)p->p_filesz, at);
		if (p->p_type == PT_GNU_RELRO)
			printf("the table is in RELRO: %d\n", at <= (char *)functions && (char *)functions < at + p->p_memsz);
	}
	return 0;
}

static sigjmp_buf back;
static void on_fault(int number) { (void)number; siglongjmp(back, 1); }

static const char *write_to_table(void)
{
	long (*volatile *to)(long) = (void *)functions;

	__asm__ ("" : "+r"(to));
	signal(SIGSEGV, on_fault);
	if (sigsetjmp(back, 1))
		return "is refused";
	*to = twice;
	return "goes through";
}

int main(int argc, char **argv)
{
	long (*const *table)(long) = functions;
	int first = 0;
	long x = 0;

	__asm__ ("" : "+r"(table));	/* so that it is not known what is in it */
	while (x < TIMES)
		x = table[0](x);
	printf("%d arguments, last %s, %ld rounds\n", argc, argv[argc - 1], x);
	shared_word++;
	printf("one variable: %d, %d\n", shared_word, where_is_it() == &shared_word && *where_is_it() == shared_word);
	printf("one function: %d, %ld\n", table[0] == own, table[1](40));
	printf("the entry is _start: %d\n", getauxval(AT_ENTRY) == (unsigned long)_start);
	dl_iterate_phdr(seen, &first);
	printf("a write to the table %s\n", write_to_table());
	return 0;
}
#endif
