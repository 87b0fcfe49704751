/* hazard-address.c - one address a function: compared within an object, between objects, in data, through dlsym; symbol + addend. */
#include "hazard.h"
#include <dlfcn.h>
typedef int function(int);
int address_f(int x);
function *address_of_f(void), *address_of_static(void);
int address_is_f(function *f), address_is_static(function *f);
extern function *address_word, *address_static_word;
long address_middle(void);
#ifdef HOST
int main(void)
{
	function *mine = address_f, *theirs = (function *)dlsym(RTLD_DEFAULT, "address_f");

	printf("%d%d%d%d%d%d%d ", mine == address_of_f(), mine == theirs, address_is_f(mine), mine == address_word,
	       address_static_word == address_of_static(), address_is_static(address_static_word), address_is_f(address_static_word));
	printf("%d %d %ld\n", mine(1), address_static_word(2), address_middle());
	return 0;
}
#else
int address_f(int x) { return x + 7; }
static __attribute__((noinline)) int hidden(int x) { return x * 7; }
function *address_word = address_f, *address_static_word = hidden;
function *address_of_f(void) { return address_f; }
function *address_of_static(void) { return hidden; }
int address_is_f(function *f) { return f == address_f; }
int address_is_static(function *f) { return f == hidden; }
/* A function entered four bytes behind its symbol (xor %eax,%eax; inc, inc; add $20). */
__asm__(".text\n.globl address_add\n.type address_add, @function\naddress_add: .cfi_startproc\n xorl %eax, %eax\n incl %eax\n"
        " addl $20, %eax\n ret\n.cfi_endproc\n.size address_add, . - address_add\n"
        ".section .data.rel, \"aw\"\naddress_plus: .quad address_add + 2\naddress_local: .quad address_inner\n.text\n"
        "address_inner_f: .cfi_startproc\n nop\n movl $1, %eax\naddress_inner: addl $3, %eax\n ret\n.cfi_endproc\n");
long address_middle(void)
{
	long sum = 0;

	__asm__ volatile("movl $100, %%eax\n\tmovq address_plus(%%rip), %%rcx\n\tcall *%%rcx\n\tmovl %%eax, %%edx\n\tmovl $1000, %%eax\n\t"
	                 "movq address_local(%%rip), %%rcx\n\tcall *%%rcx\n\taddl %%edx, %%eax\n\tmovslq %%eax, %0"
	                 : "=a"(sum) : : "rcx", "rdx", "cc", "memory");
	return sum;
}
#endif
