/*
** lj-parse-memprof: files, exit status.
*/

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "follow.h"
#include "hash.h"
#include "options.h"
#include "progress.h"
#include "reader.h"
#include "replace.h"
#include "stream.h"
#include "unpack.h"

/* The exit status is LpStatus, of several streams the highest; a report that
** could not be written counts as LP_UNREADABLE.
*/

/* The FILE, if it is followed. */
static LpFollow followed;

/* -- What went wrong ------------------------------------------------------ */

/* Something could not be done. */
static int failed(const char *name, const char *why)
{
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name, why);
  return LP_UNREADABLE;
}

/* Say in one line what is wrong with a stream; WHY it cannot be read on, if it
** is not the stream itself that is wrong.
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
                  st->body == 'p' ? "records of samples" : "events");
  if (st->ndamage > 1)
    lp_buf_printf(&b, " (and %" PRIu64 " more)", st->ndamage - 1);
  fprintf(stderr, "%s\n", b.s);
  lp_buf_free(&b);
}

/* What must be counted for the report and the options. */
static LpWanted wanted(const LpReport *r)
{
  LpWanted w = lp_options.wanted;
  w.what |= r->wants;
  if (r->takes & LP_TAKES_METRIC)
    w.what |= lp_metric_wants(LP_METRIC_BIT(lp_options.report.metric));
  if ((w.what & LP_WANT_SNAPS) && !w.snap)
    w.snap = LP_SNAP_EACH;
  return w;
}

/* -- Reports -------------------------------------------------------------- */

/* Begin to write a report. While FILE is followed there is one after the other:
** a file is replaced, a terminal is cleared.
*/
static int open_report(LpOut *out, LpReplace *r, int last)
{
  const char *name = lp_options.out;
  int fd = STDOUT_FILENO;
  if (name && followed.name)
    fd = lp_replace_open(r, name);
  else if (name)
    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return errno;
  lp_out_open(out, fd);
  if (!name && followed.name && isatty(fd))
    lp_out_puts(out, "\033[H\033[2J");
  if (!name && followed.name)
    lp_follow_heading(&out->buf, &followed, last);
  return 0;
}

/* All of it is written. Returns errno. */
static int close_report(LpOut *out, LpReplace *r, int last)
{
  int err;
  lp_out_close(out);
  err = out->error;
  if (lp_options.out && followed.name) {
    int res = lp_replace_close(r, !err);
    return err ? err : res;
  }
  if (last && close(out->fd) != 0 && !err)
    err = errno;
  return err;
}

/* Write the report; LAST, if there will be no more. */
static int write_report(const LpProfile *prof, int last)
{
  LpReplace r;
  LpOut out;
  int err = open_report(&out, &r, last);
  if (!err) {
    lp_report_write(lp_options.format, lp_options.view, &out, prof,
                    &lp_options.report);
    err = close_report(&out, &r, last);
  }
  return err ? failed(lp_options.out ? lp_options.out : "standard output",
                      strerror(err))
             : LP_WHOLE;
}

/* A report of what was read until now of a FILE that is followed. Without it,
** it is no use to read on.
*/
static void show(void *ctx)
{
  LpStream *st = ctx;
  int res;
  if (!st->prof->of)
    return;
  lp_stream_settle(st);
  res = write_report(st->prof, 0);
  if (res != LP_WHOLE)
    exit(res);
}

/* -- Streams -------------------------------------------------------------- */

/* Once it is known what FILEs are profiles of, the report is chosen; it is no
** use to read on if there is none.
*/
static void check_body(void *ctx, int body)
{
  LpProfile *prof = ((LpStream *)ctx)->prof;
  const LpReport *r = NULL;
  LpBuf why = {0};
  unsigned of;
  lp_stream_body(ctx, body);
  of = prof->of;
  if (of == (LP_OF_MEMORY | LP_OF_CPU))
    lp_buf_puts(&why, "memory and CPU profiles cannot be in one report yet");
  else if (!(r = lp_report_choose(lp_options.format, lp_options.view,
                                  lp_options.given, of, &why)))
    lp_buf_printf(&why, ", of a %s profile",
                  of == LP_OF_CPU ? "CPU" : "memory");
  if (r) {
    prof->wanted = wanted(r);
    return;
  }
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.s);
  exit(EX_USAGE);
}

