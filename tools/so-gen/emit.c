/* emit.c - writes new text: counting code, moved instructions, stubs, the run-time code. */
#include <string.h>
#include "tools/so-gen/gen.h"

struct emit {
	struct gen *g;
	uint8_t *out;			/* first byte of new text */
	uint64_t at;			/* its address */
	size_t ref;			/* next of code.refs */
	const char *fault;
};

static uint64_t old_or_new(const struct emit *x, int32_t block, uint64_t target)
{
	return block == CODE_NONE ? target : x->at + x->g->blocks.v[block].new;
}

static void fix_ref(struct emit *x, const struct block *b, const struct code_ref *ref, uint32_t body, uint32_t within)
{
	struct gen *g = x->g;
	uint32_t into = ref->at - b->old;	/* of a split block: one byte of the instruction is missing */
	struct insn insn = { .at = ref->at, .len = ref->len, .pc_pos = ref->pc_pos, .pc_size = 4, .target = ref->target };
	uint64_t target = ref->flags & INSN_ADDRESS ? gen_address(g, ref->target) : ref->target;
	if (target >= CODE_BEYOND)		/* a table's address less an offset: below 0 */
		target -= UINT64_C(1) << 32;
	uint32_t place = body + (into - within);
	if (!g->c.m->pc_field(x->out + place, x->at + place, &insn, target))
		x->fault = "an operand is out of reach of new text";
}

/* The moved instructions from `within` on, but for a direct branch at the end. */
static uint32_t emit_body(struct emit *x, const struct block *b, uint32_t o, uint32_t within, uint32_t size)
{
	const struct code *c = &x->g->c;
	if (size)
		memcpy(x->out + o, code_bytes(c, b->old + within, size), size);
	while (x->ref < c->refs.n && c->refs.v[x->ref].at < b->old)
		x->ref++;
	for (; x->ref < c->refs.n && c->refs.v[x->ref].at < b->old + b->size; x->ref++)
		fix_ref(x, b, &c->refs.v[x->ref], o, within);
	return o + size;
}

/* The tail of a locked instruction: its reference was met one byte earlier. */
static uint32_t emit_split(struct emit *x, const struct block *b, uint32_t o)
{
	const struct code *c = &x->g->c;
	memcpy(x->out + o, code_bytes(c, b->old, b->size), b->size);
	if (x->ref && c->refs.v[x->ref - 1].at == b->old - 1) {
		struct code_ref ref = c->refs.v[x->ref - 1];
		ref.at++;
		ref.len--;
		ref.pc_pos--;
		fix_ref(x, b, &ref, o, 0);
	}
	return o + b->size;
}

static void emit_block(struct emit *x, size_t i)
{
	struct gen *g = x->g;
	const struct machine *m = g->c.m;
	struct block *b = &g->blocks.v[i];
	uint32_t o = b->new, mark = b->flags & BLOCK_MARK ? m->mark_size : 0, size = b->size;
	const struct code_end *e = b->end != CODE_NONE ? &g->c.ends.v[b->end] : NULL;
	bool direct = e && insn_is_direct(e->kind);
	m->pad(x->out + o - b->pad, b->pad);
	if (mark) {
		memcpy(x->out + o, code_bytes(&g->c, b->old, mark), mark);
		o += mark;
	}
	if (b->inserted) {
		m->count(x->out + o, x->at + o, g->counters->address + 8 * (uint64_t)i, gen_how(g, b));
		o += b->inserted;
	}
	struct rewrite w;
	bool rewritten = gen_tail(g, i, &w);
	size -= mark + (rewritten ? w.insn.len : direct ? e->len : 0);
	o = b->flags & BLOCK_SPLIT ? emit_split(x, b, o) : emit_body(x, b, o, mark, size);
	if (rewritten) {
		size_t n = m->rewrite(x->out + o, x->at + o, &w);
		if (!n)
			x->fault = code_reason(&g->c, "the branch at 0x%x is out of reach, and no register is free for a longer one", (unsigned)w.insn.at);
		o += n;
	} else if (direct) {
		struct insn insn = code_end_insn(e);
		const uint8_t *p = code_bytes(&g->c, e->at, e->len);
		m->branch(x->out + o, x->at + o, p, &insn, b->flags & BLOCK_NEAR, old_or_new(x, g->end_block[b->end], e->target));
		o += m->branch_size(p, &insn, b->flags & BLOCK_NEAR);
	}
	if (b->flags & BLOCK_FORK) {
		m->fork_check(x->out + o, x->at + o, g->private_page->address, x->at + g->fork_stubs + g->forks * m->fork_stub_size);
		m->fork_stub(x->out + g->fork_stubs + g->forks * m->fork_stub_size, x->at + g->fork_stubs + g->forks * m->fork_stub_size,
		             x->at + g->fork_common, x->at + o + m->fork_check_size);
		g->forks++;
		o += m->fork_check_size;
	}
	if (b->flags & BLOCK_JOIN) {
		uint64_t next = b->old + b->size;
		uint64_t to = old_or_new(x, gen_block_at(g, next), next);
		if (m->join)
			m->join(x->out + o, x->at + o, to, b->flags & BLOCK_JOIN_FAR, g->registers->dead_end[i]);
		else
			m->jump(x->out + o, x->at + o, to);
	}
}

