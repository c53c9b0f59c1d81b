/*
** Ingest: counts one stream into a profile. A sink for the reader.
*/

#include <stdlib.h>
#include <string.h>

#include "verify.h"
#include "count.h"
#include "detail.h"
#include "ingest.h"
#include "leb.h"

/* -- Records -------------------------------------------------------------- */

void lp_stream_body(void *ctx, int body)
{
  LpStream *st = ctx;
  st->body = body;
  st->prof->of |= body == 'p'   ? LP_OF_CPU
                  : body == 'd' ? LP_OF_HEAP
                                : LP_OF_MEMORY;
  st->prof->cpu.streams += body == 'p';
}

/* A function is defined. */
static uint32_t stream_func(void *ctx, const LpFunc *f)
{
  return lp_profile_func(((LpStream *)ctx)->prof, f);
}

/* A site is defined. Of allocations, compiled code and other is one. */
static uint32_t stream_site(void *ctx, const LpSite *s)
{
  LpStream *st = ctx;
  LpSite site = *s;
  if (st->body != 'p')
    site.flags &= ~(uint32_t)LJM_SITE_TRACE;
  return lp_profile_site(st->prof, &site);
}

/* SITE, called by others. */
static uint32_t stream_node(void *ctx, uint32_t callers, uint32_t site)
{
  return lp_origins_node(&((LpStream *)ctx)->prof->origins, callers, site);
}

/* A fact about the recording of a CPU profile. */
static void stream_cpu_meta(LpStream *st, const LpMeta *m)
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
  } else if (m->tag == LJM_META_STRING && lp_str_is(m->key, "host")) {
    st->owner.host = lp_intern(&st->prof->names, m->s.s, m->s.n);
    lp_files_process(&st->prof->files, (LpStr){"", 0}, m->s);
  }
}

/* A name in a memory profile: of the VM, the process, its machine. */
static void stream_memory_name(LpStream *st, const LpMeta *m)
{
  LpProfile *prof = st->prof;
  LpProcessInfo *r = &st->owner;
  LpStr none = {"", 0};
  if (lp_str_is(m->key, "vm"))
    lp_files_recorded(&prof->files, &(LpRecorded){0, 0, 0}, m->s);
  else if (lp_str_is(m->key, "comm"))
    r->command = lp_intern(&prof->names, m->s.s, m->s.n);
  else if (lp_str_is(m->key, "cgroup"))
    r->cgroup = lp_intern(&prof->names, m->s.s, m->s.n);
  else if (lp_str_is(m->key, "host"))
    r->host = lp_intern(&prof->names, m->s.s, m->s.n);
  if (lp_str_is(m->key, "host"))
    lp_files_process(&prof->files, none, m->s);
  else if (lp_str_is(m->key, "command"))
    lp_files_process(&prof->files, m->s, none);
}

/* A fact about the recording of a memory profile. */
static void stream_memory_meta(LpStream *st, const LpMeta *m)
{
  LpProcessInfo *r = &st->owner;
  if (m->tag == LJM_META_STRING)
    stream_memory_name(st, m);
  else if (lp_meta_is(m, "pid"))
    r->pid = m->u;
  else if (lp_meta_is(m, "pidns"))
    r->pidns = m->u;
  else if (lp_meta_is(m, "process_start"))
    r->start = m->u;
  else if (lp_meta_is(m, "stack"))
    st->flat = m->u <= 1;
}

/* A fact about the recording. */
static void stream_meta(void *ctx, const LpMeta *m)
{
  LpStream *st = ctx;
  uint64_t *began = &st->prof->realtime;
  if (st->continued)
    return; /* All of it is known, and the objects that live. */
  if (lp_meta_is(m, "legacy")) {
    st->prof->files.legacy = (unsigned)m->u;
    return;
  }
  if (lp_meta_is(m, "realtime")) {
    st->clock.realtime = m->u;
    if (m->u && (!*began || m->u < *began))
      *began = m->u;
  } else if (lp_meta_is(m, "monotonic")) {
    st->clock.monotonic = m->u;
  }
  if (st->body == 'm') {
    stream_memory_meta(st, m);
    st->other = !lp_pick_process(st->prof->wanted.pick, st->prof->wanted.npick,
                                 &st->prof->cpu, &st->owner);
  }
  if (st->body == 'p') {
    stream_cpu_meta(st, m);
  } else if (lp_meta_is(m, "segment")) {
    st->window = m->u != 0;
  } else if (lp_meta_is(m, "live")) {
    st->base = m->u;
    st->hasbase = 1;
  } else if (lp_meta_is(m, "sample") && m->u && !st->sample) {
    st->sample = m->u;
    st->scale = lp_alloc(sizeof(LpScale));
    lp_scale_open(st->scale, m->u);
    lp_profile_sampled(st->prof, m->u);
  }
}

