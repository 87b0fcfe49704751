/* object.h - an ELF object as the loader and the analysis see it: program headers, dynamic section, relocations, symbols.
   Over libelf (elfutils).  Every number from the file is checked against the file's size before use. */
#ifndef ELF_OBJECT_H
#define ELF_OBJECT_H
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/stream.h"
#include "lib/base/mem.h"

struct object_section { const char *name; GElf_Shdr h; };

struct object {
	const char *path;
	const uint8_t *image;		/* the whole file, mapped read-only */
	size_t size;
	Elf *elf;
	GElf_Ehdr eh;
	GElf_Phdr *phdrs;
	size_t phnum;
	struct object_section *sections;	/* index 0 is the null section; none at all when the file has no section headers */
	size_t shnum;
	GElf_Dyn *dynamic;		/* without the closing DT_NULL */
	size_t dynnum;
	const char *strtab;		/* the dynamic string table, strsz bytes, NUL-terminated, or NULL */
	size_t strsz;
	struct arena arena;
};

/* Why an object could not be opened: the fault in words, without the file's name (valid until the next open).  NULL: it could.
   An object that could not be opened needs no object_close. */
const char *object_open(struct object *o, const char *path);
void object_close(struct object *o);

/* The bytes at link-time addresses [address, address + len) as they are in the file, or NULL (not in the file, bss). */
const uint8_t *object_at(const struct object *o, uint64_t address, size_t len);
/* Offset in the file of link-time address, or -1. */
int64_t object_offset(const struct object *o, uint64_t address);
/* The LOAD segment that has the address in its memory image, or NULL. */
const GElf_Phdr *object_segment(const struct object *o, uint64_t address);
/* True when the address lies in a section (or, without sections, a segment) with execute permission. */
bool object_is_code(const struct object *o, uint64_t address);

const GElf_Dyn *object_dyn(const struct object *o, int64_t tag);	/* first of that tag, or NULL */
const char *object_dynstr(const struct object *o, uint64_t offset);	/* "" when it is out of the table */
const char *object_soname(const struct object *o);			/* NULL: none */
const struct object_section *object_section(const struct object *o, const char *name);
/* True for .plt, .plt.sec, .plt.got; s may be NULL. */
bool object_section_is_plt(const struct object_section *s);
const struct object_section *object_section_at(const struct object *o, uint64_t address);

enum { OBJECT_BUILD_ID_MAX = 32 };
/* Build-id note's bytes (the first 32 of a longer one), looked for in PT_NOTE segments, then in note sections; *n is 0 when there is none. */
const uint8_t *object_build_id(const struct object *o, unsigned *n);
/* True when the object has the soprof note: it is profiled already. */
bool object_is_profiled(const struct object *o);

/* Symbols of .dynsym (its size from section headers, else from the hash tables) or .symtab. */
struct object_symbol { const char *name; uint64_t value, size; uint16_t section; uint8_t type, bind, visibility; };
struct object_symbols { struct object_symbol *v; size_t n; };
struct object_symbols object_dynsyms(const struct object *o);		/* caller frees .v */
struct object_symbols object_symtab(const struct object *o);

/* Dynamic relocations, RELR expanded (type = the machine's RELATIVE; index counts its slots).  The addend of REL and RELR is the word
   in the file at offset (a 32-bit one not sign-extended; 0 in bss).  Entries that DT_RELA and DT_JMPREL share are reported once, as RELOC_PLT.
   MIPS has one type for both kinds: R_MIPS_REL32 with a symbol is given as R_MIPS_32, without one it is a RELATIVE one. */
enum object_reloc_table { RELOC_RELA, RELOC_REL, RELOC_PLT, RELOC_RELR };
struct object_reloc { uint64_t offset; int64_t addend; uint32_t type, symbol; uint8_t table; uint32_t index; };	/* index in its table */
struct object_relocs { struct object_reloc *v; size_t n; };
struct object_relocs object_relocs(const struct object *o);		/* caller frees .v */

/* Byte-order reads of the object's own order. */
uint64_t object_word(const struct object *o, const uint8_t *p, unsigned bytes);

/* XXH3-128 of the whole file in canonical form. */
void object_digest(const struct object *o, unsigned char digest[16]);

/* Has the file the size and digest that info tells? */
bool object_is_listed(const struct object *o, const struct object_info *info);
/* Opens info->path and checks it against size and digest.  NULL, or the fault in words ("changed since the list was made"). */
const char *object_open_listed(struct object *o, const struct object_info *info);
#endif
