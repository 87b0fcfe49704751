/* emit.c - rows of the profile, in the file while the script runs. */
#include "tools/trace-run/emit.h"
#include <cbor.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "formats/profile.h"
#include "formats/stream.h"
#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/base/msg.h"
#include "tools/trace-run/descriptor.h"

enum {
	HEAD = 9, RING = 256, SAMPLE_BYTES = 64 + HEAD * (3 + 2 * SAMPLE_FRAMES),
	BUFFER = 65536, WAITING = 16384, SAMPLES_WAITING = 64, NANOSECONDS_WAITING = 20000000
};

static struct {
	int fd;
	struct stat file;		/* what fd has to be */
	char *path;
	bool made, failed;
	volatile int held;
	uint64_t rows, samples, lost;
	uint64_t size, limit;		/* a file over RLIMIT_FSIZE would end the process */
	unsigned char *buffer;		/* of rows that wait; only made larger while held */
	size_t n, cap;
	unsigned samples_waiting;
	uint64_t written;		/* the time of the sample with which it was written last */
} out = { .fd = -1 };

static struct sample ring[RING];
static volatile uint32_t ring_head, ring_tail;	/* both only of the sampled thread: the handler and what it interrupts */

struct pen { unsigned char *p, *end; };

static void put_uint(struct pen *pen, uint64_t v)
{
	pen->p += cbor_encode_uint(v, pen->p, (size_t)(pen->end - pen->p));
}

static void put_int(struct pen *pen, int64_t v)
{
	if (v < 0)
		pen->p += cbor_encode_negint(~(uint64_t)v, pen->p, (size_t)(pen->end - pen->p));
	else
		put_uint(pen, (uint64_t)v);
}

static void put_array(struct pen *pen, size_t n)
{
	pen->p += cbor_encode_array_start(n, pen->p, (size_t)(pen->end - pen->p));
}

static void put_map(struct pen *pen, size_t n)
{
	pen->p += cbor_encode_map_start(n, pen->p, (size_t)(pen->end - pen->p));
}

static bool is_text(const char *s, size_t n)
{
	while (n) {
		size_t length = utf8_length(s, n);

		if (!length)
			return false;
		s += length;
		n -= length;
	}
	return true;
}

static void put_text(struct pen *pen, const char *s)
{
	size_t n = strlen(s), room = (size_t)(pen->end - pen->p);

	pen->p += is_text(s, n) ? cbor_encode_string_start(n, pen->p, room) : cbor_encode_bytestring_start(n, pen->p, room);
	memcpy(pen->p, s, n);
	pen->p += n;
}

static void put_field(struct pen *pen, const char *key, const char *text)
{
	if (text) {
		put_text(pen, key);
		put_text(pen, text);
	}
}

/* A reader of a FIFO that left must not end the script: its SIGPIPE is taken back. */
static ssize_t write_quietly(const unsigned char *p, size_t n)
{
	const struct timespec none = { 0, 0 };
	sigset_t pipe, pending, was;
	ssize_t done;
	int error;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &was);
	sigpending(&pending);
	done = write(out.fd, p, n);
	error = errno;
	if (done < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&pipe, NULL, &none) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	errno = error;
	return done;
}

/* Most outputs are files, which raise no signal. */
static bool is_pipe;

/* The script closed it, and may have opened another in its place. */
static void leave_lost_file(void)
{
	if (out.fd >= 0 && !descriptor_is(out.fd, &out.file)) {
		out.fd = -1;
		out.failed = true;
	}
}

static void put_bytes(const unsigned char *p, size_t n)
{
	if (n > out.limit - out.size)
		out.failed = true;
	leave_lost_file();
	while (n && !out.failed && out.fd >= 0) {
		ssize_t done = is_pipe ? write_quietly(p, n) : write(out.fd, p, n);

		if (done >= 0) {
			p += done;
			n -= (size_t)done;
			out.size += (uint64_t)done;
		} else if (errno != EINTR && errno != EAGAIN) {
			out.failed = true;
		}
	}
}

static void put_waiting(void)
{
	put_bytes(out.buffer, out.n);
	out.n = 0;
	out.samples_waiting = 0;
}

static void put_sample(const struct sample *s)
{
	bool listed = s->weight != 1 || s->return_address || s->c_function || s->frames;
	struct pen pen;

	if (out.cap - out.n < SAMPLE_BYTES)
		put_waiting();
	pen = (struct pen){ out.buffer + out.n, out.buffer + out.cap };
	put_array(&pen, 4 + listed);
	put_uint(&pen, PROFILE_SAMPLE);
	put_uint(&pen, s->pc);
	put_int(&pen, s->state);
	put_uint(&pen, s->time);
	if (listed) {
		size_t n = s->frames ? 3 + 2 * s->frames : s->c_function ? 3 : s->return_address ? 2 : 1;

		put_map(&pen, 1);
		put_text(&pen, "numbers");
		put_array(&pen, n);
		put_uint(&pen, s->weight);
		if (n > 1)
			put_uint(&pen, s->return_address);
		if (n > 2)
			put_uint(&pen, s->c_function);
		for (size_t i = 0; i < s->frames; i++) {
			put_uint(&pen, s->frame[i].prototype);
			put_uint(&pen, s->frame[i].position);
		}
	}
	out.n = (size_t)(pen.p - out.buffer);
	out.rows++;
	out.samples++;
	if (++out.samples_waiting >= SAMPLES_WAITING || s->time - out.written >= NANOSECONDS_WAITING) {
		put_waiting();
		out.written = s->time;
	}
}

