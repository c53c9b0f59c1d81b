/*
** Why a report shows nothing, or less than was asked for.
*/

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "ingest.h"
#include "label.h"
#include "nothing.h"
#include "nearest.h"
#include "printable.h"

#define NOTHING_CHUNKS 5 /* So many are named. */

/* Was nothing recorded after the time of --from? */
static int nothing_late(LpBuf *b, const LpProfile *prof)
{
  const LpWanted *w = &lp_options.wanted;
  if (!prof->ns || w->from < prof->ns)
    return 0;
  lp_buf_printf(b, "--from=%g is behind the end: the recording lasts %.3g s",
                (double)w->from / 1e9, (double)prof->ns / 1e9);
  return 1;
}

/* Did --focus and --ignore leave no stack? */
static int nothing_kept(const LpProfile *prof, const LpShape *shape)
{
  uint32_t i;
  for (i = 0; i < prof->origins.n; i++)
    if (lp_shape_origin(shape, i))
      return 0;
  for (i = 0; i < prof->sampled.n; i++)
    if (lp_shape_stack(shape, i))
      return 0;
  return 1;
}

/* Add the names of some chunks, in the order in which they were met. */
static void nothing_chunks(LpBuf *b, const LpProfile *prof)
{
  uint32_t chunk[NOTHING_CHUNKS], i, k, n = 0;
  for (i = 0; i < prof->sitekeys.n && n < NOTHING_CHUNKS; i++) {
    const LpFuncInfo *f = &prof->func[prof->row[i].func];
    if (f->kind != LP_FUNC_LUA || lp_label_builtin(f))
      continue;
    for (k = 0; k < n && chunk[k] != f->chunk; k++)
      ;
    if (k < n)
      continue;
    chunk[n++] = f->chunk;
    lp_buf_puts(b, k ? ", " : "; chunks there are: ");
    lp_printable_chunk(b, lp_profile_name(prof, f->chunk));
  }
  if (n == NOTHING_CHUNKS)
    lp_buf_puts(b, ", ...");
}

/* Is nothing left by --focus and --ignore? */
static int nothing_matches(LpBuf *b, const LpProfile *prof)
{
  const LpReportOptions *opt = &lp_options.report;
  if (!opt->shape || !opt->shape->stack || !nothing_kept(prof, opt->shape))
    return 0;
  if (opt->focus)
    lp_buf_printf(b, "--focus=%s matches no frame", opt->focus);
  if (opt->ignore)
    lp_buf_printf(b, "%s--ignore=%s leaves nothing", opt->focus ? ", or " : "",
                  opt->ignore);
  nothing_chunks(b, prof);
  return 1;
}

/* Is no row as large as --min? Trees have the largest of functions. */
static int nothing_large(LpBuf *b, const LpReport *r, const LpSubject *subject)
{
  int tree = r->view && (r == &lp_report_tree || r == &lp_report_callers);
  if (!(lp_options.given & LP_TAKES_MIN) || (!r->table && !tree))
    return 0;
  lp_buf_puts(b, "--min leaves nothing: the largest row has ");
  return lp_report_largest(b, tree ? &lp_report_functions : r, subject,
                           &lp_options.report);
}

/* Does R show callers, of which there are none? A summary says so itself. */
static int nothing_calls(LpBuf *b, const LpReport *r, const LpProfile *prof)
{
  uint32_t i;
  if ((r != &lp_report_tree && r != &lp_report_callers) ||
      prof->of != LP_OF_MEMORY || !prof->origins.n || lp_options_summary())
    return 0;
  for (i = 0; i < prof->origins.n; i++)
    if (prof->origins.callers[i] != LP_NODE_ROOT)
      return 0;
  lp_buf_puts(b, "recorded without stacks: start with stack = 64 for callers");
  return 1;
}

/* Does R show what an option has to ask for? */
static int nothing_asked(LpBuf *b, const LpReport *r, const LpProfile *prof)
{
  if (r == &lp_report_snapshots && prof->ns && !prof->snaps.n) {
    lp_buf_printf(b,
                  "no snapshot: the recording lasts %.3g s; give a shorter "
                  "--heap-snap-interval=SEC",
                  (double)prof->ns / 1e9);
    return 1;
  }
  if ((r != &lp_report_heap_paths && r != &lp_report_heap_owners) ||
      lp_options.report.path)
    return 0;
  lp_buf_printf(b, "--view=%s needs --path=OBJECT, such as --path=_G.cache",
                r->view);
  return 1;
}

