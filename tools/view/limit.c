/*
** Limits: what a profile must not exceed.
**
** METRIC[@GLOB]<=NUMBER, or <NUMBER: the sum over all sites that GLOB matches,
** by their chunk, by their module, or as reports show them.
*/

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "calltree.h"
#include "label.h"
#include "limit.h"
#include "printable.h"
#include "suggest.h"

#define LIMIT_TOP 3 /* Sites that are listed. */

/* -- What it says --------------------------------------------------------- */

/* Say that there is no such metric, and which one may be meant. */
static void limit_no_metric(LpBuf *why, const char *key)
{
  ClNearest s = cl_nearest(key);
  LpMetric m;
  for (m = 0; m < LP_NMETRIC; m++)
    cl_nearest_try(&s, lp_metrics[m].key);
  lp_buf_printf(why, "there is no METRIC %s", key);
  lp_suggest_add(why, &s, "");
}

/* What objects keep, by a limit's name. */
static LpLimitKeeps limit_keeps(const char *key)
{
  return strcmp(key, "retained") == 0 ? LP_LIMIT_RETAINED
         : strcmp(key, "shared") == 0 ? LP_LIMIT_SHARED
         : strcmp(key, "growth") == 0 ? LP_LIMIT_GROWTH
                                      : LP_LIMIT_NONE;
}

int lp_limit_parse(LpLimit *l, const char *text, LpBuf *why)
{
  const char *less = strrchr(text, '<'), *at = strchr(text, '@');
  LpBuf key = {0};
  memset(l, 0, sizeof(*l));
  l->text = text;
  if (!less) {
    lp_buf_puts(why, "expected METRIC<=NUMBER or METRIC@GLOB<=NUMBER");
    return 0;
  }
  l->below = less[1] != '=';
  if (!lp_amount_parse(less + 1 + !l->below, &l->n)) {
    lp_buf_printf(why, "expected a NUMBER such as 4096, 10MB or 1.5GiB, not %s",
                  less + 1 + !l->below);
    return 0;
  }
  if (!at || at > less)
    at = less;
  lp_buf_add(&key, text, (size_t)(at - text));
  l->metric = lp_metric_find(key.s);
  l->keeps = limit_keeps(key.n ? key.s : "");
  if (l->metric == LP_NMETRIC && !l->keeps)
    limit_no_metric(why, key.s);
  lp_buf_free(&key);
  if (at < less) {
    LpBuf glob = {0};
    lp_buf_add(&glob, at + 1, (size_t)(less - at - 1));
    l->glob = glob.s;
  }
  if (l->keeps == LP_LIMIT_SHARED && !l->glob) {
    lp_buf_puts(why, "expected shared@PATH: what objects keep with others");
    return 0;
  }
  return l->metric != LP_NMETRIC || l->keeps;
}

unsigned lp_limit_of(const LpLimit *l)
{
  if (l->keeps == LP_LIMIT_GROWTH)
    return LP_OF_LADDER;
  return l->keeps ? LP_OF_HEAP : lp_metrics[l->metric].of;
}

unsigned lp_limit_wants(const LpLimit *l)
{
  return l->keeps ? 0 : lp_metrics[l->metric].wants;
}

int lp_limit_kept(const LpLimit *l, uint64_t n)
{
  return l->below ? n < l->n : n <= l->n;
}

/* -- What it is of -------------------------------------------------------- */

/* Does the name of a site's chunk (without Lua's prefix) or module match? */
static int limit_chunk(const LpLimit *l, const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = &prof->func[prof->row[site].func];
  LpStr chunk = lp_profile_name(prof, fi->chunk);
  LpBuf b = {0};
  int is;
  if (fi->kind == LP_FUNC_LUA && chunk.n && strchr("@=", chunk.s[0])) {
    chunk.s++;
    chunk.n--;
  }
  lp_printable(&b, chunk);
  is = b.n && fnmatch(l->glob, b.s, 0) == 0;
  lp_buf_free(&b);
  return is;
}

/* Does a limit apply to this site? */
static int limit_of(const LpLimit *l, const LpProfile *prof, uint32_t site)
{
  LpBuf b = {0};
  int is;
  if (!l->glob)
    return 1;
  lp_label_whole(&b, prof, site);
  is = fnmatch(l->glob, b.s, 0) == 0;
  lp_buf_free(&b);
  return is || (site >= LP_SITE_FIRST && limit_chunk(l, prof, site));
}

typedef struct LimitSum {
  LpValue all;
  uint64_t top[LIMIT_TOP];  /* The largest values of sites, */
  uint32_t site[LIMIT_TOP]; /* and these. */
} LimitSum;

