/*
** --format=speedscope: stacks as speedscope's own file format has them, with a
** profile for each metric.
**
** Frames are the same as those of folded stacks. Weights below 0, which there
** may be after a gap, are left out, as there.
*/

#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "json.h"
#include "label.h"
#include "stacks.h"

/* Units as speedscope names them; it knows no others. */
static const char *const scope_units[] = {
    [LP_UNIT_COUNT] = "none",
    [LP_UNIT_BYTES] = "bytes",
    [LP_UNIT_SAMPLES] = "none",
    [LP_UNIT_NS] = "nanoseconds",
};

/* Metrics that have a profile, if they are counted. */
static const LpMetric scope_metrics[] = {
    LP_METRIC_BYTES,     LP_METRIC_ALLOCATIONS,
    LP_METRIC_LIVE,      LP_METRIC_LIVE_OBJECTS,
    LP_METRIC_PEAK,      LP_METRIC_PEAK_OBJECTS,
    LP_METRIC_TEMPORARY, LP_METRIC_TEMPORARY_OBJECTS,
    LP_METRIC_SAMPLES};

#define SCOPE_METRICS (sizeof(scope_metrics) / sizeof(scope_metrics[0]))

#define SCOPE_WEIGHT 24 /* Bytes of a weight, and of a stack's brackets. */

typedef struct Scope {
  LpJson j;
  const LpProfile *prof;
  LpTree tree;
  LpStacks stacks;
  uint32_t *frame; /* By site: number. LP_NONE: it has none yet. */
  uint32_t rest;   /* That of the frame for all stacks that are not shown. */
  unsigned digits; /* Of the number of a frame, at most. */
} Scope;

/* The digits of a number. */
static unsigned scope_digits(size_t n)
{
  unsigned digits = 1;
  while (n /= 10)
    digits++;
  return digits;
}

/* No site has a frame. */
static void scope_clear(Scope *s)
{
  memset(s->frame, 0xff, s->prof->sitekeys.n * sizeof(uint32_t));
}

/* A frame. */
static void scope_frame(LpJson *j, const LpProfile *prof, uint32_t site)
{
  LpBuf name = {0}, file = {0};
  uint64_t line;
  if (prof->of & LP_OF_CPU)
    lp_label_call(&name, prof, site);
  else
    lp_label_frame(&name, prof, site);
  lp_frame_path(&file, prof, site);
  lp_json_object(j, NULL);
  lp_json_keytext(j, "name", name.s);
  if (file.n)
    lp_json_keytext(j, "file", file.s);
  if (lp_frame_line(prof, site, &line))
    lp_json_keynumber(j, "line", line);
  lp_json_end(j);
  lp_buf_free(&name);
  lp_buf_free(&file);
}

/* The bytes of a frame, and a few more. */
static uint64_t scope_measure(const Scope *s, uint32_t site)
{
  uint64_t n;
  LpOut out;
  LpJson j;
  lp_out_open(&out, -1);
  lp_json_open(&j, &out);
  scope_frame(&j, s->prof, site);
  n = out.buf.n;
  lp_buf_free(&out.buf);
  return n;
}

/* The bytes of a stack in all profiles, and of its frames that no stack before
** it has.
*/
static uint64_t scope_cost(void *ctx, uint32_t node)
{
  Scope *s = ctx;
  uint64_t bytes = 0, depth = 0;
  uint32_t i;
  size_t m;
  for (i = node; i != LP_NODE_ROOT; i = s->tree.node[i].parent, depth++) {
    uint32_t site = s->tree.node[i].site;
    if (s->frame[site] == LP_NONE)
      bytes += scope_measure(s, site);
    s->frame[site] = 0;
  }
  for (m = 0; m < SCOPE_METRICS; m++)
    if (lp_stacks_self(&s->tree, LP_NOW, scope_metrics[m], node))
      bytes += depth * (s->digits + 1) + SCOPE_WEIGHT;
  return bytes;
}

/* Is there room for all frames, also those of no stack? Costs were added up. */
static int scope_all(Scope *s)
{
  uint64_t bytes = 0;
  uint32_t i;
  for (i = 1; i < s->tree.n && bytes <= s->stacks.room; i++) {
    uint32_t site = s->tree.node[i].site;
    if (s->frame[site] == LP_NONE)
      bytes += scope_measure(s, site);
    s->frame[site] = 0;
  }
  return bytes <= s->stacks.room;
}

/* The nodes whose frames are written: all, or if stacks are left out those of
** the others. The caller frees them.
*/
static uint8_t *scope_nodes(Scope *s)
{
  uint8_t *in = lp_alloc(s->tree.n);
  uint32_t i;
  if (!s->stacks.rest && scope_all(s)) {
    memset(in, 1, s->tree.n);
    return in;
  }
  memcpy(in, s->stacks.shown, s->tree.n);
  for (i = s->tree.n; --i > 0;)
    in[s->tree.node[i].parent] |= in[i];
  return in;
}

