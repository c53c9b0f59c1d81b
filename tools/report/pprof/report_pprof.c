/*
** --format=pprof: profile.proto, packed with gzip, as pprof reads it.
**
** No more than a stack is held in memory beside the call tree: see pprof_out.h.
*/

#include <stdlib.h>
#include <string.h>

#include "foreign.h"
#include "frame.h"
#include "label.h"
#include "labelled.h"
#include "part.h"
#include "pick.h"
#include "pprof_out.h"
#include "printable.h"
#include "text.h"

/* A type of values of samples. */
typedef struct PprofType {
  const char *type, *unit;
  LpMetric metric;
  int period; /* As many times that. */
} PprofType;

/* Only counted types are written; counts precede their bytes. */
static const PprofType pprof_types[] = {
    {"alloc_objects", "count", LP_METRIC_ALLOCATIONS, 0},
    {"alloc_space", "bytes", LP_METRIC_BYTES, 0},
    {"inuse_objects", "count", LP_METRIC_LIVE_OBJECTS, 0},
    {"inuse_space", "bytes", LP_METRIC_LIVE, 0},
    {"peak_objects", "count", LP_METRIC_PEAK_OBJECTS, 0},
    {"peak_space", "bytes", LP_METRIC_PEAK, 0},
    {"temporary_objects", "count", LP_METRIC_TEMPORARY_OBJECTS, 0},
    {"temporary_space", "bytes", LP_METRIC_TEMPORARY, 0},
    {"samples", "count", LP_METRIC_SAMPLES, 0},
    {"cpu", "nanoseconds", LP_METRIC_SAMPLES, 1},
};

#define PPROF_TYPES (sizeof(pprof_types) / sizeof(pprof_types[0]))

typedef struct Pprof {
  LpPprof to;
  const LpProfile *prof;
  LpTree tree;
  int luafirst; /* Samples are charged to Lua lines. */
  int labelled; /* Samples have labels of their threads. */
  const PprofType *type[PPROF_TYPES]; /* What is written of each stack. */
  unsigned ntype;
  uint64_t period;      /* Nanoseconds of CPU time between two samples, or 0. */
  uint64_t base_period; /* The same of the baseline. */
  LpBuf memory[LP_NPICK]; /* Labels of all that is of memory. */
  LpIntern mappings;
  uint32_t *site, nsite; /* By site: its location's id, 0 if not written. */
  uint32_t *func, nfunc; /* By function: its id, the same. */
} Pprof;

/* -- What others refer to ------------------------------------------------- */

/* The string number of a site's label, which OF appends. */
static uint64_t pprof_label(Pprof *p, uint32_t site, LpLabel *of)
{
  LpBuf b = {0};
  uint64_t id;
  of(&b, p->prof, site);
  id = lp_pprof_string(&p->to, b.s ? b.s : "");
  lp_buf_free(&b);
  return id;
}

/* The id of a site's function; special sites are functions of their own. */
static uint64_t pprof_function(Pprof *p, uint32_t site)
{
  LpBuf msg = {0};
  uint64_t line;
  size_t id = site < LP_SITE_FIRST
                  ? site
                  : (size_t)LP_SITE_FIRST + p->prof->row[site].func;
  if (p->func[id])
    return p->func[id];
  p->func[id] = ++p->nfunc;
  lp_pb_number(&msg, FUNCTION_ID, p->func[id]);
  lp_pb_number(&msg, FUNCTION_NAME, pprof_label(p, site, lp_label_func));
  lp_pb_number(&msg, FUNCTION_SYSTEM, pprof_label(p, site, lp_frame_name));
  lp_pb_number(&msg, FUNCTION_FILE, pprof_label(p, site, lp_frame_path));
  if (lp_frame_first(p->prof, site, &line))
    lp_pb_number(&msg, FUNCTION_LINE, line);
  lp_pprof_field(&p->to, PROFILE_FUNCTION, &msg);
  lp_buf_free(&msg);
  return p->func[id];
}

