/* view.c - joins an object's counts with its original file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/msg.h"
#include "tools/prof-report/view.h"

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

uint64_t block_insns(const struct profile_block *b)
{
	return mul_sat(b->count, b->insns);
}

const struct function *block_function(const struct view *v, const struct profile_block *b)
{
	if (b->function == NO_FUNCTION)
		return NULL;
	return &v->functions.v.v[v->functions.v.v[b->function].whole];
}

void view_place(const struct view *v, uint64_t address, char *text, size_t size)
{
	uint32_t i = v->fault ? NO_FUNCTION : functions_at(&v->functions, address);
	const struct function *f;

	*text = 0;
	if (i == NO_FUNCTION)
		return;
	f = &v->functions.v.v[i];
	if (address == f->start)
		snprintf(text, size, "%s", f->name);
	else
		snprintf(text, size, "%s+0x%" PRIx64, f->name, address - f->start);
}

size_t view_block_at(const struct view *v, uint64_t address)
{
	const struct profile_block *b = v->p->blocks.v;
	size_t low = 0, high = v->p->blocks.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b[middle].address + b[middle].size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the file that is there now is the one that was profiled. */
static const char *open_same(struct object *o, const struct object_info *info)
{
	const char *why;

	if (!info->path)
		return "the profile does not name the original";
	why = object_open(o, info->path);
	if (why)
		return why;
	if (object_is_listed(o, info))
		return NULL;
	object_close(o);
	return "stale: it has changed since it was profiled";
}

static void open_original(struct view *v)
{
	const char *why = NULL;

	v->fault = open_same(&v->elf, &v->p->info);
	if (v->fault) {
		msg_warn(v->p->info.path ? v->p->info.path : v->label, "%s: addresses only", v->fault);
		return;
	}
	v->decoder = decoder_new(v->elf.eh.e_machine, v->elf.eh.e_ident[EI_DATA] == ELFDATA2MSB);
	if (!v->decoder)
		msg_warn(v->label, "machine %u: instructions are not counted", v->elf.eh.e_machine);
	v->lines = lines_open(v->p->info.path, &why);
	if (!v->lines)
		msg_warn(v->label, "no symbols and lines: %s", why);
	else if (lines_debug_path(v->lines))
		msg_detail(v->label, "debug information from %s", lines_debug_path(v->lines));
	functions_find(&v->functions, &v->elf, v->lines);
}

static void look_at_block(struct view *v, struct profile_block *b)
{
	const uint8_t *bytes = NULL;

	if (v->fault)
		return;
	if (b->function == NO_FUNCTION)
		b->function = functions_at(&v->functions, b->address);
	if (b->count && !b->insns && v->decoder)
		bytes = object_at(&v->elf, b->address, b->size);
	if (bytes)
		b->insns = decode_count(v->decoder, bytes, b->size);
}

static void add_to_function(struct view *v, const struct profile_block *b)
{
	struct function *part, *whole;

	if (b->function == NO_FUNCTION)
		return;
	part = &v->functions.v.v[b->function];
	whole = &v->functions.v.v[part->whole];
	whole->blocks++;
	whole->bytes += b->size;
	whole->insns = add_sat(whole->insns, block_insns(b));
	if (b->address == part->start && part == whole && !part->is_rest)
		whole->entered = add_sat(whole->entered, b->count);
	if (b->count) {
		whole->blocks_run++;
		whole->bytes_run += b->size;
	}
}

static void forget_sums(struct view *v)
{
	v->insns = v->executions = v->bytes = v->bytes_run = v->gap_bytes = 0;
	v->blocks_run = v->functions_seen = v->functions_run = 0;
	for (size_t i = 0; i < v->functions.v.n; i++) {
		struct function *f = &v->functions.v.v[i];

		f->insns = f->entered = f->bytes = f->bytes_run = 0;
		f->blocks = f->blocks_run = 0;
	}
}

void view_sum(struct view *v)
{
	forget_sums(v);
	for (size_t i = 0; i < v->p->blocks.n; i++) {
		struct profile_block *b = &v->p->blocks.v[i];

		look_at_block(v, b);
		add_to_function(v, b);
		v->insns = add_sat(v->insns, block_insns(b));
		v->executions = add_sat(v->executions, b->count);
		v->bytes += b->size;
		if (b->count) {
			v->blocks_run++;
			v->bytes_run += b->size;
		}
	}
	for (size_t i = 0; i < v->p->gaps.n; i++)
		v->gap_bytes = add_sat(v->gap_bytes, v->p->gaps.v[i].size);
	for (size_t i = 0; i < v->functions.v.n; i++) {
		const struct function *f = &v->functions.v.v[i];

		v->functions_seen += f->blocks && !f->is_rest;
		v->functions_run += f->blocks_run && !f->is_rest;
	}
}

/* "libx.so.1", or "libx.so.1 [4711 xz]". */
static char *make_label(const struct object_info *info)
{
	const char *name = base_name(info->name ? info->name : info->path ? info->path : "?"), *program = info->process ? strchr(info->process, ' ') : NULL;

	if (!program)
		return xstrdup(name);
	return xasprintf("%s [%.*s %s]", name, (int)(program - info->process), info->process, base_name(program + 1));
}

void view_open(struct view *v, struct profile_object *p)
{
	*v = (struct view){ .p = p };
	v->label = make_label(&p->info);
	open_original(v);
	for (size_t i = 0; i < p->blocks.n; i++)
		p->blocks.v[i].function = NO_FUNCTION;
	view_sum(v);
}

void view_close(struct view *v)
{
	free(v->label);
	if (!v->fault) {
		lines_close(v->lines);
		functions_free(&v->functions);
		decoder_free(v->decoder);
		object_close(&v->elf);
	}
}
