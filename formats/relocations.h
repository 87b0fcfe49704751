/* relocations.h - the row types of a "relocations" stream.  Rows are permissions: deleting any subset gives a correct
   profiled object that counts less.  Addresses are link-time addresses. */
#ifndef FORMATS_RELOCATIONS_H
#define FORMATS_RELOCATIONS_H

enum relocation_type {
	/* JP2795309B2, figure 6: type, address, information; never with details. */
	REL_PROLOGUE = 0,	/* function entry; gp (elsewhere: GOT address) - entry.  Permits: the entry has a new address, and gets a springboard */
	REL_VIRTUAL_ADDRESS = 1,/* data word (RELATIVE or RELR slot, init-array slot, lazy PLT's GOT word); the text address it holds */
	REL_GOT_REFERENCE = 2,	/* instruction that obtains a text address; that text address */

	REL_RANGE = 3,		/* code that may be moved: start; size.  details: kind "fde", "code" (no FDE covers it), "plt"; name;
				   count, where reading single instructions does not tell (MIPS): how many rows of REL_GOT_REFERENCE lead
				   into it.  With fewer of them its entries keep their addresses */
	REL_JUMP_TABLE = 4,	/* the indirect jump; the table's address.  details: base (what entries are relative to; 0 for
				   absolute ones), width (bytes an entry), is_signed, scale, count (entries), proven, kind: how the bound is known */
	REL_JUMP_ENTRY = 5,	/* address of an entry of the table above it; its target */
	REL_LANDING_PAD = 6,	/* landing pad; start of the function (FDE) that has it */
	REL_BLOCK_START = 7,	/* a block start that only the analysis knows; 0 */
	REL_NOT_MOVED = 8,	/* code that stays: start; size.  details: why (one line), name if there is one, kind as in REL_RANGE
				   or "gap": bytes in a code section that nothing is known to enter */
	REL_LABEL = 9,		/* a data word that holds the address of a label inside a moved function (computed goto); the text address */
};
#endif
