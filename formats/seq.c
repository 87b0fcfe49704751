/* seq.c - CBOR sequences over libcbor's streaming API. */
#include "formats/seq.h"
#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/base/msg.h"
#include <cbor.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 65536, HEAD_MAX = 9 };
static const size_t string_max = (size_t)64 << 20;

void seq_reader_init(struct seq_reader *r, FILE *f, const char *name)
{
	*r = (struct seq_reader){ .f = f, .name = name, .cap = WINDOW };
	r->window = xmalloc(r->cap);
}

void seq_reader_free(struct seq_reader *r)
{
	free(r->window);
	r->window = NULL;
	r->begin = r->end = r->cap = 0;
	r->failed = true;
}

bool seq_fault(struct seq_reader *r, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (!r->failed)
		msg_error(r->name, "byte %" PRIu64 ": %s", r->offset, text);
	r->failed = true;
	return false;
}

/* What libcbor tells of one head (or whole string) arrives here. */
struct capture { struct seq_token *token; const char *fault; };

static void take(void *context, enum seq_type type, uint64_t value)
{
	struct seq_token *t = ((struct capture *)context)->token;

	t->type = type;
	t->value = value;
}

static void on_uint8(void *c, uint8_t v) { take(c, SEQ_UINT, v); }
static void on_uint16(void *c, uint16_t v) { take(c, SEQ_UINT, v); }
static void on_uint32(void *c, uint32_t v) { take(c, SEQ_UINT, v); }
static void on_uint64(void *c, uint64_t v) { take(c, SEQ_UINT, v); }
static void on_nint8(void *c, uint8_t v) { take(c, SEQ_NINT, v); }
static void on_nint16(void *c, uint16_t v) { take(c, SEQ_NINT, v); }
static void on_nint32(void *c, uint32_t v) { take(c, SEQ_NINT, v); }
static void on_nint64(void *c, uint64_t v) { take(c, SEQ_NINT, v); }
static void on_array(void *c, size_t n) { take(c, SEQ_ARRAY, n); }
static void on_map(void *c, size_t n) { take(c, SEQ_MAP, n); }
static void on_tag(void *c, uint64_t v) { take(c, SEQ_TAG, v); }
static void on_bool(void *c, bool v) { take(c, SEQ_BOOL, v); }
static void on_null(void *c) { take(c, SEQ_NULL, 0); }

static void on_bytes(void *c, cbor_data p, size_t n)
{
	take(c, SEQ_BYTES, n);
	((struct capture *)c)->token->bytes = (const char *)p;
}

static void on_text(void *c, cbor_data p, size_t n)
{
	take(c, SEQ_TEXT, n);
	((struct capture *)c)->token->bytes = (const char *)p;
}

static void on_double(void *c, double v)
{
	take(c, SEQ_FLOAT, 0);
	((struct capture *)c)->token->number = v;
}

static void on_float(void *c, float v) { on_double(c, (double)v); }

static void on_indefinite(void *c) { ((struct capture *)c)->fault = "not deterministic: an indefinite length"; }
static void on_break(void *c) { ((struct capture *)c)->fault = "malformed: a break without a beginning"; }

static const struct cbor_callbacks callbacks = {
	.uint8 = on_uint8, .uint16 = on_uint16, .uint32 = on_uint32, .uint64 = on_uint64,
	.negint8 = on_nint8, .negint16 = on_nint16, .negint32 = on_nint32, .negint64 = on_nint64,
	.byte_string_start = on_indefinite, .byte_string = on_bytes, .string_start = on_indefinite, .string = on_text,
	.indef_array_start = on_indefinite, .array_start = on_array, .indef_map_start = on_indefinite, .map_start = on_map,
	.tag = on_tag, .float2 = on_float, .float4 = on_float, .float8 = on_double,
	.undefined = on_null, .null = on_null, .boolean = on_bool, .indef_break = on_break,
};

/* Moves what is left to the front of a window of at least need bytes and reads on.  False: nothing came. */
static bool refill(struct seq_reader *r, size_t need)
{
	size_t left = r->end - r->begin, got;

	memmove(r->window, r->window + r->begin, left);
	r->base += r->begin;
	r->begin = 0;
	r->end = left;
	/* The window follows what arrived, not what a head promises. */
	if (need > r->cap && left == r->cap) {
		r->cap = need < r->cap * 2 ? need : r->cap * 2;
		r->window = xrealloc(r->window, r->cap);
	}
	got = fread(r->window + left, 1, r->cap - left, r->f);
	r->end += got;
	return got > 0;
}

