# make            the programs, in bin/
# make demo       install what is needed, build, profile a real program, print a report
# make check      install what is needed, build, run the tests
CC = gcc
CFLAGS = -O2 -g
WARN = -std=c11 -Wall -Wextra -Wpedantic
CPPFLAGS = -I. -D_GNU_SOURCE
LDLIBS = -lelf -lcbor -lxxhash -lZydis
BUILD = build
BIN = bin

TOOLS = so-input reloc-extract so-gen map-dump count-extract prof-report
LIB_SRC = $(wildcard lib/base/*.c formats/*.c lib/elf/*.c lib/machine/*.c lib/machine/*/*.c lib/code/*.c)
LIB_OBJ = $(LIB_SRC:%.c=$(BUILD)/%.o)

all: $(TOOLS:%=$(BIN)/%)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libsoprof.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

define tool
$(1)_OBJ = $$(patsubst %.c,$$(BUILD)/%.o,$$(wildcard tools/$(1)/*.c))
$$(BIN)/$(1): $$($(1)_OBJ) $$(BUILD)/libsoprof.a
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS) $$(LDLIBS_$(1))
endef
$(foreach t,$(TOOLS),$(eval $(call tool,$(t))))
# The archive: the shared library hides the demangler that can be stopped (tools/prof-report/functions.c).
LDLIBS_prof-report = -ldw -l:libsupc++.a

include runtime/rules.mk

clean:
	rm -rf $(BUILD) $(BIN)

.PHONY: all clean
-include $(LIB_OBJ:.o=.d) $(wildcard $(BUILD)/tools/*/*.d)
