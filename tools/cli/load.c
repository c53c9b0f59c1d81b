/*
** Reads files into a profile: opens, unpacks and follows them, and prints
** warnings about damage.
*/

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "load.h"
#include "load_order.h"
#include "printable.h"
#include "progress.h"
#include "reader.h"
#include "tail.h"
#include "unpack.h"

#define FOLLOW_TURNS 100 /* Waits for a segment: five seconds. */

#define SECOND UINT64_C(1000000000)

/* -- What went wrong ------------------------------------------------------ */

int lp_load_worse(int a, int b)
{
  static const int rank[] = {
      [LP_WHOLE] = 0, [LP_PART] = 1, [LP_EXCEEDED] = 2, [LP_UNREADABLE] = 3};
  return rank[a] > rank[b] ? a : b;
}

/* Print a line on standard error. Names of files may have any bytes, and those
** that control a terminal must not get there.
*/
static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print a line on stderr; its texts may come from anywhere. */
static void say(const char *fmt, ...)
{
  LpBuf b = {0};
  char *text = NULL;
  va_list ap;
  va_start(ap, fmt);
  if (vasprintf(&text, fmt, ap) > 0)
    lp_printable(&b, (LpStr){text, strlen(text)});
  va_end(ap);
  fprintf(stderr, "%s: %s\n", program_invocation_short_name,
          b.n ? b.s : "no memory");
  free(text);
  lp_buf_free(&b);
}

int lp_load_failed(const char *name, const char *why)
{
  say("%s: %s", name, why);
  return LP_UNREADABLE;
}

/* FILE cannot be followed. */
__attribute__((noreturn)) static void refuse(const char *name, const char *what)
{
  say("--follow is for a file, and %s is %s", name, what);
  exit(EX_USAGE);
}

/* Add what a recording without an end is: nothing is wrong with it. */
static void warn_open(LpBuf *b, const LpLoad *l, const LpStream *st)
{
  if (st->body == 'd')
    lp_buf_puts(b, "incomplete: its writer was killed, or is still writing");
  else
    lp_buf_puts(b, "killed or still recording");
  if (st->body != 'd' && st->ns)
    lp_buf_printf(b, "; read up to %.*f s", st->ns < SECOND ? 3 : 1,
                  (double)st->ns / (double)SECOND);
  if (l->verbose)
    lp_buf_printf(b, "; offset %" PRIu64 ": %s", st->damage.offset,
                  st->damage.what);
}

/* Add what is wrong with a stream; WHY reading stopped, if the stream itself is
** not the reason. A file that is no recording has no offset.
*/
static void warn_broken(LpBuf *b, const LpStream *st, const LpInput *in,
                        const char *why)
{
  if (why)
    lp_buf_printf(b, "offset %" PRIu64 ": cannot be read on: %s",
                  lp_input_came(in), why);
  else if (st->damage.kind == LP_NOTHING && !st->damage.offset)
    lp_buf_puts(b, st->damage.what);
  else
    lp_buf_printf(b, "offset %" PRIu64 ": %s", st->damage.offset,
                  st->damage.what);
}

/* Report in one line what is wrong with a stream. */
static void warn(const LpLoad *l, const char *name, const LpStream *st,
                 const LpInput *in, const char *why)
{
  LpBuf b = {0};
  lp_buf_printf(&b, "%s: ", name);
  if (!why && st->damage.kind == LP_OPEN)
    warn_open(&b, l, st);
  else
    warn_broken(&b, st, in, why);
  if (st->damage.bytes)
    lp_buf_printf(&b, "; %" PRIu64 " bytes lost", st->damage.bytes);
  if (st->damage.events)
    lp_buf_printf(&b, "; %" PRIu64 " %s lost", st->damage.events,
                  st->body == 'p'   ? "records of samples"
                  : st->body == 'd' ? "objects"
                                    : "events");
  if (st->dropped_blocks)
    lp_buf_printf(&b,
                  "; the recorder has dropped %" PRIu64 " blocks with %" PRIu64
                  " events: the queue to its writer was full",
                  st->dropped_blocks, st->dropped_events);
  if (st->ndamage > 1)
    lp_buf_printf(&b, " (and %" PRIu64 " more)", st->ndamage - 1);
  say("%s", b.s);
  lp_buf_free(&b);
}

/* Report why a tail is not used. */
static void warn_tail(const LpTail *t)
{
  if (t->why)
    say("%s: ignored: %s", t->path, t->why);
}

/* -- Streams -------------------------------------------------------------- */

