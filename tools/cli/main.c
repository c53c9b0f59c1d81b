/*
** lj-parse-memprof: a profile is loaded, and reported. The exit status is
** LpStatus: LP_UNREADABLE also if a report could not be written, LP_PART also
** if it leaves something out to keep to its bound.
*/

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sysexits.h>
#include <unistd.h>

#include "compare.h"
#include "hash.h"
#include "heap_limit.h"
#include "kind.h"
#include "load.h"
#include "nothing.h"
#include "options.h"
#include "page.h"
#include "replace.h"

/* -- Reports -------------------------------------------------------------- */

/* What is known of where the report goes, and of its text. */
static void open_screen(LpPage *p, unsigned of, int follows)
{
  LpReportOptions *opt = &lp_options.report;
  const char *view = lp_options_view(of);
  const LpReport *r = lp_report_find(lp_options.format, view, of);
  int text = strcmp(lp_options.format, "text") == 0;
  int lines = text || strcmp(lp_options.format, "tarantool") == 0;
  memset(p, 0, sizeof(*p));
  p->screen =
      lp_screen_of(lp_options.out ? -1 : STDOUT_FILENO, lp_options.colour);
  p->wrap = text;
  p->paint = follows;
  p->page = !follows && !lp_options.nopager;
  memset(&opt->screen, 0, sizeof(opt->screen));
  opt->human = (lp_options.given & LP_TAKES_HUMAN) != 0;
  if (lines)
    opt->screen = p->screen;
  opt->human |= text && p->screen.columns && !lp_options.exact && r &&
                r != &lp_report_sites;
}

/* Begin to write a report. While FILE is followed there is one after the other:
** a file is replaced, a terminal is painted anew.
*/
static int open_report(LpOut *out, LpReplace *r, LpPage *p, const LpFollow *f,
                       int last)
{
  const char *name = lp_options.out;
  int fd = STDOUT_FILENO;
  if (name && f->name)
    fd = lp_replace_open(r, name);
  else if (name)
    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return errno;
  lp_out_open(out, fd);
  lp_page_open(p, out);
  if (!name && f->name)
    lp_follow_heading(&out->buf, f, last);
  return 0;
}

/* All of it is written. Returns errno. */
static int close_report(LpOut *out, LpReplace *r, LpPage *p, const LpFollow *f,
                        int last)
{
  int err;
  lp_out_close(out);
  lp_page_close(p, out);
  err = out->error;
  if (lp_options.out && f->name) {
    int res = lp_replace_close(r, !err);
    return err ? err : res;
  }
  if (last && close(out->fd) != 0 && !err)
    err = errno;
  return err;
}

/* Write the report; LAST, if there will be no more. */
static int write_report(const LpLoad *l, int last)
{
  const LpSubject subject = lp_load_subject(l);
  LpReportOptions *opt = &lp_options.report;
  LpReplace r;
  LpShape shape;
  LpOut out;
  LpPage page;
  int err, res = LP_WHOLE;
  open_screen(&page, l->prof->of, l->followed.name != NULL);
  err = open_report(&out, &r, &page, &l->followed, last);
  if (!err) {
    lp_shape_open(&shape, l->prof, opt->focus ? &lp_options.focus : NULL,
                  opt->ignore ? &lp_options.ignore : NULL);
    opt->shape = &shape;
    opt->summary = lp_options_summary();
    lp_report_write(lp_options.format, lp_options_view(l->prof->of), &out,
                    &subject, opt);
    if (last) {
      lp_nothing_explain(lp_report_find(lp_options.format,
                                        lp_options_view(l->prof->of),
                                        l->prof->of),
                         &subject);
      res = lp_load_worse(lp_nothing_named(&subject), lp_nothing_cut(&out));
    }
    opt->shape = NULL;
    lp_shape_close(&shape);
    err = close_report(&out, &r, &page, &l->followed, last);
  }
  return err ? lp_load_failed(lp_options.out ? lp_options.out
                                             : "standard output",
                              strerror(err))
             : res;
}

/* A report of the data read so far. Exits if it cannot be written. */
static void show(const LpLoad *l)
{
  int res;
  lp_compare(l->prof);
  res = write_report(l, 0);
  if (res != LP_WHOLE)
    exit(res);
}

