/*
** Traces of a live VM. One that was read is kept with all of its snapshots,
** since the VM may soon free it.
*/

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "luaalign.h"
#include "luasnap.h"
#include "luatraces.h"
#include "tracestart.h"

#define TRACE_MAX 65536 /* Traces of a VM, and that are kept. */
#define TRACE_MS  20    /* Between two lists of them from the start. */

/* -- Reading -------------------------------------------------------------- */

/* The header. Returns false if there is no trace that makes sense. */
static bool trace_header(LsView *v, uint64_t addr, LsIr *t)
{
  const struct ljs_vm *vm = &v->vm;
  LsRemote *m = v->mem;
  bool was = m->bad, ok;
  m->bad = false;
  *t = (LsIr){.v = v};
  ok = ls_view_type(v, addr) == LS_GCT_TRACE;
  t->nsnap = (uint32_t)ls_remote_uint(m, addr + vm->t_nsnap, 2);
  t->nins = (uint32_t)ls_remote_uint(m, addr + vm->t_nins, 4);
  t->nk = (uint32_t)ls_remote_uint(m, addr + vm->t_nk, 4);
  t->nsnapmap = (uint32_t)ls_remote_uint(m, addr + vm->t_nsnapmap, 4);
  t->ir = ls_remote_uint(m, addr + vm->t_ir, 8);
  t->snap = ls_remote_uint(m, addr + vm->t_snap, 8);
  t->snapmap = ls_remote_uint(m, addr + vm->t_snapmap, 8);
  t->startpt = ls_view_ref(v, addr + vm->t_startpt);
  t->startpc = ls_view_ref(v, addr + vm->t_startpc);
  t->mcode = ls_remote_uint(m, addr + vm->t_mcode, 8);
  t->szmcode = (uint32_t)ls_remote_uint(m, addr + vm->t_szmcode, 4);
  t->mcloop = (uint32_t)ls_remote_uint(m, addr + v->lay->t_mcloop, 4);
  t->traceno = (uint32_t)ls_remote_uint(m, addr + vm->t_traceno, 2);
  t->link = (uint32_t)ls_remote_uint(m, addr + vm->t_link, 2);
  t->root = (uint32_t)ls_remote_uint(m, addr + vm->t_root, 2);
  ok = ok && !m->bad && t->nk <= LS_REF_BIAS && t->nins >= LS_REF_BIAS &&
       t->nins <= 2 * LS_REF_BIAS && t->mcode != 0;
  m->bad = was;
  return ok;
}

static uint64_t trace_check(const LsIr *t)
{
  return ljs_check_trace(t->mcode, t->szmcode, t->startpt, t->startpc, t->nins);
}

/* Read the function that the trace begins in, and that of its root. */
static void trace_start(LsTraces *ts, LsView *v, uint64_t g, const LsIr *t,
                        LsTrace *T)
{
  LsIr root;
  uint64_t addr = t->root ? ls_start_trace(v, g, t->root) : 0;
  if (addr && trace_header(v, addr, &root))
    ls_func_read(ts->funcs, v, root.startpt);
  T->start.f = ls_func_read(ts->funcs, v, t->startpt);
  if (T->start.f && t->startpc >= T->start.f->code &&
      (t->startpc - T->start.f->code) / 4 < T->start.f->sizebc)
    T->start.pos = (uint32_t)(t->startpc - T->start.f->code) / 4;
}

/* -- The cache ------------------------------------------------------------ */

typedef struct Kept {
  uint64_t addr, check; /* The key. */
  LsTrace *T;
} Kept;

static void trace_free(LsTrace *T)
{
  free(T->snap);
  free(T->place);
  free(T->span);
  free(T->load);
  free(T);
}

void ls_traces_free(LsTraces *ts)
{
  Kept *kept = ts->kept.entry;
  size_t i;
  for (i = 0; i < ts->kept.n; i++)
    trace_free(kept[i].T);
  ls_hash_free(&ts->kept);
  free(ts->range);
  ts->range = NULL;
  ts->nrange = 0;
}