/* All frames, each once. */
static void scope_frames(Scope *s)
{
  uint8_t *in = scope_nodes(s);
  uint32_t i;
  scope_clear(s);
  lp_json_object(&s->j, "shared");
  lp_json_array(&s->j, "frames");
  for (i = 1; i < s->tree.n; i++) {
    uint32_t site = s->tree.node[i].site;
    if (!in[i] || s->frame[site] != LP_NONE)
      continue;
    s->frame[site] = s->rest++;
    scope_frame(&s->j, s->prof, site);
  }
  if (s->stacks.rest) {
    lp_json_object(&s->j, NULL);
    lp_json_keytext(&s->j, "name", LP_STACKS_REST);
    lp_json_end(&s->j);
  }
  lp_json_end(&s->j);
  lp_json_end(&s->j);
  free(in);
}

/* The frames of a node and its callers, which come first. */
static void scope_stack(Scope *s, uint32_t node, LpBuf *path)
{
  size_t i;
  path->n = 0;
  for (; node != LP_NODE_ROOT; node = s->tree.node[node].parent)
    lp_buf_add(path, &s->frame[s->tree.node[node].site], sizeof(uint32_t));
  lp_json_array(&s->j, NULL);
  for (i = path->n; i > 0; i -= sizeof(uint32_t)) {
    uint32_t frame;
    memcpy(&frame, path->s + i - sizeof(frame), sizeof(frame));
    lp_json_number(&s->j, frame);
  }
  lp_json_end(&s->j);
}

/* What a stack that is shown has; 0 if there is nothing to be shown. */
static uint64_t scope_self(const Scope *s, uint32_t node, LpMetric m)
{
  return s->stacks.shown[node] ? lp_stacks_self(&s->tree, LP_NOW, m, node) : 0;
}

/* All stacks with a weight, and their weights; the rest is last. Returns the
** sum.
*/
static uint64_t scope_stacks(Scope *s, LpMetric m)
{
  uint64_t rest = lp_stacks_rest(&s->stacks, &s->tree, LP_NOW, m), sum = rest;
  LpBuf path = {0};
  uint32_t i;
  lp_json_array(&s->j, "samples");
  for (i = 1; i < s->tree.n; i++)
    if (scope_self(s, i, m))
      scope_stack(s, i, &path);
  if (rest) {
    lp_json_array(&s->j, NULL);
    lp_json_number(&s->j, s->rest);
    lp_json_end(&s->j);
  }
  lp_json_end(&s->j);
  lp_json_array(&s->j, "weights");
  for (i = 1; i < s->tree.n; i++) {
    uint64_t n = scope_self(s, i, m);
    if (!n)
      continue;
    lp_json_number(&s->j, n);
    sum += n;
  }
  if (rest)
    lp_json_number(&s->j, rest);
  lp_json_end(&s->j);
  lp_buf_free(&path);
  return sum;
}

/* The profile of a metric. */
static void scope_profile(Scope *s, LpMetric m)
{
  uint64_t sum;
  lp_json_object(&s->j, NULL);
  lp_json_keytext(&s->j, "type", "sampled");
  lp_json_keytext(&s->j, "name", lp_metrics[m].title);
  lp_json_keytext(&s->j, "unit", scope_units[lp_metrics[m].unit]);
  lp_json_keynumber(&s->j, "startValue", 0);
  sum = scope_stacks(s, m);
  lp_json_keynumber(&s->j, "endValue", sum);
  lp_json_end(&s->j);
}

/* All profiles; METRIC's is shown first. */
static void scope_profiles(Scope *s, LpMetric metric)
{
  uint64_t n = 0, active = 0;
  size_t i;
  lp_json_array(&s->j, "profiles");
  for (i = 0; i < SCOPE_METRICS; i++) {
    if (!(s->tree.metrics & LP_METRIC_BIT(scope_metrics[i])))
      continue;
    if (scope_metrics[i] == metric)
      active = n;
    scope_profile(s, scope_metrics[i]);
    n++;
  }
  lp_json_end(&s->j);
  lp_json_keynumber(&s->j, "activeProfileIndex", active);
}

/* The whole report. */
static void scope_write(LpOut *out, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  LpTreeOf of = {lp_metric_counted(prof), LP_MERGE_LINES, opt->shape, 0, 0};
  Scope s = {.prof = prof};
  const char *name = lp_files_name(&prof->files, prof->files.nbase);
  s.frame = lp_alloc(prof->sitekeys.n * sizeof(uint32_t));
  lp_tree_open(&s.tree, prof, &of);
  lp_tree_whole(&s.tree);
  s.digits = scope_digits(prof->sitekeys.n);
  scope_clear(&s);
  lp_stacks_open(&s.stacks, &s.tree, lp_report_metric(prof, opt), opt,
                 scope_cost, &s);
  lp_json_open(&s.j, out);
  lp_json_object(&s.j, NULL);
  lp_json_keytext(&s.j, "$schema",
                  "https://www.speedscope.app/file-format-schema.json");
  lp_json_keytext(&s.j, "exporter", "lj-parse-memprof " LP_VERSION);
  lp_json_keytext(&s.j, "name", name ? name : "");
  scope_frames(&s);
  scope_profiles(&s, opt->metric);
  lp_json_end(&s.j);
  if (s.stacks.cut)
    out->cut = LP_STACKS_CUT;
  lp_stacks_close(&s.stacks);
  lp_tree_close(&s.tree);
  free(s.frame);
}

const LpReport lp_report_speedscope = {
    .format = "speedscope",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_METRIC | LP_TAKES_STACKS | LP_TAKES_MIN | LP_TAKES_AGES,
    .wants = LP_WANT_PEAK | LP_WANT_TEMPORARY,
    .write = scope_write,
};