static unsigned head_size(uint64_t v)
{
	return v < 24 ? 1 : v < 1 << 8 ? 2 : v < 1 << 16 ? 3 : v >> 32 ? 9 : 5;
}

/* For numbers below 2^11. */
static bool is_whole(double v)
{
	return (double)(int)v == v;
}

/* Bytes of the shortest float that holds v: 11 significant bits from 2^-14 to 2^15, or multiples of 2^-24 below. */
static unsigned float_size(double v)
{
	int e;
	double m = frexp(v, &e);

	if (!isfinite(v) || v == 0)
		return 3;
	if (e <= 16 && e >= -13 && is_whole(ldexp(m, 11)))
		return 3;
	if (e < -13 && e >= -23 && is_whole(ldexp(v, 24)))
		return 3;
	return (double)(float)v == v ? 5 : 9;
}

static bool is_utf8(const char *s, size_t n)
{
	uint64_t eight;

	for (; n >= sizeof eight; s += sizeof eight, n -= sizeof eight) {
		memcpy(&eight, s, sizeof eight);
		if (eight & UINT64_C(0x8080808080808080))
			break;
	}
	while (n) {
		size_t len = utf8_length(s, n);

		if (!len)
			return false;
		s += len;
		n -= len;
	}
	return true;
}

/* Head and value against RFC 8949, 4.2.1. */
static bool check_token(struct seq_reader *r, const struct seq_token *t, size_t size)
{
	size_t wanted;

	switch (t->type) {
	case SEQ_BYTES:
	case SEQ_TEXT:
		if (t->value > string_max)
			return seq_fault(r, "a string of more than 64 MiB");
		wanted = head_size(t->value) + t->value;
		break;
	case SEQ_BOOL:
	case SEQ_NULL:
		wanted = 1;
		break;
	case SEQ_FLOAT:
		wanted = float_size(t->number);
		break;
	default:
		wanted = head_size(t->value);
	}
	if (size != wanted)
		return seq_fault(r, "not deterministic: a longer form than needed");
	if (t->type == SEQ_TEXT && !is_utf8(t->bytes, t->value))
		return seq_fault(r, "malformed: text that is not UTF-8");
	return true;
}

/* libcbor 0.8 takes the tags 6 to 20 for malformed. */
static bool short_tag(struct seq_reader *r, struct seq_token *t)
{
	unsigned char c = r->window[r->begin];

	if (c < 0xc0 || c > 0xd7)
		return false;
	*t = (struct seq_token){ .type = SEQ_TAG, .value = c & 0x1f };
	r->begin++;
	return true;
}

static bool at_end(struct seq_reader *r, struct seq_token *t, bool inside)
{
	t->type = SEQ_END;
	if (ferror(r->f))
		return seq_fault(r, "cannot read: %s", strerror(errno));
	if (inside || r->begin < r->end) {
		r->offset = r->base + r->end;
		return seq_fault(r, "cut: the stream ends inside an item");
	}
	return true;
}

/* The general case: whatever libcbor knows, refilling the window until it is whole. */
static bool decode(struct seq_reader *r, struct seq_token *t, bool inside)
{
	struct capture c = { t, NULL };

	for (;;) {
		size_t left = r->end - r->begin, need = 1;
		struct cbor_decoder_result d;

		if (left) {
			if (short_tag(r, t))
				return true;
			d = cbor_stream_decode(r->window + r->begin, left, &callbacks, &c);
			if (c.fault)
				return seq_fault(r, "%s", c.fault);
			if (d.status == CBOR_DECODER_FINISHED) {
				r->begin += d.read;
				return check_token(r, t, d.read);
			}
			if (d.status == CBOR_DECODER_ERROR)
				return seq_fault(r, "malformed: no item begins with 0x%02x", r->window[r->begin]);
			need = d.required;
			/* A sum that went over the end of size_t comes out too small. */
			if (need <= left || need > string_max + HEAD_MAX)
				return seq_fault(r, "a string of more than 64 MiB");
		}
		if (!refill(r, need))
			return at_end(r, t, inside);
	}
}

/* Most of a stream is integers and short array heads; they are read here, without a call through libcbor. */
static inline bool quick(struct seq_reader *r, struct seq_token *t)
{
	static const uint8_t type_of[8] = { SEQ_UINT, SEQ_NINT, 0, 0, SEQ_ARRAY, 0, 0, 0 };
	static const uint8_t bytes_of[32] = { [24] = 1, 2, 4, 8, 0xff, 0xff, 0xff, 0xff };
	static const uint64_t least[9] = { [1] = 24, [2] = 1 << 8, [4] = 1 << 16, [8] = UINT64_C(1) << 32 };
	const unsigned char *p = r->window + r->begin;
	unsigned n = bytes_of[*p & 0x1f];
	uint64_t v = *p & 0x1f;

	if (!type_of[*p >> 5] || n > 8)
		return false;
	if (n) {
		v = 0;
		for (unsigned i = 1; i <= n; i++)
			v = v << 8 | p[i];
		if (v < least[n])
			return false;
	}
	t->type = type_of[*p >> 5];
	t->value = v;
	r->begin += 1 + n;
	return true;
}

