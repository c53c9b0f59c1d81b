/*
** Values of options.
*/

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "options.h"
#include "suggest.h"

/* --min: a percentage ends so, all else is an amount. */
void lp_option_min(const char *arg, struct argp_state *state)
{
  LpReportOptions *opt = &lp_options.report;
  char *end;
  opt->least = 0;
  opt->min = strtod(arg, &end);
  if (end != arg && strcmp(end, "%") == 0 && opt->min >= 0 && opt->min <= 100)
    return;
  opt->min = 0;
  if (!lp_amount_parse(arg, &opt->least))
    lp_option_error(
        state, "expected a SIZE such as 4096, 64K, or 0%% to 100%%, not %s",
        arg);
}

/* --max-size */
uint64_t lp_option_size(const char *arg, struct argp_state *state)
{
  uint64_t n = 0;
  if (!lp_amount_parse(arg, &n) || n == 0)
    lp_option_error(state, "expected a SIZE such as 500M or 4G, not %s", arg);
  return n;
}

/* --top */
void lp_option_top(const char *arg, struct argp_state *state)
{
  uint64_t n = 0;
  if (!lp_amount_parse(arg, &n) || n == 0)
    lp_option_error(state, "expected N, a number of rows, not %s", arg);
  lp_options.report.top = (size_t)n;
}

/* --metric */
void lp_option_metric(const char *arg, struct argp_state *state)
{
  LpBuf names = {0};
  LpMetric m = lp_metric_find(arg);
  if (m == LP_NMETRIC) {
    ClNearest s = cl_nearest(arg);
    for (m = 0; m < LP_NMETRIC; m++) {
      lp_buf_printf(&names, "%s%s", m ? ", " : "", lp_metrics[m].key);
      cl_nearest_try(&s, lp_metrics[m].key);
    }
    lp_buf_printf(&names, "), not %s", arg);
    lp_suggest_add(&names, &s, "");
    lp_option_error(state, "expected a METRIC (%s", names.s);
  }
  lp_options.report.metric = m;
  lp_options.report.chosen = 1;
}

/* Where a regular expression becomes invalid: after its longest valid part. */
static size_t values_until(const char *arg)
{
  size_t n = strlen(arg);
  while (n > 0) {
    LpBuf b = {0};
    regex_t re;
    int bad;
    lp_buf_add(&b, arg, --n);
    bad = regcomp(&re, b.s, REG_EXTENDED | REG_NOSUB);
    lp_buf_free(&b);
    if (bad)
      continue;
    regfree(&re);
    break;
  }
  return n;
}

/* --focus, --ignore. OLD is the expression that RE holds already, or NULL. */
const char *lp_option_regex(regex_t *re, const char *old, const char *name,
                            const char *arg, struct argp_state *state)
{
  char why[128];
  int err;
  if (old)
    regfree(re);
  err = regcomp(re, arg, REG_EXTENDED | REG_NOSUB);
  if (!err)
    return arg;
  regerror(err, re, why, sizeof(why));
  lp_option_error(state, "--%s: %s, at character %zu of %s", name, why,
                  values_until(arg) + 1, arg);
  return NULL;
}

/* --limit */
void lp_option_limit(const char *arg, struct argp_state *state)
{
  LpOptions *o = &lp_options;
  LpBuf why = {0};
  o->limit = lp_grow(o->limit, &o->limits, o->nlimit + 1, sizeof(o->limit[0]));
  if (!lp_limit_parse(&o->limit[o->nlimit++], arg, &why))
    lp_option_error(state, "--limit=%s: %s", arg, why.s);
  lp_buf_free(&why);
}

/* --color */
LpColour lp_option_colour(const char *arg, struct argp_state *state)
{
  static const char *const name[] = {[LP_COLOUR_AUTO] = "auto",
                                     [LP_COLOUR_ALWAYS] = "always",
                                     [LP_COLOUR_NEVER] = "never"};
  unsigned i;
  for (i = 0; arg && i < sizeof(name) / sizeof(name[0]); i++)
    if (strcmp(arg, name[i]) == 0)
      return (LpColour)i;
  if (arg)
    lp_option_error(state, "expected WHEN (always, never, auto), not %s", arg);
  return LP_COLOUR_ALWAYS;
}

/* -- Numbers ------------------------------------------------------------- */

/* Default and maximum (a day) of --follow. */
#define FOLLOW_SECONDS 2
#define FOLLOW_MAX     86400

/* --follow */
double lp_option_follow(const char *arg, struct argp_state *state)
{
  char *end;
  double seconds = arg ? strtod(arg, &end) : FOLLOW_SECONDS;
  if (arg && (end == arg || *end || !(seconds > 0 && seconds <= FOLLOW_MAX)))
    lp_option_error(state, "expected SECONDS from above 0 to %d, not %s",
                    FOLLOW_MAX, arg);
  return seconds;
}

/* --ignore-youngest */
double lp_option_percent(const char *arg, struct argp_state *state)
{
  char *end;
  double percent = strtod(arg, &end);
  if (end == arg || *end || !(percent >= 0 && percent <= 100))
    lp_option_error(state, "expected a PERCENT from 0 to 100, not %s", arg);
  return percent;
}

/* --from, --to, --heap-snap-interval: nanoseconds. */
uint64_t lp_option_seconds(const char *arg, struct argp_state *state)
{
  char *end;
  double ns = strtod(arg, &end) * 1e9;
  if (end == arg || *end || !(ns >= 0))
    lp_option_error(state, "expected a number of seconds, not %s", arg);
  return ns < 0x1p63 ? (uint64_t)(ns + 0.5) : (uint64_t)1 << 63;
}

/* --heap-snap-interval */
uint64_t lp_option_interval(const char *arg, struct argp_state *state)
{
  uint64_t ns = lp_option_seconds(arg, state);
  if (ns < 1000000)
    lp_option_error(
        state, "expected an interval of at least 0.001 seconds, not %s", arg);
  return ns;
}

/* --group */
int lp_option_group(const char *arg, struct argp_state *state)
{
  if (strcmp(arg, "stack") != 0)
    lp_option_error(state, "expected KEY (stack), not %s", arg);
  return 1;
}

/* --temporary */
uint64_t lp_option_number(const char *arg, struct argp_state *state)
{
  char *end;
  unsigned long long n = strtoull(arg, &end, 10);
  if (end == arg || *end || *arg == '-' || !n)
    lp_option_error(state, "expected a number of allocations, not %s", arg);
  return n;
}
