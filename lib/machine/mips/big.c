/* big.c - MIPS o32 with the high byte first. */
#include "lib/machine/machine.h"
#include "runtime/blob-mips.h"
#define BIG true
#define NAME "mips"
#define MACHINE machine_mips
static const struct blob blob = { runtime_blob_mips, sizeof runtime_blob_mips, RUNTIME_MIPS_INIT, RUNTIME_MIPS_CHILD };
#include "lib/machine/mips/both.h"