bool seq_next(struct seq_reader *r, struct seq_token *t, bool inside)
{
	if (r->failed)
		return false;
	r->offset = r->base + r->begin;
	if (r->end - r->begin >= HEAD_MAX && quick(r, t))
		return true;
	return decode(r, t, inside);
}

int seq_peek(struct seq_reader *r)
{
	if (r->begin == r->end && !refill(r, 1))
		return -1;
	return r->window[r->begin];
}

static bool add_left(struct seq_reader *r, const struct seq_token *t, uint64_t *left)
{
	uint64_t more = t->type == SEQ_ARRAY ? t->value : t->type == SEQ_MAP ? t->value * 2 : t->type == SEQ_TAG;

	if ((t->type == SEQ_MAP && t->value > UINT64_MAX / 2) || more > UINT64_MAX - *left)
		return seq_fault(r, "over-long: more items than a stream can hold");
	*left += more;
	return true;
}

bool seq_skip(struct seq_reader *r, const struct seq_token *t)
{
	struct seq_token inner = *t;
	uint64_t left = 0;

	if (!add_left(r, &inner, &left))
		return false;
	while (left) {
		if (!seq_next(r, &inner, true))
			return false;
		left--;
		if (!add_left(r, &inner, &left))
			return false;
	}
	return true;
}

void seq_writer_init(struct seq_writer *w, FILE *f, const char *name)
{
	w->f = f;
	w->name = name;
	w->n = 0;
	w->failed = false;
}

static void put(struct seq_writer *w, const void *p, size_t n)
{
	if (n && !w->failed && fwrite(p, 1, n, w->f) != n) {
		msg_error(w->name, "cannot write:");
		w->failed = true;
	}
}

static void drain(struct seq_writer *w)
{
	put(w, w->buffer, w->n);
	w->n = 0;
}

bool seq_writer_flush(struct seq_writer *w)
{
	drain(w);
	if (!w->failed && fflush(w->f)) {
		msg_error(w->name, "cannot write:");
		w->failed = true;
	}
	return !w->failed;
}

#define ROOM(w) ((w)->n + HEAD_MAX > sizeof (w)->buffer ? drain(w) : (void)0)
#define ENCODE(w, encode, value) \
	(ROOM(w), (void)((w)->n += encode((value), (w)->buffer + (w)->n, sizeof (w)->buffer - (w)->n)))

void seq_uint(struct seq_writer *w, uint64_t v)
{
	ENCODE(w, cbor_encode_uint, v);
}

void seq_int(struct seq_writer *w, int64_t v)
{
	if (v < 0)
		ENCODE(w, cbor_encode_negint, ~(uint64_t)v);
	else
		ENCODE(w, cbor_encode_uint, (uint64_t)v);
}

static void string_body(struct seq_writer *w, const void *p, size_t n)
{
	if (n > sizeof w->buffer - w->n)
		drain(w);
	if (n > sizeof w->buffer) {
		put(w, p, n);
		return;
	}
	if (n)
		memcpy(w->buffer + w->n, p, n);
	w->n += n;
}

void seq_text(struct seq_writer *w, const char *s)
{
	size_t n = strlen(s);

	if (is_utf8(s, n))
		ENCODE(w, cbor_encode_string_start, n);
	else
		ENCODE(w, cbor_encode_bytestring_start, n);
	string_body(w, s, n);
}

void seq_bytes(struct seq_writer *w, const void *p, size_t n)
{
	ENCODE(w, cbor_encode_bytestring_start, n);
	string_body(w, p, n);
}

void seq_bool(struct seq_writer *w, bool v)
{
	ENCODE(w, cbor_encode_bool, v);
}

void seq_null(struct seq_writer *w)
{
	ROOM(w);
	w->n += cbor_encode_null(w->buffer + w->n, sizeof w->buffer - w->n);
}

void seq_array(struct seq_writer *w, uint64_t items)
{
	ENCODE(w, cbor_encode_array_start, items);
}

void seq_map(struct seq_writer *w, uint64_t pairs)
{
	ENCODE(w, cbor_encode_map_start, pairs);
}