/* The id of a site's module, 0 if it has none. Functions are in it by their
** addresses in its file.
*/
static uint64_t pprof_mapping(Pprof *p, uint32_t site)
{
  uint64_t key[2] = {pprof_label(p, site, lp_frame_module), 0};
  uint32_t n = p->mappings.n, id;
  LpBuf msg = {0};
  if (!key[0])
    return 0;
  key[1] = pprof_label(p, site, lp_frame_buildid);
  id = lp_intern(&p->mappings, key, sizeof(key));
  if (id == n) {
    lp_pb_number(&msg, MAPPING_ID, id + 1u);
    lp_pb_number(&msg, MAPPING_LIMIT, INT64_MAX);
    lp_pb_number(&msg, MAPPING_FILE, key[0]);
    lp_pb_number(&msg, MAPPING_BUILDID, key[1]);
    lp_pb_number(&msg, MAPPING_HASFUNCTIONS, 1);
    lp_pprof_field(&p->to, PROFILE_MAPPING, &msg);
  }
  lp_buf_free(&msg);
  return id + 1u;
}

/* The id of a site's location. */
static uint64_t pprof_location(Pprof *p, uint32_t site)
{
  LpBuf msg = {0}, part = {0};
  uint64_t n;
  if (p->site[site])
    return p->site[site];
  p->site[site] = ++p->nsite;
  lp_pb_number(&part, LINE_FUNCTION, pprof_function(p, site));
  if (lp_frame_line(p->prof, site, &n))
    lp_pb_number(&part, LINE_LINE, n);
  lp_pb_number(&msg, LOCATION_ID, p->site[site]);
  lp_pb_number(&msg, LOCATION_MAPPING, pprof_mapping(p, site));
  if (lp_frame_address(p->prof, site, &n))
    lp_pb_number(&msg, LOCATION_ADDRESS, n);
  lp_pb_message(&msg, LOCATION_LINE, &part);
  lp_pprof_field(&p->to, PROFILE_LOCATION, &msg);
  lp_buf_free(&msg);
  lp_buf_free(&part);
  return p->site[site];
}

/* -- Stacks --------------------------------------------------------------- */

/* The self value of a node; in a diff the change, which may be negative. Of
** samples that are charged to Lua lines, those of a PART (or LP_NMETRIC, which
** has none).
*/
static uint64_t pprof_value(const Pprof *p, const PprofType *t, uint32_t node,
                            LpMetric part)
{
  LpMetric m = t->metric;
  uint64_t n, base = 0;
  if (p->labelled && m == LP_METRIC_SAMPLES)
    return 0;
  if (p->luafirst && m == LP_METRIC_SAMPLES)
    m = part;
  else if (part != LP_NMETRIC)
    m = LP_NMETRIC;
  if (m == LP_NMETRIC)
    return 0;
  n = lp_tree_self(&p->tree, node, m);
  if (p->prof->baseline.present)
    base = lp_value_round(p->tree.col[LP_BASE][m].self[node]);
  return t->period ? n * p->period - base * p->base_period : n - base;
}

/* The self values of a node. Returns 0 if there are none. */
static int pprof_values(const Pprof *p, LpBuf *values, uint32_t node,
                        LpMetric part)
{
  uint64_t some = 0;
  unsigned i;
  values->n = 0;
  for (i = 0; i < p->ntype; i++) {
    uint64_t n = pprof_value(p, p->type[i], node, part);
    some |= n;
    lp_pb_varint(values, n);
  }
  return some != 0;
}

/* Add a label to a sample. */
static void pprof_add_label(Pprof *p, LpBuf *sample, const char *key,
                            const char *text)
{
  LpBuf label = {0};
  lp_pb_number(&label, LABEL_KEY, lp_pprof_string(&p->to, key));
  lp_pb_number(&label, LABEL_STRING, lp_pprof_string(&p->to, text));
  lp_pb_message(sample, SAMPLE_LABEL, &label);
  lp_buf_free(&label);
}

/* The same of a number. */
static void pprof_add_number(Pprof *p, LpBuf *sample, const char *key,
                             uint64_t n)
{
  LpBuf label = {0};
  lp_pb_number(&label, LABEL_KEY, lp_pprof_string(&p->to, key));
  lp_pb_number(&label, LABEL_NUMBER, n);
  lp_pb_message(sample, SAMPLE_LABEL, &label);
  lp_buf_free(&label);
}

