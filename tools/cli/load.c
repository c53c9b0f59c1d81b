/*
** Reads files into a profile: opens, unpacks and follows them, and prints
** warnings about damage.
*/

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "load.h"
#include "progress.h"
#include "reader.h"
#include "unpack.h"

/* -- What went wrong ------------------------------------------------------ */

int lp_load_worse(int a, int b)
{
  static const int rank[] = {
      [LP_WHOLE] = 0, [LP_PART] = 1, [LP_EXCEEDED] = 2, [LP_UNREADABLE] = 3};
  return rank[a] > rank[b] ? a : b;
}

int lp_load_failed(const char *name, const char *why)
{
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name, why);
  return LP_UNREADABLE;
}

/* FILE cannot be followed. */
__attribute__((noreturn)) static void refuse(const char *name, const char *what)
{
  fprintf(stderr, "%s: --follow is for a file, and %s is %s\n",
          program_invocation_short_name, name, what);
  exit(EX_USAGE);
}

/* Report in one line what is wrong with a stream; WHY reading stopped, if the
** stream itself is not the reason.
*/
static void warn(const char *name, const LpStream *st, const LpInput *in,
                 const char *why)
{
  LpBuf b = {0};
  lp_buf_printf(&b, "%s: %s: offset %" PRIu64 ": ",
                program_invocation_short_name, name,
                why ? lp_input_came(in) : st->damage.offset);
  if (why)
    lp_buf_printf(&b, "cannot be read on: %s", why);
  else
    lp_buf_puts(&b, st->damage.what);
  if (st->damage.bytes)
    lp_buf_printf(&b, "; %" PRIu64 " bytes lost", st->damage.bytes);
  if (st->damage.events)
    lp_buf_printf(&b, "; %" PRIu64 " %s lost", st->damage.events,
                  st->body == 'p'   ? "records of samples"
                  : st->body == 'd' ? "objects"
                                    : "events");
  if (st->ndamage > 1)
    lp_buf_printf(&b, " (and %" PRIu64 " more)", st->ndamage - 1);
  fprintf(stderr, "%s\n", b.s);
  lp_buf_free(&b);
}

/* -- Streams -------------------------------------------------------------- */

/* The kind of the stream is known. CTX is the loader's stream. */
static void load_body(void *ctx, int body)
{
  LpLoad *l = (LpLoad *)(void *)((char *)ctx - offsetof(LpLoad, st));
  lp_stream_body(ctx, body);
  l->body(l->prof);
}

/* Time to show what was read until now of a file that is followed. A heap dump
** is shown when all of it is there.
*/
static void load_show(void *ctx)
{
  LpLoad *l = ctx;
  if (!l->prof->of || l->st.body == 'd')
    return;
  lp_stream_finalize(&l->st);
  l->show(l);
}

