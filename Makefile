# make                programs into bin/, everything else that is made into build/; V=1 shows the commands
# make demo           installs what is missing, builds, profiles a real program, prints its report
# make check          installs what is missing, builds, runs the tests; TESTS="formats so-gen" runs some of them
# make check-oracle   counters against callgrind and a single-stepper, for every workload (ten minutes)
# make check-mips     MIPS objects under qemu, every program and root (long)
# make check-corpus   every shared object of this machine and of test/corpus/packages, or of DIRS (long)
# make check-whole    whole programs with all that they load profiled: Python, NumPy, GLib, nginx, redis, git, a configure run (long)
# make check-asan     the tests of bad input on programs built with the address and undefined-behaviour sanitizers
# make lint           both compilers over everything, warnings are errors
# make bench          speed of profiled objects and of the pipeline
# make install        PREFIX=/usr/local, DESTDIR=
# make runtime-blobs  makes runtime/blob-MACHINE.h again (runtime/rules.mk)
CC = gcc
CLANG = clang-14
CFLAGS = -O2 -g
WARN = -std=c11 -Wall -Wextra -Wpedantic
CPPFLAGS = -I. -D_GNU_SOURCE
LDLIBS = -lelf -lcbor -lxxhash -lZydis
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined
BUILD = build
BIN = bin
PREFIX = /usr/local
DESTDIR =

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s%s\n' $(1) $(2))

TOOLS = so-input reloc-extract so-gen map-dump count-extract prof-report so-run trace-run
LIB_SRC = $(wildcard lib/base/*.c formats/*.c lib/elf/*.c lib/machine/*.c lib/machine/*/*.c lib/code/*.c)
LIB_OBJ = $(LIB_SRC:%.c=$(BUILD)/%.o)
TOOL_SRC = $(foreach t,$(TOOLS),$(wildcard tools/$(t)/*.c))
MAN = $(foreach t,$(TOOLS) soprof,$(wildcard tools/$(t)/$(t).1))

all: $(TOOLS:%=$(BIN)/%) $(BIN)/so-run-audit.so $(BIN)/soprof

# -MT: the dependencies hold however BUILD is spelt, build or /somewhere/build.
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -MT '$$(BUILD)/$*.o' -c -o $@ $<

$(BUILD)/libsoprof.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)ar rcs $@ $^

define tool
$(1)_OBJ = $$(patsubst %.c,$$(BUILD)/%.o,$$(wildcard tools/$(1)/*.c))
$$(BIN)/$(1): $$($(1)_OBJ) $$(BUILD)/libsoprof.a
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS) $$(LDLIBS_$(1))
endef
$(foreach t,$(TOOLS),$(eval $(call tool,$(t))))
# The archive: the shared library hides the demangler that can be stopped (tools/prof-report/functions.c).
LDLIBS_prof-report = -ldw -l:libsupc++.a
# All of LuaJIT, with its symbols: C modules look for its functions in the program, prof-report for the names of its parts.
LDLIBS_trace-run = -Wl,--whole-archive -l:libluajit-5.1.a -Wl,--no-whole-archive -Wl,-E -Wl,--wrap=dlopen -lm -ldl

include runtime/rules.mk
include tools/so-run/audit.mk

$(BIN)/soprof: tools/soprof/soprof
	@mkdir -p $(@D)
	$(Q)install -m 755 $< $@

# The same programs with the sanitizers, in build-asan/.
asan:
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)-asan BIN=$(BUILD)-asan/bin CFLAGS="-O1 -g -fno-omit-frame-pointer $(SANITIZE)" all

# Packages are asked for by name only where a target is meant to install them: plain `make` never does.
packages-build:
	@test/install-packages test/packages-build

packages-test: packages-build
	@test/install-packages test/packages-check test/packages test/packages-mips

demo: packages-build
	@test/install-packages test/packages-demo
	@$(MAKE) --no-print-directory -s all say=
	@BIN=$(abspath $(BIN)) test/demo $(BUILD)/demo

check: packages-test
	@BIN=$(BIN) BUILD=$(BUILD) MAKE=$(MAKE) test/check $(TESTS)

check-asan: packages-test
	@BIN=$(BIN) BUILD=$(BUILD) MAKE=$(MAKE) test/check --asan $(TESTS)

check-oracle: packages-test all
	@BIN=$(abspath $(BIN)) test/oracle/all

check-mips: packages-test all
	@BIN=$(abspath $(BIN)) test/mips/all

check-corpus: packages-test all
	@BIN=$(abspath $(BIN)) test/corpus/all $(or $(DIRS),--packages)

check-whole: packages-test all
	@test/install-packages test/whole/packages
	@BIN=$(abspath $(BIN)) test/whole/all

bench: packages-build
	@$(MAKE) --no-print-directory -s all say=
	@BIN=$(abspath $(BIN)) bench/run
	@BIN=$(abspath $(BIN)) bench/processes

LINT_SRC = $(LIB_SRC) $(TOOL_SRC) $(wildcard tools/so-run/audit/*.c) $(filter-out $(LINT_NOT),$(wildcard test/*.c test/*/*.c test/*/*/*.c bench/*.c))
# Inputs whose code is what matters, and those that need headers of what they embed.
LINT_NOT = $(wildcard test/input/*.c test/workloads/host/*.c test/mips/host/*.c bench/zstdbench.c)
LINT_FLAGS = $(WARN) -Werror $(CPPFLAGS) -fsyntax-only
lint:
	$(call say,LINT,"with $(CC) and $(CLANG)")
	$(Q)printf '%s\n' $(LINT_SRC) | xargs -P2 -n8 $(CC) $(LINT_FLAGS)
	$(Q)printf '%s\n' $(LINT_SRC) | xargs -P2 -n8 $(CLANG) $(LINT_FLAGS)
	$(Q)$(foreach m,$(RUNTIME_MACHINES),$(RUNTIME_CC) $(RUNTIME_FLAGS) $(RUNTIME_FLAGS_$(m)) -Werror -fsyntax-only $(RUNTIME_SRC) &&) true

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/soprof $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(TOOLS:%=$(BIN)/%) $(BIN)/soprof $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(AUDIT_OBJECT) $(DESTDIR)$(PREFIX)/lib/soprof
	install -m 644 $(MAN) $(DESTDIR)$(PREFIX)/share/man/man1

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BIN)

.PHONY: all asan packages-build packages-test demo check check-asan check-oracle check-mips check-corpus check-whole bench lint install clean
-include $(LIB_OBJ:.o=.d) $(TOOL_SRC:%.c=$(BUILD)/%.d)