/* Does what was asked for need time marks? */
static int times_wanted(const LpProfile *prof)
{
  const LpWanted *w = &prof->wanted;
  return (w->what & LP_WANT_TIME) || w->snap || w->from || w->to != UINT64_MAX;
}

/* FILE cannot be followed. */
__attribute__((noreturn)) static void refuse(const char *name, const char *what)
{
  fprintf(stderr, "%s: --follow is for a file, and %s is %s\n",
          program_invocation_short_name, name, what);
  exit(EX_USAGE);
}

/* Begin to read a FILE, packed or not; or to follow it, for ST. */
static LpUnpack *open_stream(LpProgress *p, const char *name, int fd,
                             LpStream *st)
{
  LpUnpack *u;
  if (!(lp_options.follow > 0)) {
    lp_progress_open(p, name, fd);
    return lp_unpack_open(lp_progress_read, p);
  }
  lp_follow_open(&followed, name, fd, lp_options.follow);
  followed.show = show;
  followed.ctx = st;
  u = lp_unpack_open(lp_follow_read, &followed);
  if (lp_unpack_packer(u))
    refuse(name, "packed");
  return u;
}

/* Why a stream cannot be read on, or NULL. */
static const char *why_not(const LpInput *in, const LpUnpack *u)
{
  if (lp_unpack_why(u))
    return lp_unpack_why(u);
  if (followed.why)
    return followed.why;
  return in->error ? strerror(in->error) : NULL;
}

/* Read one stream into the profile. */
static int read_stream(LpProfile *prof, const char *name, int fd)
{
  LpInput in;
  LpStream st;
  LpProgress progress;
  LpSink sink = lp_stream_open(&st, prof);
  LpUnpack *u = open_stream(&progress, name, fd, &st);
  const char *why;
  int res;
  sink.body = check_body;
  lp_input_open(&in, lp_unpack_read, u);
  followed.in = &in;
  lp_reader_run(&in, &sink);
  lp_stream_close(&st, lp_input_offset(&in));
  lp_progress_clear();
  res = lp_stream_status(&st);
  why = why_not(&in, u);
  if (why && res == LP_WHOLE)
    res = LP_PART;
  if (why && lp_input_offset(&in) == 0)
    res = failed(name, why);
  else if (res != LP_WHOLE)
    warn(name, &st, &in, why);
  if (st.body && !st.marks && times_wanted(prof))
    fprintf(stderr, "%s: %s: has no time marks: %s\n",
            program_invocation_short_name, name, "all of it counts as time 0");
  lp_input_close(&in);
  lp_unpack_close(u);
  return res;
}

/* Read one file into the profile. */
static int read_file(LpProfile *prof, const char *name)
{
  struct stat st;
  int fd, res;
  if (strcmp(name, "-") == 0) {
    lp_files_add(&prof->files, name);
    return read_stream(prof, "standard input", STDIN_FILENO);
  }
  if (lp_options.follow > 0 && stat(name, &st) == 0 && !S_ISREG(st.st_mode))
    refuse(name, "none");
  fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failed(name, strerror(errno));
  lp_files_add(&prof->files, name);
  res = read_stream(prof, name, fd);
  close(fd);
  return res;
}

/* A secret that a stream's author could not know. */
static void draw_secret(void)
{
  const void *random = (const void *)getauxval(AT_RANDOM);
  if (random)
    memcpy(&lp_hash_secret, random, sizeof(lp_hash_secret));
  lp_hash_secret |= 1;
}

/* All of it. */
int main(int argc, char **argv)
{
  int i, n = 0, res = LP_WHOLE;
  LpProfile *prof;
  lp_options_parse(argc, argv);
  draw_secret();
  prof = lp_profile_new();
  for (i = 0; i < lp_options.nfile; i++) {
    int one = read_file(prof, lp_options.file[i]);
    n += one != LP_UNREADABLE;
    res = one > res ? one : res;
  }
  if (n) {
    int one = write_report(prof, 1);
    res = one > res ? one : res;
  }
  lp_profile_free(prof);
  return res;
}