/* Keep a site if it is one of the largest. */
static void limit_top(LimitSum *sum, uint32_t site, uint64_t n)
{
  int i, k;
  for (i = 0; i < LIMIT_TOP; i++) {
    if ((int64_t)n <= (int64_t)sum->top[i])
      continue;
    for (k = LIMIT_TOP - 1; k > i; k--) {
      sum->top[k] = sum->top[k - 1];
      sum->site[k] = sum->site[k - 1];
    }
    sum->top[i] = n;
    sum->site[i] = site;
    return;
  }
}

/* Add up all sites that a limit applies to. */
static LimitSum limit_sum(const LpLimit *l, const LpProfile *prof)
{
  LpTreeOf of = {LP_METRIC_BIT(l->metric), LP_MERGE_CALLERS, NULL, 0, 0};
  LimitSum sum;
  LpTree t;
  uint32_t i;
  memset(&sum, 0, sizeof(sum));
  lp_tree_open(&t, prof, &of);
  for (i = 1; i < t.n; i++) {
    if (!limit_of(l, prof, t.node[i].site))
      continue;
    lp_value_add(&sum.all, t.col[LP_NOW][l->metric].self[i]);
    limit_top(&sum, t.node[i].site, lp_tree_self(&t, i, l->metric));
  }
  lp_tree_close(&t);
  return sum;
}

/* Does a limit match any site? Otherwise a misspelled or removed name would
** meet every limit.
*/
static int limit_any(const LpLimit *l, const LpProfile *prof)
{
  uint32_t i;
  for (i = 0; l->glob && i < prof->sitekeys.n; i++)
    if (limit_of(l, prof, i))
      return 1;
  return !l->glob;
}

/* -- What is wrong -------------------------------------------------------- */

/* Say why the number may not be exact. */
static void limit_doubt(const LpLimit *l, const LpProfile *prof, LpBuf *why)
{
  unsigned live =
      LP_METRIC_BIT(LP_METRIC_LIVE) | LP_METRIC_BIT(LP_METRIC_LIVE_OBJECTS) |
      LP_METRIC_BIT(LP_METRIC_PEAK) | LP_METRIC_BIT(LP_METRIC_PEAK_OBJECTS) |
      LP_METRIC_BIT(LP_METRIC_LEAKED) | LP_METRIC_BIT(LP_METRIC_LEAKED_OBJECTS);
  if (prof->sparse && (lp_metrics[l->metric].of & LP_OF_MEMORY))
    lp_buf_puts(why, " (estimated from samples)");
  if (prof->guess.n && (live & LP_METRIC_BIT(l->metric)))
    lp_buf_printf(why, " (approximate: %s)", prof->guess.s);
  if (prof->nobefore &&
      (l->metric == LP_METRIC_LIVE || l->metric == LP_METRIC_PEAK))
    lp_buf_puts(why, " (without what is older than the recording)");
}

/* Begin the message about a limit. */
static void limit_text(const LpLimit *l, LpBuf *why)
{
  lp_buf_puts(why, "limit ");
  lp_printable(why, (LpStr){l->text, strlen(l->text)});
}

/* A limit matches no site. A limit of 0 is met then. */
static int limit_vain(const LpLimit *l, LpBuf *why)
{
  limit_text(l, why);
  lp_buf_puts(why, " is of nothing: no chunk, module or site is like ");
  lp_printable(why, (LpStr){l->glob, strlen(l->glob)});
  return l->n == 0 && !l->below;
}

/* Does a profile keep a limit? If not, a line about it is appended to WHY, and
** sometimes a remark if so.
*/
int lp_limit_holds(const LpLimit *l, const LpProfile *prof, LpBuf *why)
{
  LimitSum sum = limit_sum(l, prof);
  uint64_t n = lp_value_round(sum.all);
  const LpMetricInfo *m = &lp_metrics[l->metric];
  int i;
  if (!n && !limit_any(l, prof))
    return limit_vain(l, why);
  if ((int64_t)n < 0 || lp_limit_kept(l, n))
    return 1;
  limit_text(l, why);
  lp_buf_printf(why, " exceeded: %" PRIu64 " %s, %" PRIu64 " too many", n,
                m->unit == LP_UNIT_BYTES ? "bytes" : m->title,
                n - l->n + (l->below != 0));
  limit_doubt(l, prof, why);
  for (i = 0; i < LIMIT_TOP && sum.top[i]; i++) {
    lp_buf_puts(why, i ? "; " : ": ");
    lp_label_whole(why, prof, sum.site[i]);
    lp_buf_printf(why, " has %" PRIu64, sum.top[i]);
  }
  return 0;
}