/* A trace from its header. NULL without memory. */
static LsTrace *trace_make(LsTraces *ts, LsView *v, uint64_t g, uint64_t addr,
                           LsIr *t)
{
  LsTrace *T = calloc(1, sizeof(*T));
  LsCode c;
  if (!T)
    return NULL;
  T->addr = addr;
  T->check = trace_check(t);
  T->mcode = t->mcode;
  T->szmcode = t->szmcode;
  T->mcloop = t->mcloop;
  t->g = g;
  T->loops = t->link == t->traceno && t->mcloop != 0;
  trace_start(ts, v, g, t, T);
  if (ls_ir_read(t)) {
    ls_code_read(t, &c);
    ls_snaps_read(ts->funcs, t, &c, T);
    if (ts->met)
      ts->met(ts->ctx, T);
    ls_align_read(t, &c, ts->funcs->pool, T);
    ls_code_free(&c);
    ls_ir_free(t);
  }
  return T;
}

const LsTrace *ls_trace_get(LsTraces *ts, LsView *v, uint64_t g, uint64_t addr,
                            uint16_t check)
{
  const uint64_t key[] = {addr, check};
  Kept *kept = ls_hash_find(&ts->kept, key, sizeof(key), sizeof(*kept));
  LsTrace *T;
  LsIr t;
  if (kept)
    return kept->T;
  if (ts->kept.n >= TRACE_MAX || !trace_header(v, addr, &t) ||
      LJS_CHECK(trace_check(&t)) != check)
    return NULL;
  T = trace_make(ts, v, g, addr, &t);
  kept = T ? ls_hash_put(&ts->kept, key, sizeof(key), sizeof(*kept)) : NULL;
  if (kept)
    kept->T = T;
  else if (T)
    trace_free(T);
  return kept ? T : NULL;
}

/* -- By machine code ------------------------------------------------------ */

static uint64_t trace_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Bring the list of the machine code of a VM's traces up to date. Only traces
** with another address than before are looked at, unless it is to be ALL.
*/
static void trace_list(LsTraces *ts, LsView *v, uint64_t g, bool all)
{
  uint64_t size = ls_remote_uint(v->mem, g + (uint64_t)v->vm.trace + 12, 4);
  uint32_t no;
  LsTraceRange *range;
  if (size > TRACE_MAX)
    size = 0;
  range = realloc(ts->range, (size + 1) * sizeof(*range));
  if (!range)
    return;
  if (ts->g != g)
    ts->nrange = 0;
  if (ts->nrange < size)
    memset(range + ts->nrange, 0, (size - ts->nrange) * sizeof(*range));
  ts->range = range;
  ts->nrange = size;
  ts->g = g;
  for (no = 1; no < size; no++) {
    uint64_t T = ls_start_trace(v, g, no), mcode;
    if (T == range[no].trace && !all)
      continue;
    mcode = T ? ls_remote_uint(v->mem, T + v->vm.t_mcode, 8) : 0;
    range[no] = (LsTraceRange){mcode, mcode, T};
    if (T)
      range[no].hi += ls_remote_uint(v->mem, T + v->vm.t_szmcode, 4);
  }
}

/* The trace on the list that has a PC, if it is still there: its address, or
** 0, and its header.
*/
static uint64_t trace_inlist(const LsTraces *ts, LsView *v, uint64_t pc,
                             LsIr *t)
{
  size_t i;
  for (i = 0; i < ts->nrange; i++)
    if (pc >= ts->range[i].lo && pc < ts->range[i].hi &&
        trace_header(v, ts->range[i].trace, t) && pc >= t->mcode &&
        pc - t->mcode < t->szmcode)
      return ts->range[i].trace;
  return 0;
}

const LsTrace *ls_trace_ofpc(LsTraces *ts, LsView *v, uint64_t g, uint64_t pc)
{
  uint64_t addr;
  LsIr t;
  if (!v->vm.jit || !g)
    return NULL;
  addr = ts->g == g ? trace_inlist(ts, v, pc, &t) : 0;
  if (!addr) { /* A stack is resolved once: it cannot wait for the next list. */
    trace_list(ts, v, g, false);
    addr = trace_inlist(ts, v, pc, &t);
  }
  if (!addr && trace_now() - ts->when >= TRACE_MS) {
    trace_list(ts, v, g, true);
    ts->when = trace_now();
    addr = trace_inlist(ts, v, pc, &t);
  }
  if (!addr)
    return NULL;
  return ls_trace_get(ts, v, g, addr, LJS_CHECK(trace_check(&t)));
}
