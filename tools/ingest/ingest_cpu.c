/*
** Ingest of CPU profiles: samples, and the statistics of the sampler.
*/

#include <inttypes.h>
#include <stdio.h>

#include "ingest.h"

/* -- Definitions ---------------------------------------------------------- */

static uint32_t cpu_module(void *ctx, const LpModule *m)
{
  return lp_cpu_module(&((LpStream *)ctx)->prof->cpu, m);
}

static uint32_t cpu_process(void *ctx, const LpProcess *p)
{
  return lp_cpu_process(&((LpStream *)ctx)->prof->cpu, p);
}

static uint32_t cpu_thread(void *ctx, const LpThread *t)
{
  return lp_cpu_thread(&((LpStream *)ctx)->prof->cpu, t);
}

/* A fact about the recording. */
void lp_stream_cpu_meta(LpStream *st, const LpMeta *m)
{
  LpCpu *cpu = &st->prof->cpu;
  if (lp_meta_is(m, "hz") && m->u && !st->hz) {
    st->hz = m->u;
    lp_cpu_rate(cpu, m->u);
  } else if (lp_meta_is(m, "period_ns") && !st->period) {
    st->period = m->u;
  } else if (m->tag == LJM_META_STRING && lp_str_is(m->key, "event") &&
             !cpu->event.n && m->s.n) {
    lp_buf_add(&cpu->event, m->s.s, m->s.n);
  }
}

/* -- Samples and statistics ----------------------------------------------- */

/* Fewer or more samples were read than were delivered. */
static void cpu_differ(LpStream *st, uint64_t offset)
{
  LpDamage d = {.kind = LP_ODD, .offset = offset};
  snprintf(d.what, sizeof(d.what),
           "the books tell of %" PRIu64 " samples, %" PRIu64 " were read",
           st->stat[LP_STAT_DELIVERED], st->delivered);
  lp_stream_damage(st, &d);
}

/* The statistics are inconsistent. */
static void cpu_open(LpStream *st, uint64_t offset)
{
  LpDamage d = {.kind = LP_ODD, .offset = offset};
  snprintf(d.what, sizeof(d.what),
           "the books tell of %" PRIu64 " samples fired, %" PRIu64
           " delivered, %" PRIu64 " dropped",
           st->stat[LP_STAT_FIRED], st->stat[LP_STAT_DELIVERED],
           st->stat[LP_STAT_DROPPED]);
  lp_stream_damage(st, &d);
}

/* A stack was met. */
static void cpu_sample(void *ctx, const LpSample *s)
{
  LpStream *st = ctx;
  lp_stream_begin(st);
  st->samples++;
  if (!lp_stream_wanted(st)) {
    st->delivered += s->count;
    st->prof->cpu.outside += s->count;
  } else if (lp_cpu_sample(&st->prof->cpu, s)) {
    st->delivered += s->count;
    if (st->detail)
      st->detail->samples += s->count;
    lp_origins_sample(&st->prof->origins, s->node, s->count);
  } else {
    LpDamage d = {.kind = LP_ODD, .what = "more samples than there can be"};
    lp_stream_damage(st, &d);
  }
}

/* A number of the statistics. */
static void cpu_statistic(void *ctx, const LpMeta *m)
{
  static const char *const key[LP_NSTAT] = {
      [LP_STAT_FIRED] = "fired",
      [LP_STAT_DELIVERED] = "delivered",
      [LP_STAT_DROPPED] = "dropped",
      [LP_STAT_CPU_NS] = "cpu_ns",
  };
  LpStream *st = ctx;
  int i;
  if (m->tag != LJM_META_UINT)
    return;
  for (i = 0; i < LP_NSTAT; i++) {
    if (lp_str_is(m->key, key[i])) {
      st->stat[i] = m->u;
      st->has_stat |= 1u << i;
    }
  }
  lp_cpu_add_statistic(&st->prof->cpu, m->key, m->u);
}

/* Are these statistics present? MASK has bits of LP_STAT_*. */
static int cpu_has_stats(const LpStream *st, unsigned mask)
{
  return (st->has_stat & mask) == mask;
}

/* How many samples NS nanoseconds of CPU time are worth. */
static uint64_t cpu_worth(const LpStream *st, uint64_t ns)
{
  unsigned __int128 n = st->period
                            ? ns / st->period
                            : (unsigned __int128)ns * st->hz / 1000000000u;
  return n < LP_SAMPLES_MAX ? (uint64_t)n : LP_SAMPLES_MAX;
}

/* All statistics were read: compare them with the samples read, and with each
** other. With a gap, what was read has to be less.
*/
static void cpu_statistics_end(void *ctx, uint64_t offset)
{
  const unsigned all =
      1u << LP_STAT_FIRED | 1u << LP_STAT_DELIVERED | 1u << LP_STAT_DROPPED;
  LpStream *st = ctx;
  const uint64_t *b = st->stat;
  LpCpu *cpu = &st->prof->cpu;
  cpu->with_stats++;
  if (cpu_has_stats(st, 1u << LP_STAT_CPU_NS) && (st->hz || st->period))
    lp_cpu_expect(cpu, cpu_worth(st, b[LP_STAT_CPU_NS]));
  if (cpu_has_stats(st, 1u << LP_STAT_DELIVERED) &&
      (st->ndamage ? b[LP_STAT_DELIVERED] < st->delivered
                   : b[LP_STAT_DELIVERED] != st->delivered))
    cpu_differ(st, offset);
  else if (cpu_has_stats(st, all) &&
           b[LP_STAT_FIRED] - b[LP_STAT_DELIVERED] != b[LP_STAT_DROPPED])
    cpu_open(st, offset);
}

/* Take CPU profiles as well. */
void lp_stream_cpu(LpSink *sink)
{
  sink->module = cpu_module;
  sink->process = cpu_process;
  sink->thread = cpu_thread;
  sink->sample = cpu_sample;
  sink->statistic = cpu_statistic;
  sink->statistics_end = cpu_statistics_end;
}
