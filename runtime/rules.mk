# make runtime-blobs   makes runtime/blob-MACHINE.h again, with clang 14 and lld 14 for every machine; the results are committed,
#                      and so are to be made again with each change of runtime/ or formats/counters.h
RUNTIME_CC = clang-14
RUNTIME_LD = ld.lld-14
RUNTIME_MACHINES = x86_64 mips mipsel
RUNTIME_FLAGS = -std=c11 -Wall -Wextra -Wpedantic -Os -ffreestanding -fno-builtin -fpic -fvisibility=hidden -fno-stack-protector \
	-fno-jump-tables -fno-asynchronous-unwind-tables -fno-unwind-tables -fcf-protection=none -fno-ident -I.
RUNTIME_FLAGS_x86_64 = --target=x86_64-linux-gnu -march=x86-64 -mgeneral-regs-only
RUNTIME_EMULATION_x86_64 = elf_x86_64
# MIPS before release 6 has no address relative to the pc: constants are reached from $gp, which mips-entry.s sets, and
# mips1.awk makes calls relative.  Every blob is MIPS I code.
RUNTIME_FLAGS_mips = --target=mips-linux-gnu $(RUNTIME_FLAGS_MIPS)
RUNTIME_FLAGS_mipsel = --target=mipsel-linux-gnu $(RUNTIME_FLAGS_MIPS)
RUNTIME_FLAGS_MIPS = -march=mips2 -msoft-float -fno-pic -mno-abicalls -G65535 -mgpopt -mlocal-sdata -mno-check-zero-division \
	-mllvm -disable-mips-delay-filler -Druntime_init=init_body -Druntime_child=child_body
RUNTIME_EMULATION_mips = elf32btsmip
RUNTIME_EMULATION_mipsel = elf32ltsmip
RUNTIME_ENTRY_mips = runtime/mips-entry.s
RUNTIME_ENTRY_mipsel = runtime/mips-entry.s
RUNTIME_EDIT_mips = runtime/mips1.awk
RUNTIME_EDIT_mipsel = runtime/mips1.awk
RUNTIME_SRC = $(sort $(wildcard runtime/*.c))

define runtime_blob
$$(BUILD)/runtime/$(1)/%.o: runtime/%.c $$(filter-out runtime/blob-%,$$(wildcard runtime/*.h)) formats/counters.h $$(RUNTIME_EDIT_$(1))
	@mkdir -p $$(@D)
	$$(RUNTIME_CC) $$(RUNTIME_FLAGS) $$(RUNTIME_FLAGS_$(1)) $$(if $$(RUNTIME_EDIT_$(1)),-S -o $$(@:.o=.raw),-c -o $$@) $$<
	$$(if $$(RUNTIME_EDIT_$(1)),awk -f $$(RUNTIME_EDIT_$(1)) $$(@:.o=.raw) >$$(@:.o=.s))
	$$(if $$(RUNTIME_EDIT_$(1)),$$(RUNTIME_CC) --target=$(1)-linux-gnu -march=mips1 -msoft-float -mno-abicalls -fno-pic -c -o $$@ $$(@:.o=.s))
$$(BUILD)/runtime/$(1)/entry.o: $$(RUNTIME_ENTRY_$(1))
	@mkdir -p $$(@D)
	$$(RUNTIME_CC) --target=$(1)-linux-gnu -march=mips1 -msoft-float -mno-abicalls -fno-pic -c -o $$@ $$<
$$(BUILD)/runtime/$(1)/blob.elf: $$(if $$(RUNTIME_ENTRY_$(1)),$$(BUILD)/runtime/$(1)/entry.o) \
		$$(RUNTIME_SRC:runtime/%.c=$$(BUILD)/runtime/$(1)/%.o) runtime/blob.ld
	$$(RUNTIME_LD) -m $$(RUNTIME_EMULATION_$(1)) -pie --no-dynamic-linker -z text --build-id=none -T runtime/blob.ld -e runtime_init -o $$@ $$(filter %.o,$$^)
$$(BUILD)/runtime/$(1)/blob.h: $$(BUILD)/runtime/$(1)/blob.elf runtime/blob.sh
	runtime/blob.sh $(1) $$< > $$@.new
	mv $$@.new $$@
endef
$(foreach m,$(RUNTIME_MACHINES),$(eval $(call runtime_blob,$(m))))

# Not a rule for the committed file itself: that would ask everybody who changes a file here, or has a fresh clone, for clang.
runtime-blobs: $(RUNTIME_MACHINES:%=$(BUILD)/runtime/%/blob.h)
	for m in $(RUNTIME_MACHINES); do cp $(BUILD)/runtime/$$m/blob.h runtime/blob-$$m.h || exit; done
.PHONY: runtime-blobs
