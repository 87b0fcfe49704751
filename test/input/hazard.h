/* hazard.h - each hazard-*.c is a library, and with -DHOST the program that uses it; what they print is compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
