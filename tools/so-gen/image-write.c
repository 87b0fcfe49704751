/* image-write.c - the build-id and the file itself. */
#include "tools/so-gen/image-state.h"
#include "lib/base/msg.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Where the file goes: into a hash, or out. */
struct sink {
	XXH3_state_t *hash;		/* NULL: out */
	FILE *f;
	uint64_t at;
	bool failed;
};

static void take(struct sink *s, const void *bytes, size_t len)
{
	if (s->hash)
		XXH3_128bits_update(s->hash, bytes, len);
	else if (len && fwrite(bytes, 1, len, s->f) != len)
		s->failed = true;
	s->at += len;
}

/* The piece at this offset, zeros before it. */
static void take_at(struct sink *s, uint64_t offset, const void *bytes, size_t len)
{
	static const uint8_t zeros[4096];

	while (s->at < offset)
		take(s, zeros, offset - s->at < sizeof zeros ? offset - s->at : sizeof zeros);
	take(s, bytes, len);
}

static void take_all(struct image *img, const struct image_tail *t, struct sink *s)
{
	const struct image_state *st = img->state;

	for (size_t at = 0, n; at < st->file_end; at += n) {
		n = st->file_end - at < MEM_SLICE ? st->file_end - at : MEM_SLICE;
		take_at(s, at, img->bytes + at, n);
		mem_unread(img->bytes + at, n);
	}
	for (int w = 0; w < IMAGE_SEGMENTS; w++)
		for (size_t i = 0; i < img->sections.n; i++) {
			const struct image_section *n = img->sections.v[i];

			if (n->where == (enum image_where)w && n->type != SHT_NOBITS)
				take_at(s, n->offset, n->bytes, n->size);
		}
	for (size_t i = 1; i < img->o->shnum; i++) {
		const struct old_section *old = &st->old[i];

		if (old->fate == OLD_LOOSE)
			take_at(s, old->offset, old->own ? old->own : img->o->image + img->o->sections[i].h.sh_offset, old->size);
	}
	take_at(s, t->names_at, t->names.v, t->names.n);
	take_at(s, t->rows_at, t->table, t->table_size);
}

/* Where the descriptor of the build-id note is in the new file's bytes, or NULL: none that is loaded. */
static uint8_t *descriptor(struct image *img, unsigned *n)
{
	const struct object *o = img->o;
	const uint8_t *id = object_build_id(o, n);

	for (size_t i = 0; id && i < o->phnum; i++) {
		const GElf_Phdr *p = &o->phdrs[i];
		uint64_t in = id - o->image - p->p_offset;

		if (p->p_type == PT_LOAD && in < p->p_filesz)
			return image_at(img, p->p_vaddr + in, *n);
	}
	*n = 0;
	return NULL;
}

/* The hash in canonical form, as often as it takes to fill the descriptor, no two rounds equal. */
static void fill(uint8_t *id, unsigned n, XXH128_hash_t hash)
{
	XXH128_canonical_t c;

	for (unsigned done = 0; done < n; done += sizeof c.digest) {
		XXH128_canonicalFromHash(&c, hash);
		memcpy(id + done, c.digest, n - done < sizeof c.digest ? n - done : sizeof c.digest);
		hash = XXH3_128bits(c.digest, sizeof c.digest);
	}
}

static XXH128_hash_t digest(struct image *img, const struct image_tail *t)
{
	struct sink s = { .hash = XXH3_createState() };
	XXH128_hash_t hash;

	if (!s.hash)
		msg_die(img->o->path, "out of memory");
	XXH3_128bits_reset(s.hash);
	take_all(img, t, &s);
	hash = XXH3_128bits_digest(s.hash);
	XXH3_freeState(s.hash);
	return hash;
}

/* The original's build-id is still in its note while all is hashed. */
static void stamp(struct image *img, const struct image_tail *t)
{
	struct image_state *st = img->state;
	uint8_t *at = descriptor(img, &st->build_id_size);

	if (at) {
		fill(st->build_id, st->build_id_size, digest(img, t));
		memcpy(at, st->build_id, st->build_id_size);
	}
	st->stamped = true;
}

unsigned image_build_id(struct image *img, uint8_t build_id[32])
{
	struct image_tail t;

	if (!img->state->stamped) {
		image_write_phdrs(img);
		image_make_tail(img, &t);
		stamp(img, &t);
		image_free_tail(&t);
	}
	memcpy(build_id, img->state->build_id, 32);
	return img->state->build_id_size;
}

bool image_write(struct image *img, FILE *f, uint8_t build_id[32], unsigned *build_id_size)
{
	struct sink s = { .f = f };
	struct image_tail t;

	image_write_phdrs(img);
	image_make_tail(img, &t);
	if (!img->state->stamped)
		stamp(img, &t);
	take_all(img, &t, &s);
	image_free_tail(&t);
	memcpy(build_id, img->state->build_id, 32);
	*build_id_size = img->state->build_id_size;
	if (s.failed)
		msg_error(img->o->path, "cannot write the profiled object:");
	return !s.failed;
}