/* What must be counted for the report and the options. */
static LpWanted wanted(const LpReport *r)
{
  LpWanted w = lp_options.wanted;
  w.what |= lp_options_wants(r);
  if ((w.what & LP_WANT_SNAPS) && !w.snap)
    w.snap = LP_SNAP_EACH;
  return w;
}

/* A single FILE may be wanted by addresses. Old streams define functions before
** the kind of the FILE is known.
*/
static void want_addresses(LpProfile *prof)
{
  const LpReport *r = lp_report_find(lp_options.format, NULL, LP_OF_MEMORY);
  if (r && (r->wants & LP_WANT_ARRIVALS) && lp_options.file.n == 1)
    prof->wanted.what = LP_WANT_ADDRESSES;
}

/* What profiles are called, by LP_OF_*. */
static const char *const kind_name[] = {
    [LP_OF_MEMORY] = "memory",
    [LP_OF_CPU] = "CPU",
    [LP_OF_HEAP] = "heap dump",
    [LP_OF_HEAP | LP_OF_JOINED] = "joined heap dump",
    [LP_OF_MEMORY | LP_OF_CPU] = "memory and CPU",
    [LP_OF_LADDER] = "heap dumps'"};

/* The report of a profile; exits if there is none. */
static const LpReport *find_report(unsigned of)
{
  LpBuf why = {0};
  const LpReport *r = lp_options_report(of, &why);
  if (!r && lp_options.view && !(of & LP_OF_JOINED) &&
      !lp_report_find(lp_options.format, lp_options.view, of) &&
      lp_report_find(lp_options.format, lp_options.view, LP_OF_JOINED)) {
    fprintf(stderr,
            "%s: --view=%s is of two FILEs: a heap dump, and the recording "
            "that it was taken in\n",
            program_invocation_short_name, lp_options.view);
    exit(EX_USAGE);
  }
  if (!r) {
    const char *suggestion = strstr(why.s, "; did you mean ");
    if (!suggestion)
      suggestion = why.s + why.n;
    fprintf(stderr, "%s: %.*s, of a %s profile%s\n",
            program_invocation_short_name, (int)(suggestion - why.s), why.s,
            kind_name[of], suggestion);
    exit(EX_USAGE);
  }
  lp_buf_free(&why);
  return r;
}

/* A heap dump is joined with its recording. */
static int joins;

/* The report is chosen when the kind of a FILE is known. Another FILE may be of
** the other kind.
*/
static void choose(LpProfile *prof)
{
  LpBuf why = {0};
  const LpReport *r = NULL;
  unsigned addresses = prof->wanted.what & LP_WANT_ADDRESSES;
  if (lp_options.growth)
    r = find_report(LP_OF_LADDER);
  else if (joins)
    r = find_report(LP_OF_HEAP | LP_OF_JOINED);
  else if (lp_options.file.n > 1)
    r = lp_options_report(LP_OF_MEMORY | LP_OF_CPU, &why);
  lp_buf_free(&why);
  prof->wanted = wanted(r ? r : find_report(prof->of));
  prof->wanted.what |= addresses;
}

/* -- All of it ------------------------------------------------------------ */

/* Does what was read keep a limit? If not, WHY says so. */
static int limit_holds(const LpLimit *limit, const LpSubject *subject,
                       LpBuf *why)
{
  if (limit->keeps == LP_LIMIT_GROWTH)
    return lp_growth_limit_holds(limit, subject->ladder, why);
  return limit->keeps ? lp_heap_limit_holds(limit, subject, why)
                      : lp_limit_holds(limit, subject->prof, why);
}

/* Report limits that are exceeded or match nothing, one per line. */
static int check_limits(const LpSubject *subject)
{
  int res = LP_WHOLE;
  size_t i;
  for (i = 0; i < lp_options.nlimit; i++) {
    LpBuf why = {0};
    if (!limit_holds(&lp_options.limit[i], subject, &why))
      res = LP_EXCEEDED;
    if (why.n)
      fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.s);
    lp_buf_free(&why);
  }
  return res;
}

/* A random secret for hash tables, unknown to the author of a stream. */
static void draw_secret(void)
{
  const void *random = (const void *)getauxval(AT_RANDOM);
  if (random)
    memcpy(&lp_hash_secret, random, sizeof(lp_hash_secret));
  lp_hash_secret |= 1;
}

