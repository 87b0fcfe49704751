/* little.c - MIPS o32 with the low byte first. */
#include "lib/machine/machine.h"
#include "runtime/blob-mipsel.h"
#define BIG false
#define NAME "mipsel"
#define MACHINE machine_mipsel
static const struct blob blob = { runtime_blob_mipsel, sizeof runtime_blob_mipsel, RUNTIME_MIPSEL_INIT, RUNTIME_MIPSEL_CHILD };
#include "lib/machine/mips/both.h"