/* The kind of the stream is known. CTX is the loader's stream. */
static void load_body(void *ctx, int body)
{
  LpLoad *l = (LpLoad *)(void *)((char *)ctx - offsetof(LpLoad, st));
  lp_stream_body(ctx, body);
  l->body(l->prof);
}

/* Shows what was read until now of a file that is followed. A heap dump is
** shown only when all of it is there.
*/
static void load_show(void *ctx)
{
  LpLoad *l = ctx;
  if (!l->prof->of || l->st.body == 'd')
    return;
  lp_stream_finalize(&l->st);
  l->prof->files.growing = 1;
  l->show(l);
  l->prof->files.growing = 0;
}

/* Begin to read a file, packed or not; or to follow it. */
static LpUnpack *load_open(LpLoad *l, LpProgress *p, const char *name, int fd)
{
  LpUnpack *u;
  if (!(l->follow > 0)) {
    lp_progress_open(p, name, fd);
    u = lp_unpack_open(lp_progress_read, p);
    lp_unpack_bound(u, l->most);
    return u;
  }
  if (l->followed.show) {
    lp_follow_next(&l->followed, fd);
  } else {
    lp_follow_open(&l->followed, name, fd, l->follow);
    l->followed.show = load_show;
    l->followed.ctx = l;
  }
  u = lp_unpack_open(lp_follow_read, &l->followed);
  if (lp_unpack_packer(u))
    refuse(name, "packed");
  lp_unpack_bound(u, l->most);
  return u;
}

/* Why a stream cannot be read on, or NULL. */
static const char *load_why(const LpLoad *l, const LpInput *in,
                            const LpUnpack *u)
{
  if (lp_unpack_why(u))
    return lp_unpack_why(u);
  if (l->followed.why)
    return l->followed.why;
  return in->error ? strerror(in->error) : NULL;
}

LpSubject lp_load_subject(const LpLoad *l)
{
  return (LpSubject){.prof = l->prof,
                     .heap = l->heap && l->heap->ready ? l->heap : NULL,
                     .baseheap = l->baseheap,
                     .join = l->join,
                     .ladder = l->ladder};
}

/* A heap dump was read: compute what is known of it. */
static void load_heap(LpLoad *l, const LpSink *sink)
{
  LpDamage d;
  l->heap->dump.damaged = l->st.ndamage != 0;
  if (!lp_dump_verify(&l->heap->dump, &d) && !l->st.ndamage)
    sink->damage(sink->ctx, &d);
  lp_heap_analyse(l->heap);
}

/* Where a heap dump goes, or NULL if there is one already. */
static const LpHeapSink *load_dump(LpLoad *l)
{
  if (l->heap)
    return NULL;
  l->heap = lp_heap_new();
  l->heap->dump.blocks = l->joins || l->recording;
  return &l->heap->sink;
}

/* A stream is read. */
static void load_ended(LpLoad *l, const LpSink *sink)
{
  if (!sink->heap)
    return;
  if (l->st.body == 'd') {
    load_heap(l, sink);
  } else {
    lp_heap_free(l->heap);
    l->heap = NULL;
  }
}

/* The name of standard input, which has no tail. */
static const char load_stdin[] = "standard input";

/* Read a stream, and its tail if it ends too early. */
static void load_run(LpInput *in, const LpSink *sink, const char *name)
{
  LpTail tail;
  lp_tail_open(&tail, name);
  in->tail = name != load_stdin ? &tail : NULL;
  lp_reader_run(in, sink);
  in->tail = NULL;
  lp_progress_clear();
  warn_tail(&tail);
  lp_tail_close(&tail);
}

/* The segment before this one is missing. Returns the status. */
static int warn_gap(const char *name)
{
  say("%s: the segment before it is missing or not whole: what was live in "
      "between is counted again",
      name);
  return LP_PART;
}

/* How well a stream was read, of which the reader has come to its end. */
static int load_status(const LpLoad *l, const char *name, const LpStream *st,
                       const LpInput *in, const LpUnpack *u)
{
  const char *why = load_why(l, in, u);
  int res = lp_stream_status(st);
  if (why && res == LP_WHOLE)
    res = LP_PART;
  if (why && lp_input_offset(in) == 0)
    return lp_load_failed(name, why);
  if (res != LP_WHOLE && !(l->told && name == l->recording))
    warn(l, name, st, in, why);
  return res;
}

/* No segment follows the one that was read last. */
static void load_close(LpLoad *l)
{
  if (l->paused) {
    lp_stream_close(&l->st, 0);
    say("%s: its recording goes on in a segment that is not here", l->behind);
  }
  l->paused = 0;
}

