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
#include "report.h"

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

typedef struct Scope {
  LpJson j;
  const LpProfile *prof;
  LpTree tree;
  uint32_t *frame; /* By site: number. */
} Scope;

/* A frame. */
static void scope_frame(Scope *s, uint32_t site)
{
  LpBuf name = {0}, file = {0};
  uint64_t line;
  if (s->prof->of & LP_OF_CPU)
    lp_label_call(&name, s->prof, site);
  else
    lp_label_frame(&name, s->prof, site);
  lp_frame_path(&file, s->prof, site);
  lp_json_object(&s->j, NULL);
  lp_json_keytext(&s->j, "name", name.s);
  if (file.n)
    lp_json_keytext(&s->j, "file", file.s);
  if (lp_frame_line(s->prof, site, &line))
    lp_json_keynumber(&s->j, "line", line);
  lp_json_end(&s->j);
  lp_buf_free(&name);
  lp_buf_free(&file);
}

/* All frames of the tree. */
static void scope_frames(Scope *s)
{
  uint32_t i, n = 0;
  memset(s->frame, 0xff, s->prof->sitekeys.n * sizeof(uint32_t));
  lp_json_object(&s->j, "shared");
  lp_json_array(&s->j, "frames");
  for (i = 1; i < s->tree.n; i++) {
    uint32_t site = s->tree.node[i].site;
    if (s->frame[site] != LP_NONE)
      continue;
    s->frame[site] = n++;
    scope_frame(s, site);
  }
  lp_json_end(&s->j);
  lp_json_end(&s->j);
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

/* All stacks with a weight, and their weights. Returns the sum. */
static uint64_t scope_stacks(Scope *s, LpMetric m)
{
  LpBuf path = {0};
  uint64_t sum = 0;
  uint32_t i;
  lp_json_array(&s->j, "samples");
  for (i = 1; i < s->tree.n; i++)
    if ((int64_t)lp_tree_self(&s->tree, i, m) > 0)
      scope_stack(s, i, &path);
  lp_json_end(&s->j);
  lp_json_array(&s->j, "weights");
  for (i = 1; i < s->tree.n; i++) {
    uint64_t n = lp_tree_self(&s->tree, i, m);
    if ((int64_t)n <= 0)
      continue;
    lp_json_number(&s->j, n);
    sum += n;
  }
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
static void scope_write(LpOut *out, const LpProfile *prof,
                        const LpReportOptions *opt)
{
  LpTreeOf of = {lp_metric_counted(prof), LP_MERGE_LINES, opt->shape};
  Scope s = {.prof = prof};
  const char *name = lp_files_name(&prof->files, prof->files.nbase);
  s.frame = lp_alloc(prof->sitekeys.n * sizeof(uint32_t));
  lp_tree_open(&s.tree, prof, &of);
  lp_tree_whole(&s.tree);
  lp_json_open(&s.j, out);
  lp_json_object(&s.j, NULL);
  lp_json_keytext(&s.j, "$schema",
                  "https://www.speedscope.app/file-format-schema.json");
  lp_json_keytext(&s.j, "exporter", "lj-parse-memprof " LP_VERSION);
  lp_json_keytext(&s.j, "name", name ? name : "");
  scope_frames(&s);
  scope_profiles(&s, opt->metric);
  lp_json_end(&s.j);
  lp_tree_close(&s.tree);
  free(s.frame);
}

const LpReport lp_report_speedscope = {
    .format = "speedscope",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_METRIC | LP_TAKES_STACKS | LP_TAKES_AGES,
    .wants = LP_WANT_PEAK | LP_WANT_TEMPORARY,
    .write = scope_write,
};
