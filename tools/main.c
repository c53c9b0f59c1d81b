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
#include <sysexits.h>
#include <unistd.h>

#include "hash.h"
#include "options.h"
#include "reader.h"
#include "stream.h"

/* The exit status is LpStatus, of several streams the highest; a report that
** could not be written counts as LP_UNREADABLE.
*/

/* -- Work ----------------------------------------------------------------- */

/* Something could not be done. */
static int failed(const char *name, int err)
{
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name,
          strerror(err));
  return LP_UNREADABLE;
}

/* Say in one line what is wrong with a stream. */
static void warn(const char *name, const LpStream *st, int err)
{
  LpBuf b = {0};
  lp_buf_printf(&b, "%s: %s: offset %" PRIu64 ": ",
                program_invocation_short_name, name, st->damage.offset);
  if (err)
    lp_buf_printf(&b, "cannot be read on: %s", strerror(err));
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

/* Read one stream into the profile. */
static int read_stream(LpProfile *prof, const char *name, int fd)
{
  LpInput in;
  LpStream st;
  LpSink sink = lp_stream_open(&st, prof);
  sink.body = check_body;
  int res;
  lp_input_fd(&in, fd);
  lp_reader_run(&in, &sink);
  lp_stream_close(&st, lp_input_offset(&in));
  res = lp_stream_status(&st);
  if (in.error && lp_input_offset(&in) == 0)
    res = failed(name, in.error);
  else if (res != LP_WHOLE)
    warn(name, &st, in.error);
  if (st.body && !st.marks && times_wanted(prof))
    fprintf(stderr, "%s: %s: has no time marks: %s\n",
            program_invocation_short_name, name, "all of it counts as time 0");
  lp_input_close(&in);
  return res;
}

/* Read one file into the profile. */
static int read_file(LpProfile *prof, const char *name)
{
  int fd, res;
  if (strcmp(name, "-") == 0)
    return read_stream(prof, "standard input", STDIN_FILENO);
  fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failed(name, errno);
  res = read_stream(prof, name, fd);
  close(fd);
  return res;
}

/* Write the report. */
static int write_report(const LpProfile *prof)
{
  const char *name = lp_options.out ? lp_options.out : "standard output";
  int fd = STDOUT_FILENO;
  LpOut out;
  if (lp_options.out)
    fd = open(lp_options.out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return failed(name, errno);
  lp_out_open(&out, fd);
  lp_report_write(lp_options.format, lp_options.view, &out, prof,
                  &lp_options.report);
  lp_out_close(&out);
  if (close(fd) != 0 && !out.error)
    out.error = errno;
  return out.error ? failed(name, out.error) : LP_WHOLE;
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
    int one = write_report(prof);
    res = one > res ? one : res;
  }
  lp_profile_free(prof);
  return res;
}
