# The audit object: freestanding, since in its namespace there is nothing else; and without the sanitizers, which need a libc.
AUDIT_SRC = $(wildcard tools/so-run/audit/*.c) runtime/text.c
AUDIT_FLAGS = -O2 -g -fPIC -ffreestanding -fno-builtin -fvisibility=hidden -fno-stack-protector -fcf-protection=none \
	-fno-asynchronous-unwind-tables
AUDIT_OBJECT = $(BIN)/so-run-audit.so
$(AUDIT_OBJECT): $(AUDIT_SRC) $(wildcard tools/so-run/audit/*.h runtime/*.h) formats/run.h tools/so-run/audit.mk
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(WARN) $(CPPFLAGS) $(AUDIT_FLAGS) -shared -nostdlib -Wl,-z,now -Wl,--no-undefined -o $@ $(AUDIT_SRC)
