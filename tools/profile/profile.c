/*
** Records -> numbers: functions and sites become rows.
*/

#include <stdlib.h>
#include <string.h>

#include "profile.h"

/* What makes a function the same function, over streams and restarts. */
typedef struct FuncKey {
  uint32_t kind, s1, s2, start;
  uint64_t a, b;
} FuncKey;

#define PROFILE_MARKS (LJM_SITE_APPROX | LJM_SITE_UNSURE | LJM_SITE_TRACE)

/* What makes a row the same row. */
typedef struct SiteKey {
  uint32_t func, marks;
  uint64_t line;
} SiteKey;

LpStr lp_profile_name(const LpProfile *prof, uint32_t name)
{
  LpStr s;
  s.s = lp_intern_get(&prof->names, name, &s.n);
  return s;
}

/* A native function. With a symbol it is the same in any build of its module,
** without one only in the same.
*/
static void profile_native(LpProfile *prof, const LpFunc *f, FuncKey *k,
                           LpFuncInfo *fi)
{
  LpModuleInfo m;
  lp_cpu_info(&prof->cpu.modules, f->module, &m);
  fi->addr = f->addr;
  fi->chunk = m.path;
  fi->buildid = m.buildid;
  k->s1 = m.path;
  k->s2 = fi->name;
  if (!f->name.n) {
    k->a = f->addr;
    k->start = m.buildid;
  }
}

/* A C function. One with a symbol is the native function of that symbol. A
** builtin is known by its name in Lua: samplers do not record its module.
*/
static void profile_c(LpProfile *prof, const LpFunc *f, FuncKey *k,
                      LpFuncInfo *fi)
{
  fi->addr = f->offset;
  fi->named = lp_intern(&prof->names, f->named.s, f->named.n);
  k->s2 = fi->name;
  if (!f->name.n || (prof->wanted.what & LP_WANT_ADDRESSES))
    k->a = f->offset;
  if (f->name.n && (f->flags & LJM_CFUNC_BUILTIN))
    return;
  if (f->name.n && f->chunk.n)
    k->kind = LP_FUNC_NATIVE;
  k->s1 = fi->chunk;
}

/* The name of a chunk, as a number: of a file, where it has moved to. */
static uint32_t profile_chunk(LpProfile *prof, LpStr chunk)
{
  const LpWanted *w = &prof->wanted;
  LpBuf b = {0};
  uint32_t name;
  size_t i;
  for (i = 0; i < w->nmap; i++) {
    size_t n = strlen(w->map[i].from);
    if (chunk.n <= n || chunk.s[0] != '@' ||
        memcmp(chunk.s + 1, w->map[i].from, n) != 0)
      continue;
    if (chunk.n > n + 1 && chunk.s[n + 1] != '/' && chunk.s[n] != '/')
      continue; /* It only begins with the same letters. */
    lp_buf_printf(&b, "@%s", w->map[i].to);
    lp_buf_add(&b, chunk.s + n + 1, chunk.n - n - 1);
    name = lp_intern(&prof->names, b.s, b.n);
    lp_buf_free(&b);
    return name;
  }
  return lp_intern(&prof->names, chunk.s, chunk.n);
}

/* Split what a stream says of a function into its key and the rest. */
static void profile_split(LpProfile *prof, const LpFunc *f, FuncKey *k,
                          LpFuncInfo *fi)
{
  memset(k, 0, sizeof(*k));
  memset(fi, 0, sizeof(*fi));
  k->kind = fi->kind = f->kind;
  fi->flags = f->flags;
  fi->chunk = f->kind == LP_FUNC_LUA
                  ? profile_chunk(prof, f->chunk)
                  : lp_intern(&prof->names, f->chunk.s, f->chunk.n);
  fi->name = lp_intern(&prof->names, f->name.s, f->name.n);
  switch (f->kind) {
  case LP_FUNC_LUA:
    k->s1 = fi->chunk;
    k->a = fi->first = f->first;
    k->b = fi->hash = f->hash;
    fi->addr = f->addr;
    if (prof->wanted.what & LP_WANT_ADDRESSES)
      k->b ^= f->addr;
    break;
  case LP_FUNC_C:
    profile_c(prof, f, k, fi);
    break;
  case LP_FUNC_NATIVE:
    profile_native(prof, f, k, fi);
    break;
  case LP_FUNC_KERNEL:
    fi->addr = f->addr;
    k->s2 = fi->name;
    k->a = f->name.n ? 0 : f->addr;
    break;
  case LP_FUNC_MARK:
    k->s2 = fi->name;
    break;
  case LP_FUNC_TRACE:
    k->a = fi->first = f->traceno;
    k->start = fi->start = f->start;
    fi->line = f->line;
    fi->addr = f->addr;
    k->b = f->start == LP_FUNC_NONE ? f->addr : f->line;
    break;
  default:
    k->a = fi->addr = f->addr;
    break;
  }
}

/* How much of a function reports can show by a definition of it: a name in Lua
** is more than a symbol. Of a builtin, its module says nothing.
*/
static int profile_worth(const LpProfile *prof, const LpFuncInfo *fi)
{
  if (fi->kind == LP_FUNC_C && (fi->flags & LJM_CFUNC_BUILTIN))
    return lp_profile_name(prof, fi->chunk).n ? 2 : 3;
  if (fi->kind == LP_FUNC_C)
    return lp_profile_name(prof, fi->named).n ? 3 : 2;
  return lp_profile_name(prof, fi->name).n != 0;
}

