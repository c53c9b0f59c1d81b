/*
** --format=pprof: profile.proto, packed with gzip, as pprof reads it.
**
** All fields of a profile may come in any order, so that each is written as
** soon as it is known: a string, function, mapping or location where it is used
** first, a sample for each stack. No more than a stack is held in memory beside
** the call tree. Ids count from 1 in the order in which they are written:
** profile.proto does not ask for that, but Parca does.
*/

#include <stdlib.h>
#include <string.h>

#include "foreign.h"
#include "frame.h"
#include "gzip.h"
#include "protobuf.h"
#include "text.h"
#include "utf8.h"

/* Fields of the messages, by profile.proto's numbers. */
enum {
  PROFILE_SAMPLE_TYPE = 1,
  PROFILE_SAMPLE,
  PROFILE_MAPPING,
  PROFILE_LOCATION,
  PROFILE_FUNCTION,
  PROFILE_STRING,
  PROFILE_TIME = 9,
  PROFILE_DURATION,
  PROFILE_PERIOD_TYPE,
  PROFILE_PERIOD,
  PROFILE_COMMENT,
  PROFILE_DEFAULT_TYPE
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES };
enum {
  MAPPING_ID = 1,
  MAPPING_LIMIT = 3,
  MAPPING_FILE = 5,
  MAPPING_BUILDID,
  MAPPING_HASFUNCTIONS
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum {
  FUNCTION_ID = 1,
  FUNCTION_NAME,
  FUNCTION_SYSTEM,
  FUNCTION_FILE,
  FUNCTION_LINE
};

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
  LpGzip gzip;
  const LpProfile *prof;
  LpTree tree;
  const PprofType *type[PPROF_TYPES]; /* What is written of each stack. */
  unsigned ntype;
  uint64_t period;      /* Nanoseconds of CPU time between two samples, or 0. */
  uint64_t base_period; /* The same of the baseline. */
  LpBuf top;            /* A field of the profile, with its head. */
  LpIntern strings, mappings;
  uint32_t *site, nsite; /* By site: its location's id, 0 if not written. */
  uint32_t *func, nfunc; /* By function: its id, the same. */
} Pprof;

/* -- What others refer to ------------------------------------------------- */

/* Write the field to the profile and clear it. */
static void pprof_field(Pprof *p, unsigned field, LpBuf *msg)
{
  lp_pb_message(&p->top, field, msg);
  lp_gzip_add(&p->gzip, &p->top);
  p->top.n = 0;
}

/* Write a number of the profile. */
static void pprof_number(Pprof *p, unsigned field, uint64_t n)
{
  lp_pb_number(&p->top, field, n);
  lp_gzip_add(&p->gzip, &p->top);
  p->top.n = 0;
}

/* The number of a string. */
static uint64_t pprof_string(Pprof *p, const char *s)
{
  LpBuf text = {0};
  uint32_t n = p->strings.n, id;
  lp_utf8_add(&text, s, strlen(s));
  id = lp_intern(&p->strings, text.s ? text.s : "", text.n);
  if (id == n)
    pprof_field(p, PROFILE_STRING, &text);
  lp_buf_free(&text);
  return id;
}

/* The string number of a site's label, which OF appends. */
static uint64_t pprof_label(Pprof *p, uint32_t site, LpLabel *of)
{
  LpBuf b = {0};
  uint64_t id;
  of(&b, p->prof, site);
  id = pprof_string(p, b.s ? b.s : "");
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
  pprof_field(p, PROFILE_FUNCTION, &msg);
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
    pprof_field(p, PROFILE_MAPPING, &msg);
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
  pprof_field(p, PROFILE_LOCATION, &msg);
  lp_buf_free(&msg);
  lp_buf_free(&part);
  return p->site[site];
}

/* -- Stacks --------------------------------------------------------------- */

/* The self value of a node; in a diff the change, which may be negative. */
static uint64_t pprof_value(const Pprof *p, const PprofType *t, uint32_t node)
{
  uint64_t n = lp_tree_self(&p->tree, node, t->metric), base = 0;
  if (p->prof->baseline.present)
    base = lp_value_round(p->tree.col[LP_BASE][t->metric].self[node]);
  return t->period ? n * p->period - base * p->base_period : n - base;
}

/* The self values of a node. Returns 0 if there are none. */
static int pprof_values(const Pprof *p, LpBuf *values, uint32_t node)
{
  uint64_t some = 0;
  unsigned i;
  for (i = 0; i < p->ntype; i++) {
    uint64_t n = pprof_value(p, p->type[i], node);
    some |= n;
    lp_pb_varint(values, n);
  }
  return some != 0;
}