/* The sink for the file FD: a stream of its own, or the next segment of the one
** that was read last.
*/
static LpSink load_sink(LpLoad *l, int fd)
{
  LpSegment s;
  int known = lp_segment_peek(fd, &s);
  l->gap = 0;
  if (l->paused && known && lp_segment_follows(&l->segment, &s)) {
    l->segment = s;
    lp_stream_next(&l->st, s.monotonic);
    return lp_stream_sink(&l->st);
  }
  load_close(l);
  l->gap = known && s.recording == l->segment.recording;
  l->segment = s;
  return lp_stream_open(&l->st, l->prof);
}

/* Read one stream into the profile. */
static int load_stream(LpLoad *l, const char *name, int fd)
{
  LpInput in;
  LpStream *st = &l->st;
  LpProgress progress;
  LpSink sink = load_sink(l, fd);
  LpUnpack *u = load_open(l, &progress, name, fd);
  int res;
  sink.body = load_body;
  sink.heap = load_dump(l);
  lp_input_open(&in, lp_unpack_read, u);
  l->followed.in = &in;
  load_run(&in, &sink, name);
  load_ended(l, &sink);
  l->paused = lp_stream_pause(st, lp_input_offset(&in));
  l->behind = name;
  if (!l->paused)
    lp_stream_close(st, lp_input_offset(&in));
  lp_progress_clear();
  res = load_status(l, name, st, &in, u);
  if (l->gap)
    res = lp_load_worse(res, warn_gap(name));
  if (st->body && st->body != 'd' && !st->marks && l->timeless)
    say("%s: has no time marks: %s", name, l->timeless);
  lp_input_close(&in);
  lp_unpack_close(u);
  return res;
}

/* -- Recordings that a heap dump is joined with ---------------------------- */

/* The kind of the stream is known: it is not counted. */
static void join_body(void *ctx, int body)
{
  ((LpReplay *)ctx)->st.body = body;
}

/* Without the record of the base, who made all that is kept is known, but not
** what of it is new.
*/
static int join_base(const char *name, LpReplay *r)
{
  LpBuf why = {0};
  int res = LP_WHOLE;
  if (r->base && !lp_replay_compares(r, &why)) {
    say("%s: %s: what is new is not told from what is older", name, why.s);
    r->base = NULL;
    res = LP_PART;
  }
  lp_buf_free(&why);
  return res;
}

/* The recording NAME was read as far as it is needed. */
static int join_ended(LpLoad *l, const char *name, LpReplay *r)
{
  LpBuf why = {0};
  int res = LP_WHOLE;
  if (l->join)
    lp_buf_puts(&why, "the heap dump is joined with another one already");
  if (l->join || !lp_replay_joins(r, &why)) {
    res = lp_load_failed(name, why.s);
  } else {
    res = join_base(name, r);
    l->join = lp_join_new(l->heap, r);
    l->prof->of |= LP_OF_JOINED;
  }
  lp_buf_free(&why);
  return res;
}

/* Replay one recording up to where the heap dump was taken. The caller closes
** *R.
*/
static int join_replay(LpLoad *l, const char *name, int fd, LpReplay *r)
{
  LpInput in;
  LpProgress progress;
  const LpDump *base = l->baseheap ? &l->baseheap->dump : NULL;
  LpSink sink = lp_replay_open(r, l->prof, &l->heap->dump, base);
  LpUnpack *u = load_open(l, &progress, name, fd);
  int res;
  sink.body = join_body;
  lp_input_open(&in, lp_unpack_read, u);
  load_run(&in, &sink, name);
  lp_stream_close(&r->st, lp_input_offset(&in));
  lp_progress_clear();
  res = load_status(l, name, &r->st, &in, u);
  lp_input_close(&in);
  lp_unpack_close(u);
  return res;
}

/* Join the heap dump with one recording. */
static int join_stream(LpLoad *l, const char *name, int fd)
{
  LpReplay r;
  int res = join_replay(l, name, fd, &r);
  if (res != LP_UNREADABLE)
    res = lp_load_worse(res, join_ended(l, name, &r));
  lp_replay_close(&r);
  return res;
}

/* -- Ladders --------------------------------------------------------------- */