/* A time mark. */
static void stream_time(void *ctx, uint64_t ns)
{
  LpStream *st = ctx;
  ns = lp_sat_add(ns, st->late);
  if (lp_detail_begin(st))
    lp_detail_time(st, ns);
  st->marks++;
  st->ns = ns;
}

/* The recorder's totals. */
static void stream_totals(void *ctx, const LpTotals *t)
{
  LpStream *st = ctx;
  if (lp_sat_add(t->ns, st->late) > st->ns)
    stream_time(st, t->ns);
  st->goeson = (t->flags & LJM_TOTALS_SEGMENT) != 0;
  lp_verify_totals(st, t);
}

/* -- Samples -------------------------------------------------------------- */

/* The definition of a module. */
static uint32_t stream_module(void *ctx, const LpModule *m)
{
  return lp_cpu_module(&((LpStream *)ctx)->prof->cpu, m);
}

/* The definition of a process. */
static uint32_t stream_process(void *ctx, const LpProcess *p)
{
  LpStream *st = ctx;
  return lp_cpu_process(&st->prof->cpu, p, st->owner.host);
}

/* The definition of a thread. */
static uint32_t stream_thread(void *ctx, const LpThread *t)
{
  return lp_cpu_thread(&((LpStream *)ctx)->prof->cpu, t);
}

/* Is a thread wanted? Looked at once. */
static int stream_picked(LpProfile *prof, uint32_t thread)
{
  const LpWanted *w = &prof->wanted;
  LpCpu *cpu = &prof->cpu;
  uint8_t *picked;
  if (!w->npick)
    return 1;
  cpu->picked = lp_grow(cpu->picked, &cpu->npicked, (size_t)thread + 1, 1);
  picked = &cpu->picked[thread];
  if (!*picked)
    *picked = lp_pick_thread(w->pick, w->npick, cpu, thread) ? LP_PICKED_YES
                                                             : LP_PICKED_NO;
  return *picked == LP_PICKED_YES;
}

/* Count samples of a stack. That no stack is known is a stack as well. Returns
** its number.
*/
static uint32_t stream_count(LpProfile *prof, const LpSample *s)
{
  uint32_t node = s->node;
  if (node == LP_NODE_ROOT)
    node = lp_origins_node(&prof->origins, LP_NODE_ROOT, LP_SITE_UNKNOWN);
  return lp_sampled_add(&prof->sampled, node, s->count);
}

/* A stack was met. */
static void stream_sample(void *ctx, const LpSample *s)
{
  LpStream *st = ctx;
  LpDetail *w = lp_detail_begin(st);
  uint32_t stack;
  st->samples++;
  if (!stream_picked(st->prof, s->thread)) {
    st->delivered += s->count;
    st->prof->cpu.others += s->count;
  } else if (!lp_stream_wanted(st)) {
    st->delivered += s->count;
    st->prof->cpu.outside += s->count;
  } else if (lp_cpu_sample(&st->prof->cpu, s)) {
    st->delivered += s->count;
    if (w)
      w->samples += s->count;
    stack = stream_count(st->prof, s);
    if (w && (w->what & LP_WANT_SLICES))
      lp_detail_sampled(st, stack, s->count);
    if (st->prof->wanted.what & LP_WANT_THREADS)
      lp_thread_stacks_add(&st->prof->cpu.stacks, stack, s->thread, s->count);
  } else {
    lp_stream_odd(st, 0, "more samples than there can be");
  }
}

/* A number of the statistics. */
static void stream_statistic(void *ctx, const LpMeta *m)
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

/* How many samples NS nanoseconds of CPU time are worth. */
static uint64_t stream_worth(const LpStream *st, uint64_t ns)
{
  unsigned __int128 n = st->period
                            ? ns / st->period
                            : (unsigned __int128)ns * st->hz / 1000000000u;
  return n < LP_SAMPLES_MAX ? (uint64_t)n : LP_SAMPLES_MAX;
}

/* All statistics were read. */
static void stream_statistics_end(void *ctx, uint64_t offset)
{
  LpStream *st = ctx;
  LpCpu *cpu = &st->prof->cpu;
  cpu->with_stats++;
  if ((st->has_stat & 1u << LP_STAT_CPU_NS) && (st->hz || st->period))
    cpu->expected =
        lp_sat_add(cpu->expected, stream_worth(st, st->stat[LP_STAT_CPU_NS]));
  lp_verify_statistics(st, offset);
}

/* -- Its life ------------------------------------------------------------- */