/* Report that a view shows only one of memory and CPU. */
static void report_left(const LpReport *r, unsigned of)
{
  if ((of & ~r->of) && !(of & LP_OF_JOINED))
    fprintf(stderr, "%s: --view=%s is of %s: the %s profile is left out\n",
            program_invocation_short_name, r->view, kind_name[r->of],
            kind_name[of & ~r->of]);
}

/* Exits if memory would be compared with CPU time. */
static void check_kinds(unsigned base, unsigned of)
{
  if (!base || !of || (base & of))
    return;
  fprintf(stderr, "%s: --diff: a %s profile cannot be compared with a %s one\n",
          program_invocation_short_name, kind_name[of], kind_name[base]);
  exit(EX_USAGE);
}

/* The note on recordings without time marks, if an option depends on time; else
** NULL.
*/
static const char *timeless(void)
{
  const LpWanted *w = &lp_options.wanted;
  const char *view = lp_options.view ? lp_options.view : "";
  if (strcmp(view, "time") == 0 || strcmp(view, "snapshots") == 0)
    return "nothing of it can be shown over time";
  if (w->snap || w->from || w->to != UINT64_MAX)
    return "all of it counts as time 0";
  return NULL;
}

/* Heap dumps are read first. Returns whether there is one and what may be its
** recording.
*/
static int order_files(void)
{
  size_t others;
  if (lp_options.file.n < 2)
    return 0;
  return lp_kind_order(lp_options.file.name, lp_options.file.n, &others) == 1 &&
         others > 0;
}

/* All FILEs are heap dumps of one program; a recording is apart. */
static int report_ladder(LpLoad *l)
{
  const LpNames *file = &lp_options.file;
  LpSubject subject;
  size_t got, i;
  int res;
  l->ladder = lp_ladder_new(file->n);
  l->ladder->page = strcmp(lp_options.format, "html") == 0;
  l->recording = lp_options.recording;
  for (i = 0; i < lp_options.nlimit; i++)
    if (lp_options.limit[i].glob)
      lp_ladder_watch(l->ladder, lp_options.limit[i].glob);
  res = lp_load_files(l, file->name, file->n, &got);
  if (l->ladder->left)
    return res;
  l->prof->of = LP_OF_LADDER;
  lp_ladder_judge(l->ladder);
  res = lp_load_worse(res, write_report(l, 1));
  subject = lp_load_subject(l);
  return lp_load_worse(res, check_limits(&subject));
}

/* What cannot be compared, or joined, is not reported. */
int main(int argc, char **argv)
{
  LpLoad l = {.body = choose, .show = show};
  size_t got, bases;
  unsigned of = 0;
  int res;
  lp_options_parse(argc, argv);
  draw_secret();
  l.prof = lp_profile_new();
  want_addresses(l.prof);
  l.timeless = timeless();
  l.verbose = lp_options.verbose;
  l.most = lp_options.most;
  if (lp_options.growth) {
    res = report_ladder(&l);
    lp_ladder_free(l.ladder);
    lp_profile_free(l.prof);
    return res;
  }
  joins = order_files();
  res = lp_load_files(&l, lp_options.base.name, lp_options.base.n, &bases);
  if (bases) {
    lp_profile_set_baseline(l.prof);
    of = l.prof->of;
    l.prof->of = 0; /* Of FILEs, from here on. */
    l.baseheap = l.heap;
    l.heap = NULL;
  }
  if (bases == lp_options.base.n) {
    l.follow = lp_options.follow;
    l.joins = joins;
    res = lp_load_worse(
        res, lp_load_files(&l, lp_options.file.name, lp_options.file.n, &got));
    check_kinds(of, l.prof->of);
    l.prof->of |= of;
    lp_compare(l.prof);
    if (got && (!l.joins || l.join)) {
      const LpReport *r =
          find_report(l.prof->of ? l.prof->of : LP_OF_MEMORY | LP_OF_CPU);
      report_left(r, l.prof->of);
      const LpSubject subject = lp_load_subject(&l);
      res = lp_load_worse(res, write_report(&l, 1));
      res = lp_load_worse(res, check_limits(&subject));
    }
  }
  lp_profile_free(l.prof);
  lp_join_free(l.join);
  lp_heap_free(l.heap);
  lp_heap_free(l.baseheap);
  return res;
}