/* A sample that comes meanwhile finds it held, and is written by this loop. */
static void drain(void)
{
	do {
		out.held = 1;
		while (ring_tail != ring_head) {
			put_sample(&ring[ring_tail % RING]);
			ring_tail++;
		}
		out.held = 0;
	} while (ring_tail != ring_head);
}

struct sample *emit_sample_begin(void)
{
	if (ring_head - ring_tail >= RING) {
		out.lost++;
		return NULL;
	}
	return &ring[ring_head % RING];
}

void emit_sample(void)
{
	ring_head++;
	if (!out.held)
		drain();
}

void emit_hold(void)
{
	out.held++;
}

void emit_release(void)
{
	if (out.held == 1)
		drain();
	else
		out.held--;
}

bool emit_held(void)
{
	return out.held;
}

static void put_details(struct pen *pen, const struct row *row)
{
	put_map(pen, (size_t)(row->kind != NULL) + (row->name != NULL) + (row->why != NULL) + (row->n != 0));
	put_field(pen, "why", row->why);
	put_field(pen, "kind", row->kind);
	put_field(pen, "name", row->name);
	if (row->n) {
		put_text(pen, "numbers");
		put_array(pen, row->n);
		for (size_t i = 0; i < row->n; i++)
			put_int(pen, row->numbers[i]);
	}
}

static size_t text_bytes(const char *s)
{
	return s ? strlen(s) + 2 * HEAD : 0;
}

void emit_row(const struct row *row)
{
	size_t need = 128 + text_bytes(row->kind) + text_bytes(row->name) + text_bytes(row->why) + HEAD * row->n;
	bool details = row->kind || row->name || row->why || row->n;
	struct pen pen;

	if (out.fd < 0)
		return;
	emit_hold();
	if (out.n + need > out.cap)
		out.buffer = xrealloc(out.buffer, out.cap = 2 * (out.n + need));
	pen = (struct pen){ out.buffer + out.n, out.buffer + out.cap };
	put_array(&pen, 4 + details);
	put_uint(&pen, row->type);
	put_uint(&pen, row->address);
	put_int(&pen, row->information);
	put_uint(&pen, row->count);
	if (details)
		put_details(&pen, row);
	out.n = (size_t)(pen.p - out.buffer);
	out.rows++;
	if (!row->can_wait || out.n >= WAITING)
		put_waiting();
	emit_release();
}

static void begin(const struct emit_object *object)
{
	struct pen pen;

	out.cap = BUFFER + strlen(object->path) + strlen(object->name);
	out.buffer = xmalloc(out.cap);
	pen = (struct pen){ out.buffer, out.buffer + out.cap };
	put_array(&pen, 2);
	put_text(&pen, stream_kind_names[STREAM_PROFILE]);
	put_uint(&pen, STREAM_VERSION);
	put_map(&pen, 3);
	put_field(&pen, "name", object->name);
	put_field(&pen, "path", object->path);
	put_field(&pen, "machine", object->machine);
	put_bytes(out.buffer, (size_t)(pen.p - out.buffer));
}

bool emit_open(const char *path, const struct emit_object *object)
{
	struct rlimit limit;
	struct stat before;
	bool was_there;

	out.path = path ? xstrdup(path) : xasprintf("trace.%ld.cbor", (long)getpid());
	was_there = !stat(out.path, &before);
	out.fd = open(out.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | (path ? 0 : O_NOFOLLOW), 0666);
	if (out.fd < 0) {
		msg_error(out.path, "cannot write:");
		return false;
	}
	if (isatty(out.fd)) {
		msg_error(out.path, "is a terminal: give -o a file");
		close(out.fd);
		out.fd = -1;
		return false;
	}
	out.made = !was_there;
	is_pipe = fstat(out.fd, &out.file) || !S_ISREG(out.file.st_mode);
	out.limit = !is_pipe && !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
	out.fd = descriptor_away(out.fd);
	begin(object);
	return true;
}

const char *emit_path(void) { return out.path; }
uint64_t emit_samples(void) { return out.samples; }
uint64_t emit_lost(void) { return out.lost; }
bool emit_is_open(void) { return out.fd >= 0; }

bool emit_end(void)
{
	unsigned char bytes[32];
	struct pen pen = { bytes, bytes + sizeof bytes };
	static bool ended;

	if (ended)
		return !out.failed;
	ended = true;
	if (out.fd >= 0) {
		emit_hold();
		emit_release();
		put_waiting();
		put_array(&pen, 2);
		put_int(&pen, -1);
		put_uint(&pen, out.rows);
		errno = 0;
		put_bytes(bytes, (size_t)(pen.p - bytes));
	}
	if (out.fd >= 0 && close(out.fd))
		out.failed = true;
	out.fd = -1;
	if (out.failed)
		msg_error(out.path, "cannot write all of the profile: it ends early");
	return !out.failed;
}

void emit_detach(void)
{
	if (out.fd >= 0)
		close(out.fd);
	out.fd = -1;
}

void emit_remove(void)
{
	if (out.fd >= 0 && out.made)
		unlink(out.path);
	emit_detach();
}