/* Add the VALUE of a label of a process or thread to a sample, if there is
** one.
*/
static void pprof_add_key(Pprof *p, LpBuf *sample, LpPickKey key,
                          const LpBuf *value)
{
  LpBuf text = {0};
  lp_printable(&text, (LpStr){value->s, value->n});
  if (value->n && (key == LP_PICK_PID || key == LP_PICK_TID))
    pprof_add_number(p, sample, lp_pick_key[key], strtoull(value->s, NULL, 10));
  else if (value->n)
    pprof_add_label(p, sample, lp_pick_key[key], text.s);
  lp_buf_free(&text);
}

/* Add what is known of a thread to a sample; of memory if that is LP_NONE. */
static void pprof_add_thread(Pprof *p, LpBuf *sample, uint32_t thread)
{
  LpPickKey key;
  for (key = 0; key < LP_NPICK; key++) {
    LpBuf value = {0};
    if (thread != LP_NONE)
      lp_pick_value(&value, &p->prof->cpu, thread, key);
    pprof_add_key(p, sample, key, thread == LP_NONE ? &p->memory[key] : &value);
    lp_buf_free(&value);
  }
}

/* Write a stack with VALUES, which are cleared: the innermost frame first. */
static void pprof_sample(Pprof *p, uint32_t node, LpBuf *values, LpMetric part,
                         uint32_t thread)
{
  LpBuf stack = {0}, msg = {0};
  uint32_t at;
  for (at = node; at != LP_NODE_ROOT; at = p->tree.node[at].parent)
    lp_pb_varint(&stack, pprof_location(p, p->tree.node[at].site));
  lp_pb_message(&msg, SAMPLE_LOCATIONS, &stack);
  lp_pb_message(&msg, SAMPLE_VALUES, values);
  if (part != LP_NMETRIC)
    pprof_add_label(p, &msg, "part", lp_metrics[part].key);
  if (p->labelled)
    pprof_add_thread(p, &msg, thread);
  lp_pprof_field(&p->to, PROFILE_SAMPLE, &msg);
  lp_buf_free(&stack);
  lp_buf_free(&msg);
}

/* Write the samples by stack, part and thread. */
static void pprof_labelled(Pprof *p, const LpShape *shape)
{
  LpBuf values = {0};
  size_t n, i;
  LpLabelled *list = lp_labelled(&p->tree, p->prof, shape, &n);
  for (i = 0; i < n; i++) {
    unsigned k;
    for (k = 0; k < p->ntype; k++) {
      const PprofType *t = p->type[k];
      uint64_t worth = t->period ? p->period : 1;
      lp_pb_varint(&values, t->metric == LP_METRIC_SAMPLES
                                ? list[i].samples * worth
                                : 0);
    }
    pprof_sample(p, list[i].node, &values, (LpMetric)list[i].part,
                 list[i].thread);
  }
  free(list);
  lp_buf_free(&values);
}

/* All stacks. What a Lua line did is a label: samples of each part are apart. A
** diff has no threads: those of two runs are never the same.
*/
static void pprof_samples(Pprof *p)
{
  unsigned parts = p->luafirst ? LP_METRIC_PARTS : 0;
  LpBuf values = {0};
  uint32_t i;
  LpMetric m;
  for (i = 1; i < p->tree.n; i++) {
    for (m = 0; m < LP_NMETRIC; m++)
      if ((parts & LP_METRIC_BIT(m)) && pprof_values(p, &values, i, m))
        pprof_sample(p, i, &values, m, LP_NONE);
    if (pprof_values(p, &values, i, LP_NMETRIC))
      pprof_sample(p, i, &values, LP_NMETRIC, LP_NONE);
  }
  lp_buf_free(&values);
}

/* -- What it is ----------------------------------------------------------- */

/* Write the types of values; the one of METRIC, or CPU time, is shown first. */
static void pprof_choose(Pprof *p, LpMetric metric)
{
  const char *first = NULL;
  size_t i;
  for (i = 0; i < PPROF_TYPES; i++) {
    const PprofType *t = &pprof_types[i];
    if (!(p->tree.metrics & LP_METRIC_BIT(t->metric)) ||
        (t->period && !p->period))
      continue;
    p->type[p->ntype++] = t;
    lp_pprof_type(&p->to, PROFILE_SAMPLE_TYPE, t->type, t->unit);
    if (t->metric == metric || t->metric == LP_METRIC_SAMPLES ||
        (t->metric == LP_METRIC_BYTES && !first))
      first = t->type;
  }
  if (first)
    lp_pprof_number(&p->to, PROFILE_DEFAULT_TYPE,
                    lp_pprof_string(&p->to, first));
}

