# make runtime-blobs   makes runtime/blob-MACHINE.h again, with clang 14 and lld 14 for every machine; the results are committed,
#                      and so are to be made again with each change of runtime/ or formats/counters.h
RUNTIME_CC = clang-14
RUNTIME_LD = ld.lld-14
RUNTIME_MACHINES = x86_64
RUNTIME_FLAGS = -std=c11 -Wall -Wextra -Wpedantic -Os -ffreestanding -fno-builtin -fpic -fvisibility=hidden -fno-stack-protector \
	-fno-jump-tables -fno-asynchronous-unwind-tables -fno-unwind-tables -fcf-protection=none -fno-ident -I.
RUNTIME_FLAGS_x86_64 = --target=x86_64-linux-gnu -march=x86-64 -mgeneral-regs-only
RUNTIME_EMULATION_x86_64 = elf_x86_64
RUNTIME_SRC = $(sort $(wildcard runtime/*.c))

define runtime_blob
$$(BUILD)/runtime/$(1)/%.o: runtime/%.c $$(filter-out runtime/blob-%,$$(wildcard runtime/*.h)) formats/counters.h
	@mkdir -p $$(@D)
	$$(RUNTIME_CC) $$(RUNTIME_FLAGS) $$(RUNTIME_FLAGS_$(1)) -c -o $$@ $$<
$$(BUILD)/runtime/$(1)/blob.elf: $$(RUNTIME_SRC:runtime/%.c=$$(BUILD)/runtime/$(1)/%.o) runtime/blob.ld
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