/* Say what is said, whose texts may come from anywhere. */
static void nothing_say(const LpBuf *b)
{
  LpBuf text = {0};
  lp_printable(&text, (LpStr){b->s, b->n});
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, text.s);
  lp_buf_free(&text);
}

/* Append a shape whose name is near to what was asked for, if there is one. */
static void named_shape(LpBuf *b, const LpHeap *h, const char *text)
{
  ClNearest s = cl_nearest(text);
  LpBuf name = {0};
  uint32_t i, best = LP_NONE;
  for (i = 0; i < h->shapes.keys.n; i++) {
    const char *was = s.best;
    name.n = 0;
    lp_shape_name(&name, h, i);
    cl_nearest_try(&s, name.s);
    if (s.best == was)
      continue;
    s.best = ""; /* Its name does not stay. */
    best = i;
  }
  if (best != LP_NONE) {
    lp_buf_puts(b, "; did you mean ");
    lp_shape_name(b, h, best);
    lp_buf_puts(b, "?");
  }
  lp_buf_free(&name);
}

/* Append what the object that a path leads to so FAR has instead of the rest.
 */
static void named_step(LpBuf *b, const LpHeap *h, const char *text, size_t far,
                       uint32_t id)
{
  const LpEdge *e = lp_graph_first(&h->dump.graph, id);
  size_t n = 1 + strcspn(text + far + 1, ".[<:");
  LpBuf asked = {0}, names = {0};
  ClNearest s;
  size_t at;
  lp_buf_add(&asked, text + far, n);
  for (; e; e = lp_graph_next(e)) { /* Each behind a 0. */
    lp_buf_add(&names, "", 1);
    lp_path_step(&names, &h->dump, id, e);
  }
  s = cl_nearest(asked.s);
  for (at = 0; at < names.n; at += 1 + strlen(names.s + at + 1))
    cl_nearest_try(&s, names.s + at + 1);
  if (far)
    lp_buf_printf(b, ": %.*s has no %s", (int)far, text, asked.s);
  if (s.best)
    lp_buf_printf(b, "; did you mean %.*s%s%s?", (int)far, text, s.best,
                  text + far + n);
  else if (!far)
    named_shape(b, h, text);
  lp_buf_free(&asked);
  lp_buf_free(&names);
}

int lp_nothing_named(const LpSubject *subject)
{
  const char *path = lp_options.report.path;
  const LpHeap *h = subject->heap;
  LpBuf b = {0};
  size_t n, far;
  uint32_t id;
  if (!path || !h)
    return LP_WHOLE;
  free(lp_heap_named(h, path, &n));
  if (n)
    return LP_WHOLE;
  lp_buf_printf(&b, "no object has the address, path or shape %s", path);
  far = lp_heap_find_far(h, path, &id);
  if (*path)
    named_step(&b, h, path, far, id);
  nothing_say(&b);
  lp_buf_free(&b);
  return LP_UNREADABLE;
}

void lp_nothing_explain(const LpReport *r, const LpSubject *subject)
{
  const LpProfile *prof = subject->prof;
  LpBuf b = {0};
  int is = nothing_late(&b, prof) || lp_option_nothing(&b, prof) ||
           nothing_matches(&b, prof) || nothing_calls(&b, r, prof) ||
           nothing_asked(&b, r, prof);
  if (!is) {
    lp_buf_free(&b);
    is = nothing_large(&b, r, subject);
  }
  if (is)
    nothing_say(&b);
  lp_buf_free(&b);
}

int lp_nothing_cut(const LpOut *out)
{
  if (!out->cut)
    return LP_WHOLE;
  fprintf(stderr,
          "%s: the report would be larger than %" PRIu64
          " MiB: %s; --min makes it smaller\n",
          program_invocation_short_name,
          lp_report_most(&lp_options.report) >> 20, out->cut);
  return LP_PART;
}