/* All stacks, innermost frames first. */
static void pprof_samples(Pprof *p)
{
  const LpTreeNode *node = p->tree.node;
  LpBuf values = {0}, stack = {0}, msg = {0};
  uint32_t i, at;
  for (i = 1; i < p->tree.n; i++) {
    values.n = 0;
    if (!pprof_values(p, &values, i))
      continue;
    for (at = i; at != LP_NODE_ROOT; at = node[at].parent)
      lp_pb_varint(&stack, pprof_location(p, node[at].site));
    lp_pb_message(&msg, SAMPLE_LOCATIONS, &stack);
    lp_pb_message(&msg, SAMPLE_VALUES, &values);
    pprof_field(p, PROFILE_SAMPLE, &msg);
  }
  lp_buf_free(&values);
  lp_buf_free(&stack);
  lp_buf_free(&msg);
}

/* -- What it is ----------------------------------------------------------- */

/* Write a type of values. */
static void pprof_type(Pprof *p, unsigned field, const char *type,
                       const char *unit)
{
  LpBuf msg = {0};
  lp_pb_number(&msg, VALUE_TYPE, pprof_string(p, type));
  lp_pb_number(&msg, VALUE_UNIT, pprof_string(p, unit));
  pprof_field(p, field, &msg);
  lp_buf_free(&msg);
}

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
    pprof_type(p, PROFILE_SAMPLE_TYPE, t->type, t->unit);
    if (t->metric == metric || t->metric == LP_METRIC_SAMPLES ||
        (t->metric == LP_METRIC_BYTES && !first))
      first = t->type;
  }
  if (first)
    pprof_number(p, PROFILE_DEFAULT_TYPE, pprof_string(p, first));
}

/* Write a comment, if there is one, which is empty then. */
static void pprof_comment(Pprof *p, LpBuf *b)
{
  if (b->n)
    pprof_number(p, PROFILE_COMMENT, pprof_string(p, b->s));
  b->n = 0;
}

/* Write comments about estimates. */
static void pprof_comments(Pprof *p, const LpReportOptions *opt)
{
  const LpProfile *prof = p->prof;
  LpBuf b = {0}, outside = {0};
  lp_buf_puts(&b, "lj-parse-memprof " LP_VERSION);
  pprof_comment(p, &b);
  if (opt->base)
    lp_buf_printf(&b, "Changes, compared with %s", opt->base);
  pprof_comment(p, &b);
  lp_text_sampled(&b, prof);
  pprof_comment(p, &b);
  if (prof->guess.n)
    lp_buf_printf(&b, "Live figures are approximate: %s", prof->guess.s);
  pprof_comment(p, &b);
  lp_foreign_text(&outside, prof);
  if (outside.n)
    lp_buf_printf(&b, "Outside of the VM's count: %s", outside.s);
  pprof_comment(p, &b);
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
  pprof_number(p, PROFILE_TIME, prof->realtime);
  pprof_number(p, PROFILE_DURATION, prof->ns);
  if (prof->of & LP_OF_CPU) {
    pprof_type(p, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
    pprof_number(p, PROFILE_PERIOD, p->period);
    return;
  }
  pprof_type(p, PROFILE_PERIOD_TYPE, "space", "bytes");
  if (prof->sparse == prof->dense)
    pprof_number(p, PROFILE_PERIOD, prof->sparse ? prof->sparse : 1);
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
static void pprof_write(LpOut *out, const LpProfile *prof,
                        const LpReportOptions *opt)
{
  LpTreeOf of = {lp_metric_counted(prof), LP_MERGE_LINES, opt->shape};
  Pprof p = {.prof = prof};
  lp_gzip_open(&p.gzip, out);
  pprof_periods(&p);
  p.site = lp_zalloc(prof->sitekeys.n, sizeof(uint32_t));
  p.func =
      lp_zalloc((size_t)LP_SITE_FIRST + prof->funckeys.n, sizeof(uint32_t));
  lp_tree_open(&p.tree, prof, &of);
  lp_tree_whole(&p.tree);
  pprof_string(&p, "");
  pprof_choose(&p, opt->metric);
  pprof_comments(&p, opt);
  pprof_times(&p);
  pprof_samples(&p);
  lp_gzip_close(&p.gzip);
  lp_tree_close(&p.tree);
  lp_intern_free(&p.strings);
  lp_intern_free(&p.mappings);
  lp_buf_free(&p.top);
  free(p.site);
  free(p.func);
}

const LpReport lp_report_pprof = {
    .format = "pprof",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_METRIC | LP_TAKES_STACKS | LP_TAKES_AGES | LP_TAKES_DIFF,
    .wants = LP_WANT_PEAK | LP_WANT_TEMPORARY,
    .write = pprof_write,
};
