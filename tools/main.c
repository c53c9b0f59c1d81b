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

/* The exit status is LpStatus, or that of a limit; a report that could not be
** written counts as LP_UNREADABLE.
*/
#define STATUS_LIMIT 3

/* Of two statuses the one that counts. */
static int worse(int a, int b)
{
  static const int rank[] = {
      [LP_WHOLE] = 0, [LP_PART] = 1, [STATUS_LIMIT] = 2, [LP_UNREADABLE] = 3};
  return rank[a] > rank[b] ? a : b;
}

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

/* Once it is known what FILEs are profiles of, the report is chosen; it is no
** use to read on if there is none.
*/
static void check_body(void *ctx, int body)
{
  const LpReport *r = NULL;
  LpProfile *prof = ((LpStream *)ctx)->prof;
  LpBuf why = {0};
  unsigned of;
  lp_stream_body(ctx, body);
  of = prof->of;
  if (of == (LP_OF_MEMORY | LP_OF_CPU))
    lp_buf_puts(&why, "memory and CPU profiles cannot be in one report yet");
  else if (!(r = lp_options_report(of, &why)))
    lp_buf_printf(&why, ", of a %s profile",
                  of == LP_OF_CPU ? "CPU" : "memory");
  if (r) {
    prof->wanted.what |= lp_options_wants(r);
    return;
  }
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.s);
  exit(EX_USAGE);
}

/* Read one stream into the profile. */
static int read_stream(LpProfile *prof, const char *name, int fd)
{
  LpInput in;
  LpStream st;
  LpSink sink = lp_stream_open(&st, prof);
  int res;
  sink.body = check_body;
  lp_input_fd(&in, fd);
  lp_reader_run(&in, &sink);
  lp_stream_close(&st, lp_input_offset(&in));
  res = lp_stream_status(&st);
  if (in.error && lp_input_offset(&in) == 0)
    res = failed(name, in.error);
  else if (res != LP_WHOLE)
    warn(name, &st, in.error);
  lp_input_close(&in);
  return res;
}

/* Read one file into the profile. */
static int read_file(LpProfile *prof, const char *name)
{
  int fd, res;
  if (strcmp(name, "-") == 0) {
    lp_files_add(&prof->files, name);
    return read_stream(prof, "standard input", STDIN_FILENO);
  }
  fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failed(name, errno);
  lp_files_add(&prof->files, name);
  res = read_stream(prof, name, fd);
  close(fd);
  return res;
}

/* Read files into the profile, and count those that could be read. */
static int read_files(LpProfile *prof, const char *const *name, size_t n,
                      size_t *got)
{
  int res = LP_WHOLE;
  *got = 0;
  for (; n--; name++) {
    int one = read_file(prof, *name);
    *got += one != LP_UNREADABLE;
    res = worse(res, one);
  }
  return res;
}

/* Write the report. */
static int write_report(const LpProfile *prof)
{
  const char *name = lp_options.out ? lp_options.out : "standard output";
  LpReportOptions *opt = &lp_options.report;
  int fd = STDOUT_FILENO;
  LpShape shape;
  LpOut out;
  if (lp_options.out)
    fd = open(lp_options.out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return failed(name, errno);
  lp_out_open(&out, fd);
  lp_shape_open(&shape, prof, opt->focus ? &lp_options.focus : NULL,
                opt->ignore ? &lp_options.ignore : NULL);
  opt->shape = &shape;
  lp_report_write(lp_options.format, lp_options.view, &out, prof, opt);
  opt->shape = NULL;
  lp_shape_close(&shape);
  lp_out_close(&out);
  if (close(fd) != 0 && !out.error)
    out.error = errno;
  return out.error ? failed(name, out.error) : LP_WHOLE;
}

/* Say which limits are exceeded, a line for each. */
static int check_limits(const LpProfile *prof)
{
  int res = LP_WHOLE;
  size_t i;
  for (i = 0; i < lp_options.nlimit; i++) {
    LpBuf why = {0};
    if (!lp_limit_holds(&lp_options.limit[i], prof, &why)) {
      fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.s);
      res = STATUS_LIMIT;
    }
    lp_buf_free(&why);
  }
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

/* All of it. What cannot be compared is not reported. */
int main(int argc, char **argv)
{
  size_t got, bases;
  LpProfile *prof;
  int res;
  lp_options_parse(argc, argv);
  draw_secret();
  prof = lp_profile_new();
  res = read_files(prof, lp_options.base, lp_options.nbase, &bases);
  if (bases)
    lp_profile_turn(prof);
  if (bases == lp_options.nbase) {
    res = worse(res, read_files(prof, (const char *const *)lp_options.file,
                                (size_t)lp_options.nfile, &got));
    if (got) {
      res = worse(res, write_report(prof));
      res = worse(res, check_limits(prof));
    }
  }
  lp_profile_free(prof);
  return res;
}