/* Write comments about estimates. */
static void pprof_comments(Pprof *p, const LpReportOptions *opt)
{
  const LpProfile *prof = p->prof;
  LpBuf b = {0}, outside = {0};
  lp_buf_puts(&b, "lj-parse-memprof " LP_VERSION);
  lp_pprof_comment(&p->to, &b);
  if (opt->base)
    lp_buf_printf(&b, "Changes, compared with %s", opt->base);
  lp_pprof_comment(&p->to, &b);
  lp_text_sampled(&b, prof);
  lp_pprof_comment(&p->to, &b);
  if (prof->guess.n)
    lp_buf_printf(&b, "Live figures are approximate: %s", prof->guess.s);
  lp_pprof_comment(&p->to, &b);
  lp_foreign_text(&outside, prof);
  if (outside.n)
    lp_buf_printf(&b, "Outside of the VM's count: %s", outside.s);
  lp_pprof_comment(&p->to, &b);
  lp_buf_free(&outside);
  lp_buf_free(&b);
}

/* Write when it was recorded, and how far apart samples are: where nothing is
** left out, a byte; 0 where that differs. Engines have the type of the period
** in the names of their profiles, so it is always written.
*/
static void pprof_times(Pprof *p)
{
  const LpProfile *prof = p->prof;
  lp_pprof_number(&p->to, PROFILE_TIME, prof->realtime);
  lp_pprof_number(&p->to, PROFILE_DURATION, prof->ns);
  if (prof->of & LP_OF_CPU) {
    lp_pprof_type(&p->to, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
    lp_pprof_number(&p->to, PROFILE_PERIOD, p->period);
    return;
  }
  lp_pprof_type(&p->to, PROFILE_PERIOD_TYPE, "space", "bytes");
  if (prof->sparse == prof->dense)
    lp_pprof_number(&p->to, PROFILE_PERIOD, prof->sparse ? prof->sparse : 1);
}

/* What a sample stands for, here and in the baseline. If one of them is not
** known, no CPU time is written.
*/
static void pprof_periods(Pprof *p)
{
  const LpProfile *prof = p->prof;
  p->period = lp_cpu_period(&prof->cpu);
  p->base_period = prof->baseline.period;
  if (prof->baseline.nsamples && !p->base_period)
    p->period = 0;
}

/* The whole report. */
static void pprof_write(LpOut *out, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  LpTreeOf of = {lp_metric_counted(prof), LP_MERGE_LINES, opt->shape, 0,
                 .places = 1};
  Pprof p = {.prof = prof,
             .luafirst = lp_luafirst(prof),
             .labelled = !prof->baseline.present};
  LpPickKey key;
  lp_pprof_open(&p.to, out);
  pprof_periods(&p);
  for (key = 0; key < LP_NPICK; key++)
    lp_labelled_memory(&p.memory[key], prof, key);
  p.site = lp_zalloc(prof->sitekeys.n, sizeof(uint32_t));
  p.func =
      lp_zalloc((size_t)LP_SITE_FIRST + prof->funckeys.n, sizeof(uint32_t));
  lp_tree_open(&p.tree, prof, &of);
  lp_tree_whole(&p.tree);
  pprof_choose(&p, opt->metric);
  pprof_comments(&p, opt);
  pprof_times(&p);
  pprof_samples(&p);
  if (p.labelled)
    pprof_labelled(&p, opt->shape);
  lp_pprof_close(&p.to);
  lp_tree_close(&p.tree);
  lp_intern_free(&p.mappings);
  for (key = 0; key < LP_NPICK; key++)
    lp_buf_free(&p.memory[key]);
  free(p.site);
  free(p.func);
}

const LpReport lp_report_pprof = {
    .format = "pprof",
    .binary = 1,
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_METRIC | LP_TAKES_STACKS | LP_TAKES_AGES | LP_TAKES_DIFF,
    .wants =
        LP_WANT_PEAK | LP_WANT_TEMPORARY | LP_WANT_THREADS | LP_WANT_PROCESSES,
    .write = pprof_write,
};
