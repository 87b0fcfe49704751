/* profile.h - the row types of a "profile" stream that count-extract writes (traces and samples have types from 32 on). */
#ifndef FORMATS_PROFILE_H
#define FORMATS_PROFILE_H

enum profile_type {
	PROFILE_BLOCK = 0,	/* [0, address, size in bytes, count]: a basic block of the original, zero counts too */
	PROFILE_OLD_ENTRY = 1,	/* [1, function entry, 0, count]: entered by its old address count times */
	PROFILE_NOT_COUNTED = 2,/* [2, start, size, 0, {why, name, kind}]: code that stayed in old text */
};
#endif