/* Begin to read a file, packed or not; or to follow it. */
static LpUnpack *load_open(LpLoad *l, LpProgress *p, const char *name, int fd)
{
  LpUnpack *u;
  if (!(l->follow > 0)) {
    lp_progress_open(p, name, fd);
    return lp_unpack_open(lp_progress_read, p);
  }
  lp_follow_open(&l->followed, name, fd, l->follow);
  l->followed.show = load_show;
  l->followed.ctx = l;
  u = lp_unpack_open(lp_follow_read, &l->followed);
  if (lp_unpack_packer(u))
    refuse(name, "packed");
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

/* A heap dump was read: compute what is known of it. */
static void load_heap(LpLoad *l, const LpSink *sink)
{
  LpDamage d;
  if (!lp_dump_verify(&l->heap->dump, &d) && !l->st.ndamage)
    sink->damage(sink->ctx, &d);
  lp_heap_analyse(l->heap);
  l->prof->heap = l->heap;
}

/* Where a heap dump goes, or NULL if there is one already. */
static const LpHeapSink *load_dump(LpLoad *l)
{
  if (l->heap)
    return NULL;
  l->heap = lp_heap_new();
  l->heap->dump.blocks = l->joins;
  return &l->heap->sink;
}

/* The stream is read. */
static void load_ended(LpLoad *l, const LpSink *sink)
{
  if (sink->heap && l->st.body == 'd') {
    load_heap(l, sink);
  } else if (sink->heap) {
    lp_heap_free(l->heap);
    l->heap = NULL;
  }
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
  if (res != LP_WHOLE)
    warn(name, st, in, why);
  return res;
}

/* Read one stream into the profile. */
static int load_stream(LpLoad *l, const char *name, int fd)
{
  LpInput in;
  LpStream *st = &l->st;
  LpProgress progress;
  LpSink sink = lp_stream_open(st, l->prof);
  LpUnpack *u = load_open(l, &progress, name, fd);
  int res;
  sink.body = load_body;
  sink.heap = load_dump(l);
  lp_input_open(&in, lp_unpack_read, u);
  l->followed.in = &in;
  lp_reader_run(&in, &sink);
  load_ended(l, &sink);
  lp_stream_close(st, lp_input_offset(&in));
  lp_progress_clear();
  res = load_status(l, name, st, &in, u);
  if (st->body && st->body != 'd' && !st->marks && l->timeless)
    fprintf(stderr, "%s: %s: has no time marks: %s\n",
            program_invocation_short_name, name, l->timeless);
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
    l->prof->join = l->join = lp_join_new(l->heap, r);
    l->prof->of |= LP_OF_JOINED;
  }
  lp_buf_free(&why);
  return res;
}

/* Replay one recording up to where the heap dump was taken. */
static int join_stream(LpLoad *l, const char *name, int fd)
{
  LpInput in;
  LpReplay r;
  LpProgress progress;
  LpSink sink = lp_replay_open(&r, l->prof, &l->heap->dump);
  LpUnpack *u = load_open(l, &progress, name, fd);
  int res;
  sink.body = join_body;
  lp_input_open(&in, lp_unpack_read, u);
  lp_reader_run(&in, &sink);
  lp_stream_close(&r.st, lp_input_offset(&in));
  lp_progress_clear();
  res = load_status(l, name, &r.st, &in, u);
  if (res != LP_UNREADABLE)
    res = lp_load_worse(res, join_ended(l, name, &r));
  lp_replay_close(&r);
  lp_input_close(&in);
  lp_unpack_close(u);
  return res;
}

/* -- Files ----------------------------------------------------------------- */

/* Read one file that is open. Without its heap dump no recording is joined. */
static int load_open_file(LpLoad *l, const char *name, int fd)
{
  if (l->joins && l->heap)
    return join_stream(l, name, fd);
  return load_stream(l, name, fd);
}

/* Read one file into the profile. */
static int load_file(LpLoad *l, const char *name)
{
  struct stat st;
  int fd, res;
  if (strcmp(name, "-") == 0) {
    lp_files_add(&l->prof->files, name);
    return load_open_file(l, "standard input", STDIN_FILENO);
  }
  if (l->follow > 0 && stat(name, &st) == 0 && !S_ISREG(st.st_mode))
    refuse(name, "none");
  fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return lp_load_failed(name, strerror(errno));
  lp_files_add(&l->prof->files, name);
  res = load_open_file(l, name, fd);
  close(fd);
  return res;
}

/* Read files into the profile, and count those that could be read. Returns the
** worst of their statuses.
*/
int lp_load_files(LpLoad *l, const char *const *name, size_t n, size_t *got)
{
  int res = LP_WHOLE;
  *got = 0;
  l->prof->more = n > 1;
  for (; n--; name++) {
    int one = load_file(l, *name);
    *got += one != LP_UNREADABLE;
    res = lp_load_worse(res, one);
    if (l->joins && !l->heap)
      break;
  }
  if (l->prof->more)
    lp_profile_finalize(l->prof);
  l->prof->more = 0;
  return res;
}
