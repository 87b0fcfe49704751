/* image-null.c - writes an object's twin with three new segments and nothing else changed.
   Usage: image-null [-e] [-o ORIGIN] [-x SYMBOL] [-n TAG=VALUE]... IN OUT.  -e: new unwinding sections (empty ones);
   -x: the symbol stands at the start of the new text; -n: a dynamic entry.  Prints the build-id. */
#include "formats/counters.h"
#include "lib/base/msg.h"
#include "lib/base/out.h"
#include "tools/so-gen/image.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_note(struct image *img)
{
	struct image_section *s = image_add(img, IMAGE_R, SECTION_NOTE, SHT_PROGBITS, 12 + 8 + 4, 4);
	uint8_t words[] = { 7, 4, SOPROF_NOTE_TYPE };

	for (int i = 0; i < 3; i++)
		s->bytes[4 * i + (img->o->eh.e_ident[EI_DATA] == ELFDATA2MSB ? 3 : 0)] = words[i];
	memcpy(s->bytes + 12, SOPROF_NOTE_OWNER, 7);
}

static void add_sections(struct image *img)
{
	uint64_t page = image_page(img);
	struct image_section *ro, *text;

	image_add(img, IMAGE_RW, SECTION_PRIVATE, SHT_PROGBITS, page, page);
	image_add(img, IMAGE_RW, ".soprof.header", SHT_PROGBITS, page, page);
	image_add(img, IMAGE_RW, SECTION_COUNTERS, SHT_NOBITS, 65536, 8);
	ro = image_add(img, IMAGE_R, SECTION_INFO, SHT_PROGBITS, 100, 8);
	memset(ro->bytes, 0x55, 100);
	add_note(img);
	text = image_add(img, IMAGE_X, SECTION_TEXT, SHT_PROGBITS, 64, 16);
	memset(text->bytes, 0xc3, 64);
	image_add(img, IMAGE_X, SECTION_MAP, SHT_PROGBITS, 24, 4);
}

/* An empty .eh_frame, and a header without a search table: enough for tools that look at places. */
static struct image_section *add_unwinding(struct image *img)
{
	struct image_section *hdr;

	if (!object_section(img->o, ".eh_frame_hdr"))
		return NULL;
	image_add(img, IMAGE_R, ".eh_frame", SHT_PROGBITS, 4, 8);
	hdr = image_add(img, IMAGE_R, ".eh_frame_hdr", SHT_PROGBITS, 8, 4);
	memcpy(hdr->bytes, "\1\377\377\377", 4);
	return hdr;
}

static void move_symbol(struct image *img, const char *name)
{
	struct object_symbols tables[] = { object_dynsyms(img->o), object_symtab(img->o) };
	const struct image_section *text = img->sections.v[img->sections.n - 1];

	for (size_t i = img->sections.n; strcmp(text->name, SECTION_TEXT);)
		text = img->sections.v[--i];
	for (int t = 0; t < 2; t++) {
		for (size_t i = 0; i < tables[t].n; i++)
			if (!strcmp(tables[t].v[i].name, name))
				(t ? image_symtab : image_dynsym)(img, i, text->address, text->index, 8);
		free(tables[t].v);
	}
}

struct wishes { const char *origin, *symbol, *entries[8]; int n; bool unwinding; };

static const char *twin(struct image *img, const struct object *o, const struct wishes *w)
{
	const char *why = w->origin ? image_plan_from(img, o, w->origin) : image_plan(img, o);
	struct image_section *hdr = NULL;

	if (why)
		return why;
	add_sections(img);
	if (w->unwinding)
		hdr = add_unwinding(img);
	why = image_layout(img);
	if (why)
		return why;
	if (hdr)
		image_eh_frame(img, hdr);
	if (w->symbol)
		move_symbol(img, w->symbol);
	for (int i = 0; i < w->n; i++) {
		char *value;
		int64_t tag = strtoll(w->entries[i], &value, 0);

		if (*value != '=' || !image_dynamic(img, tag, strtoull(value + 1, NULL, 0)))
			return "no room in the dynamic section";
	}
	return NULL;
}

static bool write_twin(struct image *img, const char *path)
{
	struct out out;
	uint8_t id[32];
	unsigned n;

	if (!out_open(&out, path, 0777))
		return false;
	if (!image_write(img, out.f, id, &n)) {
		out_abandon(&out);
		return false;
	}
	for (unsigned i = 0; i < n; i++)
		printf("%02x", id[i]);
	putchar('\n');
	return out_commit(&out);
}

static bool parse(struct wishes *w, int argc, char **argv)
{
	for (int c; (c = getopt(argc, argv, "en:o:x:")) != -1;)
		if (c == 'e')
			w->unwinding = true;
		else if (c == 'o')
			w->origin = optarg;
		else if (c == 'x')
			w->symbol = optarg;
		else if (c == 'n' && w->n < 8)
			w->entries[w->n++] = optarg;
		else
			return false;
	return argc - optind == 2;
}

int main(int argc, char **argv)
{
	struct wishes w = { 0 };
	const char *why;
	struct object o;
	struct image img;

	msg_init("image-null");
	if (!parse(&w, argc, argv))
		return 2;
	why = object_open(&o, argv[optind]);
	if (why) {
		msg_error(argv[optind], "not opened: %s", why);
		return 1;
	}
	why = twin(&img, &o, &w);
	if (why)
		msg_error(argv[optind], "refused: %s", why);
	else
		write_twin(&img, argv[optind + 1]);
	image_free(&img);
	object_close(&o);
	return msg_status();
}
