/* stream_tool.c - the codec on its own, for formats.bats:
   stream_tool sample KIND     a stream with every map key and row type
   stream_tool copy [KIND]     standard input through reader and writer
   stream_tool cuts            standard input cut at each byte: prints the lengths at which it is a whole stream
   stream_tool tokens          the items of any sequence, as the reader sees them */
#include "formats/profile.h"
#include "formats/relocations.h"
#include "formats/stream.h"
#include "lib/base/msg.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct stream_writer writer;

static struct object_info sample_object(enum stream_kind kind)
{
	struct object_info o = {
		.path = "/usr/lib/libsample.so.1.2", .name = "libsample.so.1", .soname = "libsample.so.1", .machine = "mips",
		.why = "needed by app", .found = "cache", .skip = "the loader itself", .link_map = "0",
		.build_id = { 0xde, 0xad, 0xbe, 0xef }, .build_id_size = 20, .digest = { 1 }, .size = 1 << 20,
		.elf_class = 32, .big_endian = true, .reachable = true, .is_app = true,
	};

	if (kind == STREAM_PROFILE) {
		o.profiled = "/tmp/out/libsample.so.1";
		o.processes = 3;
		o.blocks = 70000;
		o.text_bytes = UINT64_C(1) << 33;
		o.note = "forked: counts may be inexact";
	}
	return o;
}

static const struct stream_row relocations[] = {
	{ .type = REL_PROLOGUE, .address = 0x1000, .information = -0x1000 },
	{ .type = REL_VIRTUAL_ADDRESS, .address = 0x20000, .information = 0x1000 },
	{ .type = REL_GOT_REFERENCE, .address = 0x1008, .information = 0x1100 },
	{ .type = REL_RANGE, .address = 0x1000, .information = 0x100, .details = { .present = true, .kind = "fde", .name = "f" } },
	{ .type = REL_RANGE, .address = 0x1100, .information = 0x10 },
	{ .type = REL_JUMP_TABLE, .address = 0x1010, .information = 0x3000, .details = { .present = true, .base = 0x3000, .width = 4,
		.count = 7, .is_signed = true, .scale = -2, .proven = true, .kind = "compare" } },
	{ .type = REL_JUMP_ENTRY, .address = 0x3000, .information = 0x1020 },
	{ .type = REL_LANDING_PAD, .address = 0x1030, .information = 0x1000 },
	{ .type = REL_BLOCK_START, .address = 0x1040 },
	{ .type = REL_NOT_MOVED, .address = 0x1200, .information = 0x20,
		.details = { .present = true, .why = "an indirect jump", .name = "g", .kind = "code" } },
	{ .type = REL_LABEL, .address = 0x20008, .information = 0x1050 },
	{ .type = 4711, .address = UINT64_MAX, .information = INT64_MIN },
};

static const struct stream_row profile[] = {
	{ .type = PROFILE_BLOCK, .address = 0x1000, .information = 12, .count = UINT64_MAX },
	{ .type = PROFILE_BLOCK, .address = 0x100c, .information = 4 },
	{ .type = PROFILE_OLD_ENTRY, .address = 0x1000, .count = 2 },
	{ .type = PROFILE_NOT_COUNTED, .address = 0x1200, .information = 0x20,
		.details = { .present = true, .why = "an indirect jump", .name = "\xff odd", .kind = "fde" } },
};

static int sample(enum stream_kind kind)
{
	struct object_info o = sample_object(kind);
	struct object_info small = { .path = "/\xff\xfe", .name = "b" };
	const struct stream_row *rows = kind == STREAM_PROFILE ? profile : relocations;
	size_t n = kind == STREAM_PROFILE ? sizeof profile / sizeof *profile :
		   kind == STREAM_RELOCATIONS ? sizeof relocations / sizeof *relocations : 0;

	stream_begin(&writer, kind, stdout, "standard output");
	stream_object(&writer, &o);
	for (size_t i = 0; i < n; i++)
		if (kind == STREAM_RELOCATIONS && i < 3)
			stream_row3(&writer, (unsigned)rows[i].type, rows[i].address, rows[i].information);
		else
			stream_row(&writer, &rows[i]);
	stream_object_end(&writer);
	stream_object(&writer, &small);
	stream_object_end(&writer);
	return !stream_finish(&writer);
}

static int copy(int kind)
{
	struct stream_reader r;
	enum stream_event e;

	stream_reader_init(&r, stdin, "standard input", kind);
	while ((e = stream_next(&r)) > STREAM_DONE) {
		if (e == STREAM_OBJECT && !writer.seq.name)
			stream_begin(&writer, r.kind, stdout, "standard output");
		if (e == STREAM_OBJECT)
			stream_object(&writer, &r.object);
		else if (e == STREAM_ROW)
			stream_row(&writer, &r.row);
		else
			stream_object_end(&writer);
	}
	if (!writer.seq.name && e == STREAM_DONE)
		stream_begin(&writer, r.kind, stdout, "standard output");
	stream_reader_free(&r);
	return !stream_finish(&writer) || msg_status();
}

static bool is_whole(char *bytes, size_t n)
{
	FILE *f = n ? fmemopen(bytes, n, "r") : fopen("/dev/null", "r");
	struct stream_reader r;
	enum stream_event e;

	stream_reader_init(&r, f, "cut", -1);
	while ((e = stream_next(&r)) > STREAM_DONE)
		;
	stream_reader_free(&r);
	fclose(f);
	return e == STREAM_DONE;
}

static int cuts(void)
{
	static char bytes[65536];
	size_t n = fread(bytes, 1, sizeof bytes, stdin);

	for (size_t i = 0; i <= n; i++) {
		/* A copy of just that size, so that reading beyond it is noticed. */
		char *copy = xmalloc(i);

		memcpy(copy, bytes, i);
		if (is_whole(copy, i))
			printf("%zu\n", i);
		free(copy);
	}
	return 0;
}

static int tokens(void)
{
	static const char *const names[] = { "end", "uint", "nint", "bytes", "text", "array", "map", "tag", "bool", "null", "float" };
	struct seq_reader r;
	struct seq_token t;

	seq_reader_init(&r, stdin, "standard input");
	while (seq_next(&r, &t, false) && t.type != SEQ_END) {
		if (t.type == SEQ_FLOAT)
			printf("float %.17g\n", t.number);
		else
			printf("%s %" PRIu64 "\n", names[t.type], t.value);
		if (!seq_skip(&r, &t))
			break;
	}
	seq_reader_free(&r);
	return msg_status();
}

static int kind_of(const char *name)
{
	for (int i = 0; i < 3; i++)
		if (name && !strcmp(name, stream_kind_names[i]))
			return i;
	return -1;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int kind = kind_of(argc > 2 ? argv[2] : NULL);

	msg_init("stream_tool");
	if (!strcmp(mode, "sample") && kind >= 0)
		return sample((enum stream_kind)kind);
	if (!strcmp(mode, "copy"))
		return copy(kind);
	if (!strcmp(mode, "cuts"))
		return cuts();
	if (!strcmp(mode, "tokens"))
		return tokens();
	return 2;
}
