/* qemu-counts.c - a plugin for qemu-user (7.2 and later, version 1 of its interface): counts how often each instruction is started.

   The counts of process PID are in FOLDER/trace.PID, which is mapped shared, so that nothing is lost however the process ends.  A
   forked process begins a file of its own, at zero, when it comes back from the fork.  The file is a struct table in the host's byte
   order.  Where a page is loaded with other code later on (dlclose), counts of both add up. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What is used of qemu-plugin.h. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*f)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*f)(unsigned, void *), int flags, void *data);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, void (*f)(qemu_plugin_id_t, unsigned, int64_t, int64_t));

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv);

enum { PAGES = 8192, WORDS = 1024 };
struct page { uint64_t address, counts[WORDS]; };	/* of the instructions at address + 4 n */
struct table { char magic[8]; uint64_t pid, pages, full; struct page page[PAGES]; };

static struct table *table;
static char folder[4096];
static int pid;
static uint16_t known[1 << 20];	/* for each page of the address space: 1 + its number in the table */

static void die(const char *what)
{
	perror(what);
	_exit(125);
}

/* A new file; at AT if that is not NULL. */
static struct table *new_table(struct table *at)
{
	char path[sizeof folder + 32];
	struct table *t;
	int fd;

	pid = getpid();
	snprintf(path, sizeof path, "%s/trace.%d", folder, pid);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *t))
		die(path);
	t = mmap(at, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
	if (t == MAP_FAILED)
		die(path);
	close(fd);
	memcpy(t->magic, "qemuruns", 8);
	t->pid = (uint64_t)pid;
	return t;
}

/* Code that was translated before a fork goes on with the same places. */
static void separate(void)
{
	static uint64_t addresses[PAGES];
	uint64_t n = table->pages;

	for (uint64_t i = 0; i < n; i++)
		addresses[i] = table->page[i].address;
	new_table(table);
	for (uint64_t i = 0; i < n; i++)
		table->page[i].address = addresses[i];
	table->pages = n;
}

static void returned(qemu_plugin_id_t id, unsigned cpu, int64_t number, int64_t result)
{
	(void)id, (void)cpu, (void)number;
	if (result == 0 && getpid() != pid)
		separate();
}

/* qemu translates one block at a time. */
static uint64_t *place(uint64_t address)
{
	uint16_t *number = &known[address >> 12 & 0xfffff];

	if (!*number) {
		if (table->pages == PAGES) {
			table->full = 1;
			return NULL;
		}
		table->page[table->pages].address = address & ~(uint64_t)0xfff;
		*number = (uint16_t)++table->pages;
	}
	return &table->page[*number - 1].counts[address >> 2 & (WORDS - 1)];
}

static void started(unsigned cpu, void *data)
{
	(void)cpu;
	__atomic_fetch_add((uint64_t *)data, 1, __ATOMIC_RELAXED);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t *count = place(qemu_plugin_insn_vaddr(insn));

		if (count)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, started, 0, count);
	}
}

/* Its one argument is folder=FOLDER. */
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "folder=", 7) || strlen(argv[0] + 7) >= sizeof folder) {
		fprintf(stderr, "qemu-counts: folder=FOLDER is missing\n");
		return -1;
	}
	strcpy(folder, argv[0] + 7);
	table = new_table(NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, returned);
	return 0;
}