/* A springboard's stub: counts the entry, goes on at the new one. */
static void emit_springs(struct emit *x)
{
	struct gen *g = x->g;
	const struct machine *m = g->c.m;
	uint32_t o = g->spring_stubs;
	for (size_t i = 0; i < g->springs.n; i++) {
		const struct block *b = &g->blocks.v[gen_block_at(g, g->springs.v[i])];
		uint32_t start = o;
		if (!g->options->identity) {
			m->count(x->out + o, x->at + o, g->counters->address + 8 * (g->blocks.n + i), gen_how(g, b));
			o += b->inserted;
		}
		if (m->spring) {
			bool by_register = code_prologue(&g->c, g->springs.v[i]) != NULL;
			o += m->spring(x->out + o, x->at + o, x->at + b->new, x->at + start, by_register);
		} else {
			m->jump(x->out + o, x->at + o, x->at + b->new);
			o += m->spring_size;
		}
	}
}

/* gp is made from the new address. */
static void emit_prologues(struct emit *x)
{
	const struct gen *g = x->g;
	for (size_t i = 0; i < g->c.prologues.n; i++) {
		const struct prologue *q = &g->c.prologues.v[i];
		int32_t k = gen_block_at(g, q->entry);
		uint64_t high, low;
		if (k == CODE_NONE || !gen_place(g, q->high, &high) || !gen_place(g, q->low, &low))
			continue;
		/* at the entry itself what was inserted stands first */
		if (q->high == q->entry)
			high += g->blocks.v[k].inserted;
		g->c.m->prologue_move(x->out + high, x->out + low, q->distance + q->entry - (uint32_t)(x->at + g->blocks.v[k].new));
	}
}

/* One word an old instruction: how far away its new place is. */
static void emit_places(struct emit *x)
{
	const struct gen *g = x->g;
	for (uint32_t a = g->c.lo; g->places && a < g->c.hi; a += 4) {
		uint64_t to;
		if (code_starts(&g->c, a) && gen_block_of(g, a) != CODE_NONE && gen_place(g, a, &to))
			gen_put(g, g->places->bytes + (a - g->c.lo), x->at + to - a, 4);
	}
}

static void emit_runtime(struct emit *x)
{
	struct gen *g = x->g;
	const struct machine *m = g->c.m;
	if (g->options->identity)
		return;
	uint64_t private_page = g->private_page->address, header = g->header->address;
	memcpy(x->out + g->blob, m->runtime->bytes, m->runtime->size);
	m->fork_common(x->out + g->fork_common, x->at + g->fork_common, private_page, header, x->at + g->blob + m->runtime->child);
	m->init_stub(x->out + g->init_stub, x->at + g->init_stub, private_page, header, x->at + g->blob + m->runtime->init,
	             g->init_next ? gen_address(g, g->init_next) : 0);
}

const char *gen_emit(struct gen *g)
{
	if (g->counters && g->c.m->count_base && g->counters->address % g->c.m->page)
		return "counters that do not begin with a page";
	struct emit x = { .g = g, .out = g->text->bytes, .at = g->text->address };
	g->c.m->trap(x.out, g->text->size);
	for (size_t i = 0; i < g->blocks.n; i++)
		emit_block(&x, i);
	emit_springs(&x);
	if (g->c.m->through_gp) {
		emit_prologues(&x);
		emit_places(&x);
	}
	emit_runtime(&x);
	return x.fault;
}