/* The side of a diff that is being read. */
static LpSide profile_side(const LpProfile *prof)
{
  return prof->baseline.present ? LP_NOW : LP_BASE;
}

/* A side of a diff has a function. The first definition with a name counts. */
static void profile_defined(LpProfile *prof, LpFuncSide *s, uint32_t name,
                            uint64_t lines)
{
  if (!s->defined || !lp_profile_name(prof, s->name).n)
    *s = (LpFuncSide){1, name, lines};
}

/* The number of a function that a stream defines. The first one of those that
** say most gives the name.
*/
uint32_t lp_profile_func(LpProfile *prof, const LpFunc *f)
{
  LpFuncInfo fi, *known;
  FuncKey k;
  uint32_t id, n = prof->funckeys.n;
  profile_split(prof, f, &k, &fi);
  id = lp_intern(&prof->funckeys, &k, sizeof(k));
  prof->func = lp_grow(prof->func, &prof->nfunc, id + 1u, sizeof(LpFuncInfo));
  known = &prof->func[id];
  memcpy(fi.side, known->side, sizeof(fi.side));
  profile_defined(prof, &fi.side[profile_side(prof)], fi.name, f->lines);
  if (id < n && fi.buildid == 0)
    fi.buildid = known->buildid;
  if (id == n || profile_worth(prof, &fi) > profile_worth(prof, known))
    *known = fi;
  else if (known->buildid == 0)
    known->buildid = fi.buildid;
  memcpy(known->side, fi.side, sizeof(fi.side));
  if (f->kind == LP_FUNC_LUA)
    known->flags |= f->flags & LJM_PROTO_BYHASH;
  return id;
}

#define PROFILE_GONE (UINT64_C(1) << 63) /* No hash has it. */

uint32_t lp_profile_gone(LpProfile *prof, uint32_t func)
{
  LpFuncInfo fi = prof->func[func];
  const FuncKey k = {.kind = fi.kind,
                     .s1 = fi.chunk,
                     .a = fi.first,
                     .b = fi.hash | PROFILE_GONE};
  uint32_t id = lp_intern(&prof->funckeys, &k, sizeof(k));
  prof->func = lp_grow(prof->func, &prof->nfunc, id + 1u, sizeof(LpFuncInfo));
  fi.name = fi.side[LP_BASE].name;
  memset(fi.side, 0, sizeof(fi.side));
  prof->func[id] = fi;
  return id;
}

/* The row of a key. */
static uint32_t profile_row(LpProfile *prof, SiteKey k)
{
  uint32_t id;
  if (prof->sitekeys.n > LP_SITE_MAX)
    return LP_SITE_LOST;
  id = lp_intern(&prof->sitekeys, &k, sizeof(k));
  prof->row = lp_grow(prof->row, &prof->nrow, id + 1u, sizeof(LpRow));
  prof->row[id].func = k.func;
  prof->row[id].marks = k.marks;
  prof->row[id].line = k.line;
  return id;
}

uint32_t lp_profile_site(LpProfile *prof, const LpSite *s)
{
  SiteKey k = {s->func, s->flags & PROFILE_MARKS, s->line};
  uint32_t id = LP_SITE_LOST;
  if (s->func != LP_FUNC_NONE)
    id = profile_row(prof, k);
  prof->row[id].sides |= 1u << profile_side(prof);
  return id;
}

void lp_profile_guess(LpProfile *prof, const char *why)
{
  if (!prof->guess.n)
    lp_buf_puts(&prof->guess, why);
}

void lp_profile_sampled(LpProfile *prof, uint64_t sample)
{
  if (sample > prof->sparse)
    prof->sparse = sample;
  if (!prof->dense || sample < prof->dense)
    prof->dense = sample;
}

LpProfile *lp_profile_new(void)
{
  LpProfile *prof = lp_zalloc(1, sizeof(LpProfile));
  LpFunc none = {.kind = LP_FUNC_UNDEFINED};
  uint32_t i;
  prof->wanted.to = UINT64_MAX;
  lp_cpu_open(&prof->cpu, &prof->names);
  lp_profile_func(prof, &none); /* LP_FUNC_NONE. */
  for (i = 0; i < LP_SITE_FIRST; i++)
    profile_row(prof, (SiteKey){LP_FUNC_NONE, 0, i});
  lp_origins_open(&prof->origins);
  return prof;
}

void lp_profile_free(LpProfile *prof)
{
  lp_intern_free(&prof->names);
  lp_intern_free(&prof->funckeys);
  lp_intern_free(&prof->sitekeys);
  lp_overrides_free(&prof->overrides);
  lp_overrides_free(&prof->arrivals);
  lp_cpu_close(&prof->cpu);
  lp_origins_close(&prof->origins);
  lp_sampled_free(&prof->sampled);
  lp_profile_baseline_free(prof);
  lp_files_free(&prof->files);
  lp_timeseries_free(&prof->timeseries);
  lp_snaps_free(&prof->snaps);
  lp_slices_free(&prof->slices[0]);
  lp_slices_free(&prof->slices[1]);
  lp_buf_free(&prof->guess);
  free(prof->memory);
  free(prof->size);
  free(prof->func);
  free(prof->row);
  free(prof);
}