/* Replay the ladder's recording up to the record of the heap dump, which was
** read from NAME. *OUT gets R, which the caller closes, if that is there.
*/
static int rung_replay(LpLoad *l, const char *name, LpReplay *r, LpReplay **out)
{
  LpBuf why = {0};
  int fd = open(l->recording, O_RDONLY | O_CLOEXEC), res;
  *out = NULL;
  if (fd < 0)
    return lp_load_failed(l->recording, strerror(errno));
  res = join_replay(l, l->recording, fd, r);
  l->told |= res != LP_WHOLE;
  close(fd);
  if (res != LP_UNREADABLE && lp_replay_joins(r, &why)) {
    *out = r;
    return res;
  }
  if (res != LP_UNREADABLE)
    say("%s: %s %s", name, l->recording, why.s);
  lp_buf_free(&why);
  lp_replay_close(r);
  return lp_load_worse(res, LP_PART);
}

/* The ladder takes the heap dump, which was read from NAME. What the recording
** says of it is not known if it cannot be read.
*/
static int load_rung(LpLoad *l, const char *name)
{
  LpReplay r, *found = NULL;
  int res = l->recording ? rung_replay(l, name, &r, &found) : LP_WHOLE;
  lp_ladder_add(l->ladder, name, l->heap, found);
  l->heap = NULL;
  if (found)
    lp_replay_close(found);
  return res;
}

/* -- Files ----------------------------------------------------------------- */

/* Read one file that is open. Without its heap dump no recording is joined. */
static int load_open_file(LpLoad *l, const char *name, int fd)
{
  int res;
  if (l->joins && l->heap)
    return join_stream(l, name, fd);
  res = load_stream(l, name, fd);
  return l->ladder && l->heap ? lp_load_worse(res, load_rung(l, name)) : res;
}

/* Open the segment behind the one that was read, of a recording that is
** written to NAME: it is the newest, or others have followed it. Returns -1 if
** it is not there.
*/
static int next_segment(const LpLoad *l, const char *name)
{
  LpBuf file = {0};
  LpSegment s;
  int i, fd;
  lp_buf_puts(&file, name);
  for (i = 1; (fd = open(file.s, O_RDONLY | O_CLOEXEC)) >= 0 || i == 1; i++) {
    if (fd >= 0 && lp_segment_peek(fd, &s) &&
        lp_segment_follows(&l->segment, &s))
      break;
    if (fd >= 0)
      close(fd);
    lp_buf_free(&file);
    lp_buf_printf(&file, "%s.%d", name, i);
  }
  lp_buf_free(&file);
  return fd;
}

/* Follow a recording from segment to segment. Returns the worst status. */
static int load_segments(LpLoad *l, const char *name)
{
  int res = LP_WHOLE, turns = 0;
  while (l->paused && turns < FOLLOW_TURNS) {
    int fd = next_segment(l, name);
    if (fd < 0) {
      turns = lp_follow_wait(&l->followed) ? turns + 1 : FOLLOW_TURNS;
      continue;
    }
    res = lp_load_worse(res, load_open_file(l, name, fd));
    close(fd);
    turns = 0;
  }
  return res;
}

/* Read one file into the profile. */
static int load_file(LpLoad *l, const char *name)
{
  struct stat st;
  int fd, res;
  if (strcmp(name, "-") == 0) {
    lp_files_add(&l->prof->files, name);
    return load_open_file(l, load_stdin, STDIN_FILENO);
  }
  if (l->follow > 0 && stat(name, &st) == 0 && !S_ISREG(st.st_mode))
    refuse(name, "none");
  fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return lp_load_failed(name, strerror(errno));
  lp_files_add(&l->prof->files, name);
  res = load_open_file(l, name, fd);
  close(fd);
  if (l->follow > 0)
    res = lp_load_worse(res, load_segments(l, name));
  return res;
}

/* The names of a ladder, which is read from the newest one on. */
static const char **load_backwards(const char *const *name, size_t n)
{
  const char **order = lp_alloc(n * sizeof(*order));
  size_t i;
  for (i = 0; i < n; i++)
    order[i] = name[n - 1 - i];
  return order;
}

/* Read files into the profile, and count those that could be read. Returns the
** worst of their statuses.
*/
int lp_load_files(LpLoad *l, const char *const *name, size_t n, size_t *got)
{
  const char **order =
      l->ladder ? load_backwards(name, n) : lp_load_order(name, n);
  int res = LP_WHOLE;
  size_t i;
  *got = 0;
  l->prof->more = n > 1;
  for (i = 0; i < n; i++) {
    int one = load_file(l, order[i]);
    *got += one != LP_UNREADABLE;
    l->prof->files.unread += one == LP_UNREADABLE;
    res = lp_load_worse(res, one);
    if (l->joins && !l->heap)
      break;
  }
  free(order);
  load_close(l);
  if (l->prof->more)
    lp_profile_finalize(l->prof);
  l->prof->more = 0;
  return res;
}
