/* runtimes.c - code that a runtime knows by its place: it looks up where calls return to, in tables of its own, and stops or crashes
   at an address that it does not know.  Tables of addresses are found by what they hold (addresses.c); those here hold distances. */
#include <string.h>
#include "tools/reloc-extract/extract.h"

enum { OWN_READS = 4 };

/* The tables of Go (.gopclntab) are in .data.rel.ro when ld links it as PIE.  What C compilers made has unwinding entries. */
static const struct runtime { const char *section, *symbol, *why; bool loose; } runtimes[] = {
	{ ".go.buildinfo", NULL, "the Go runtime looks its addresses up", true },
	{ ".gopclntab", NULL, "the Go runtime looks its addresses up", true },
	{ ".svm_heap", NULL, "the runtime of GraalVM looks its addresses up", false },
	{ "__managedcode", NULL, "the runtime of .NET looks its addresses up", false },
	{ NULL, "mono_aot_file_info", "the Mono runtime looks its addresses up", false },
	{ NULL, "_kDartVmSnapshotInstructions", "the Dart runtime looks its addresses up", false },
};

/* Takes out all code, or only what no unwinding entry covers and what begins at its end: that address is the end of the runtime's code. */
static void take_out(struct extract *x, bool loose, const char *why)
{
	bool before = false;
	for (size_t i = 0; i < x->c.ranges.n; i++) {
		struct code_range *r = &x->c.ranges.v[i];
		if ((!loose || r->kind == RANGE_CODE || before) && !r->why && r->kind != RANGE_PLT)
			r->why = why;
		before = r->kind == RANGE_CODE;
	}
}

static bool has_symbol(const struct object_symbols *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].section != SHN_UNDEF && !strcmp(s->v[i].name, name))
			return true;
	return false;
}

/* The code of V8's builtins takes constants out of its own instructions: no other code that has no unwinding entries does. */
static bool reads_instructions(const struct extract *x)
{
	unsigned n = 0;
	for (size_t i = 0; i < x->c.refs.n && n < OWN_READS; i++) {
		const struct code_ref *ref = &x->c.refs.v[i];
		const struct code_range *r = ref->flags & INSN_ADDRESS || !code_in(&x->c, ref->target) ? NULL : code_range_at(&x->c, ref->target);
		n += r && r->kind == RANGE_CODE && r->swept && !code_starts(&x->c, ref->target);
	}
	return n == OWN_READS;
}

void extract_runtimes(struct extract *x)
{
	for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
		if (runtimes[i].section ? object_section(&x->o, runtimes[i].section) != NULL : has_symbol(&x->dynsyms, runtimes[i].symbol))
			take_out(x, runtimes[i].loose, runtimes[i].why);
	if (x->o.eh.e_machine == EM_X86_64 && reads_instructions(x))
		take_out(x, true, "it reads its own instructions, as V8 does: looked up by address");
}