LpSink lp_stream_sink(LpStream *st)
{
  return (LpSink){
      .ctx = st,
      .body = lp_stream_body,
      .meta = stream_meta,
      .func = stream_func,
      .site = stream_site,
      .node = stream_node,
      .events = lp_count_events,
      .time = stream_time,
      .damage = lp_stream_damage,
      .totals = stream_totals,
      .module = stream_module,
      .process = stream_process,
      .thread = stream_thread,
      .sample = stream_sample,
      .statistic = stream_statistic,
      .statistics_end = stream_statistics_end,
  };
}

LpSink lp_stream_open(LpStream *st, LpProfile *prof)
{
  memset(st, 0, sizeof(*st));
  st->prof = prof;
  st->owner.command = st->owner.cgroup = st->owner.host =
      lp_intern(&prof->names, "", 0);
  return lp_stream_sink(st);
}

LpStatus lp_stream_status(const LpStream *st)
{
  if (!st->ndamage)
    return LP_WHOLE;
  return st->damage.kind == LP_NOTHING ? LP_UNREADABLE : LP_PART;
}

/* Put the stream on the time line of all, where others may have to move. */
static void stream_place(LpStream *st)
{
  LpProfile *prof = st->prof;
  uint64_t moved, end;
  if (!st->placed) {
    st->placed = 1;
    st->at = lp_timeline_add(&prof->timeline, &st->clock, &moved);
    lp_timeseries_shift(&prof->timeseries, moved);
    lp_slices_shift(&prof->slices[0], moved);
    lp_slices_shift(&prof->slices[1], moved);
    prof->peak_ns += prof->peak_bytes ? moved : 0;
    prof->ns = lp_sat_add(prof->ns, prof->ns ? moved : 0);
  }
  end = lp_sat_add(st->at, st->ns);
  lp_timeline_span(&prof->timeline, st->body == 'p', st->at, end);
  if (end > prof->ns)
    prof->ns = end;
}

/* Count a memory profile once, as soon as it is known what it is of. */
static void stream_recorded(LpStream *st)
{
  LpFiles *f = &st->prof->files;
  if (st->body != 'm' || st->memory)
    return;
  st->memory = 1;
  f->memory++;
  f->flat += st->flat;
  f->left += (uint64_t)st->other;
  st->process = lp_cpu_owner(&st->prof->cpu, &st->owner);
  lp_files_recorded(
      f, &(LpRecorded){st->owner.pid, st->owner.pidns, st->owner.start},
      (LpStr){"", 0});
}

/* What the profile says of the stream's process until now. Of objects that were
** there before, at least those that are gone are known: they are not live.
*/
static void stream_own(LpStream *st)
{
  LpProfile *prof = st->prof;
  const LpDetail *w = lp_detail_begin(st);
  LpProcessMemory *m;
  uint64_t base;
  if (!w || !(w->what & LP_WANT_PROCESSES) || st->other)
    return;
  if (!st->own) {
    prof->memory = lp_grow(prof->memory, &prof->memories, prof->nmemory + 1u,
                           sizeof(*prof->memory));
    st->own = ++prof->nmemory;
  }
  m = &prof->memory[st->own - 1];
  m->process = st->process;
  m->come = w->come;
  m->live = lp_weight_fixed(&w->come) - lp_weight_fixed(&w->gone) +
            (lp_stream_base(st, &base) ? (LpFixed)base << 32
                                       : lp_weight_fixed(&w->older));
}

/* Bring the profile up to date with what was read of the stream until now: it
** can be reported, and then read on.
*/
void lp_stream_finalize(LpStream *st)
{
  LpProfile *prof = st->prof;
  uint64_t base;
  int known = lp_stream_base(st, &base) != NULL;
  int nobefore =
      !known && st->body == 'm' && lp_stream_status(st) != LP_UNREADABLE;
  base = known && !st->other ? base : 0;
  prof->base += base - st->added;
  prof->nobefore += nobefore - st->nobefore;
  st->added = base;
  st->nobefore = nobefore;
  stream_recorded(st);
  stream_own(st);
  if (st->body && st->body != 'd')
    stream_place(st);
  lp_detail_finalize(st);
  if (!prof->more)
    lp_profile_finalize(prof);
}

int lp_stream_pause(LpStream *st, uint64_t offset)
{
  lp_verify_end(st, offset);
  if (!st->goeson || lp_stream_status(st) != LP_WHOLE)
    return 0;
  lp_stream_finalize(st);
  return 1;
}

void lp_stream_next(LpStream *st, uint64_t monotonic)
{
  st->goeson = 0;
  st->continued = 1;
  st->late =
      monotonic > st->clock.monotonic ? monotonic - st->clock.monotonic : 0;
  st->passed = st->sums;
  st->passed_foreign = st->foreign;
}

void lp_stream_close(LpStream *st, uint64_t offset)
{
  lp_verify_end(st, offset);
  lp_stream_finalize(st);
  lp_detail_close(st);
  lp_live_free(&st->live);
  free(st->scale);
  st->scale = NULL;
}
