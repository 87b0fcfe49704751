/* process-lib.c - counted calls at odd moments: in an ifunc resolver, constructors, destructors, and at a head with live flags. */
long called(long x);
long called(long x) { return x + 1; }

#ifdef MOMENTS
static long two(long x) { return x + 2; }
static long three(long x) { return x + 3; }

/* Runs while the object is being relocated: nothing outside it can be called. */
long resolving(long x) __attribute__((visibility("hidden"), noinline, noclone));
long resolving(long x)
{
	__asm__ volatile ("");
	return x * 3;
}

static long (*resolve(void))(long)
{
	return resolving(4) > 100 ? two : three;
}

long chosen(long x) __attribute__((ifunc("resolve")));
/* A word that the loader fills in, before any constructor. */
long (*const chosen_at_load)(long) = chosen;

static void many(int n)
{
	for (volatile long x = 0; x < n;)
		x = called(x);
}

__attribute__((constructor)) static void begin(void) { many(1001); }
__attribute__((destructor)) static void end(void) { many(1002); }
#endif

/* Each round starts the block at flag_head once, with the zero flag of the subtraction live; returns how often it was not set. */
long flagged(long n);
__asm__ (
	".text\n.globl flagged\n.type flagged, @function\n"
	"flagged:\n.cfi_startproc\n"
	"	xor %eax, %eax\n"
	"1:	sub $1, %rdi\n"
	"	js 2f\n"
	"flag_head:\n"
	"	jz 2f\n"
	"	add $1, %rax\n"
	"	jmp 1b\n"
	"2:	ret\n"
	".cfi_endproc\n.size flagged, .-flagged\n"
);
