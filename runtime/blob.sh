#!/bin/sh
# blob.sh MACHINE LINKED-FILE > blob-MACHINE.h - the linked run-time code as a C array, after a look whether it is one movable piece
set -eu
machine=$1 file=$2
fault() { echo "blob.sh: $file: $1" >&2; exit 1; }

[ -z "$(llvm-readelf-14 -r "$file" | grep -E '^[0-9a-f]{8}' || true)" ] || fault "has relocations"
[ -z "$(llvm-nm-14 -u "$file")" ] || fault "has undefined symbols"
set -- $(llvm-readelf-14 -SW "$file" | awk '{ sub(/.*\]/, "") } $1 == ".blob" { print $3, $NF }')
[ "$1" -eq 0 ] || fault "begins at $1"
[ "$2" -le 16 ] || fault "needs an alignment of $2"

entry() { llvm-nm-14 "$file" | awk -v name="$1" '$3 == name { print "0x" substr($1, length($1) - 7) }'; }
upper=$(echo "$machine" | tr a-z A-Z)
bytes=$(mktemp)
trap 'rm -f "$bytes"' EXIT
llvm-objcopy-14 -O binary -j .blob "$file" "$bytes"
cat <<END
/* Made from runtime/ by "make runtime-blobs": the run-time code for $machine and its entry points (runtime.h). */
#ifndef RUNTIME_BLOB_${upper}_H
#define RUNTIME_BLOB_${upper}_H

enum { RUNTIME_${upper}_ALIGN = 16, RUNTIME_${upper}_INIT = $(entry runtime_init), RUNTIME_${upper}_CHILD = $(entry runtime_child) };
static const unsigned char runtime_blob_${machine}[] = {
END
od -An -v -tx1 "$bytes" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g; s/^/\t/'
echo '};'
echo '#endif'
