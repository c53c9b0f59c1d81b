/*
** Full stacks, recorded as changes.
**
** The frames of the last stack are kept, with their guards: words of memory
** that lead from a frame to the one below and show where that has stopped. A
** walk down from the top ends at the first slot that is among them: if the
** guards of all frames below are what they were, so is the chain of frames.
** Only what is above it has changed. A few compares cost less than the hash of
** a single frame.
**
** More frames are kept, and recorded, than an event needs, so that calls and
** returns at the cut end of a deep stack need no walk. Everything that is not
** the usual (other coroutines, callers that no frame has) walks the whole
** stack anew and records the difference.
*/

#define lj_memprof_stack_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <string.h>

#include "lj_dispatch.h"
#include "lj_memprof_cache.h"
#include "lj_memprof_clock.h"
#include "lj_memprof_encode.h"
#include "lj_memprof_guards.h"
#include "lj_memprof_inlined.h"
#include "lj_memprof_stack.h"
#include "lj_memprof_state.h"
#include "lj_memprof_where.h"
#include "lj_state.h"
#include "lj_vm.h"
#include "lj_wbuf.h"

/* -- Coroutines ----------------------------------------------------------- */

/* The VM's machine code for an instruction. */
static uintptr_t stack_handler(const MPState *mp, int op)
{
#ifdef LJ_MEMPROF_MODULE /* A stock VM hides its table of offsets, and all */
  return (uintptr_t)G2GG(mp->g)->dispatch[op]; /* are one under a call hook. */
#else
  UNUSED(mp);
  return (uintptr_t)(void *)lj_vm_asm_begin + lj_bc_ofs[op];
#endif
}

/* Finds out where the VM's machine code for builtins is. */
static void stack_findbuiltins(MPStack *st, const MPState *mp)
{
  int i;
  st->builtins = ~(uintptr_t)0;
  for (i = BC__MAX; i < GG_LEN_DDISP; i++) {
    uintptr_t p = stack_handler(mp, i);
    if (p < st->builtins)
      st->builtins = p;
    if (p > st->builtinsend)
      st->builtinsend = p;
  }
}

/*
** The coroutine that has resumed L, or NULL. The VM keeps no link, but when its
** own function resumed L, the C frame of that is right above L's first one.
*/
static lua_State *stack_resumer(const MPStack *st, lua_State *L)
{
#if (LJ_TARGET_X64 && !LJ_ABI_WIN) || LJ_TARGET_ARM64
  void *cf = L->cframe, *prev;
  lua_State *R;
  uintptr_t ret;
  int resumed;
  if (cf == NULL)
    return NULL;
  while ((prev = cframe_prev(cframe_raw(cf))) != NULL)
    cf = prev;
  resumed = ((uintptr_t)cf & CFRAME_RESUME) != 0;
  cf = (char *)cframe_raw(cf) + CFRAME_SIZE;
  ret = ((const uintptr_t *)cf)[-1];
  if (!resumed || ret < st->builtins || ret >= st->builtinsend)
    return NULL;
  R = cframe_L(cf);
  return R != L && cframe_raw(R->cframe) == cf ? R : NULL;
#else
  UNUSED(st);
  UNUSED(L);
  return NULL;
#endif
}

/* -- Life ----------------------------------------------------------------- */

int lj_memprof_newstack(MPState *mp)
{
  MPStack *st = (MPStack *)calloc(1, sizeof(MPStack));
  mp->stack = st;
  if (st == NULL)
    return 0;
  stack_findbuiltins(st, mp);
  st->end = st->frame;
  st->need = mp->depth - 1;
  st->size = 4 * mp->depth + MPGUARD_SLACK;
  return 1;
}

void lj_memprof_freestack(MPState *mp)
{
  free(mp->stack);
  mp->stack = NULL;
}

/* -- Writing -------------------------------------------------------------- */

/* Appends the whole stack. */
static LJ_NOINLINE void stack_putall(MPState *mp, const MPStack *st)
{
  uint8_t *mark = lj_wbuf_record(&mp->buf, LJM_REC_STACK);
  uint32_t i;
  lj_wbuf_uleb(&mp->buf, st->cut ? LJM_STACK_CUT : 0);
  for (i = 0; i < st->nsent; i++)
    lj_wbuf_uleb(&mp->buf, st->sent[i]);
  lj_wbuf_recordend(&mp->buf, mark);
}

#define STACK_FEW 8 /* So many pushes always fit in the buffer. */

/* Appends a change that might not fit in the block, or the whole stack. */
static LJ_NOINLINE void stack_putrare(MPState *mp, MPStack *st, uint32_t pops,
                                      uint32_t n)
{
  if (lj_wbuf_room(&mp->buf) < MP_RECORD_MAX)
    lj_memprof_flush(mp);
  if (st->cut == mp->same.sentcut)
    mpput_change(mp, pops, st->sent + st->nsent - n, n);
  else if (st->nsent != 0 || st->cut || mp->same.sentcut != MPSAME_RESEND)
    stack_putall(mp, st);
  mp->same.sentcut = (int16_t)st->cut;
}

/* There are n sites now. The first of them are what they were. */
static LJ_AINLINE void stack_put(MPState *mp, MPStack *st, uint32_t same,
                                 uint32_t n)
{
  uint32_t pops = st->nsent;
  same = same < n ? same : n;
  pops -= same;
  st->nsent = n;
  n -= same;
  if (LJ_UNLIKELY(n > STACK_FEW || st->cut != mp->same.sentcut))
    stack_putrare(mp, st, pops, n);
  else if (pops != 0 || n != 0)
    mpput_change(mp, pops, st->sent + same, n);
}

/* -- Known frames --------------------------------------------------------- */

/* Callers of the known frames. */
static LJ_AINLINE uint32_t stack_nsite(const MPStack *st)
{
  return st->end > st->frame ? st->end[-1].nsite : 0;
}

/* Functions that a trace has inlined above them. */
static LJ_AINLINE uint32_t stack_ninlined(const MPState *mp)
{
  return mp->top.inlined ? mp->inlined.list[mp->top.inlined].depth : 0;
}

/* Sets a site. Returns how many of those before are still what they were. */
static LJ_AINLINE uint32_t stack_settold(MPStack *st, uint32_t i, uint32_t site,
                                         uint32_t same)
{
  if (st->sent[i] == site)
    return same;
  st->sent[i] = site;
  return i < same ? i : same;
}

/* Sets the sites of inlined functions behind n others, the innermost first. */
static LJ_AINLINE uint32_t stack_setinlined(const MPState *mp, MPStack *st,
                                            uint32_t n, uint32_t same)
{
  uint32_t list = mp->top.inlined, i;
  if (list != 0)
    for (i = n + mp->inlined.list[list].depth; list != 0;
         list = mp->inlined.list[list].parent)
      same = stack_settold(st, --i, mp->inlined.list[list].site, same);
  return same;
}

/*
** Puts frames of a walk in the place of those from f on. Returns how many
** sites are still what they were.
*/
static LJ_AINLINE uint32_t stack_push(MPStack *st, MPFrame *f,
                                      const MPWalked *w)
{
  uint32_t guard = f->guard, same = st->nsent, nsite = 0;
  MPFrame *low = f;
  if (f > st->frame) {
    nsite = f[-1].nsite;
    low = f[-1].low;
  }
  for (; w > st->walk; f++) {
    w--;
    f->slot = w->slot;
    f->guard = guard;
    guard = mpguard_frame(st, guard, w);
    if (w->site != LJM_SITE_INTERNAL)
      same = stack_settold(st, nsite++, w->site, same);
    f->nsite = nsite;
    while (low->nsite + st->need <= nsite)
      low++;
    f->low = low;
  }
  f->guard = guard; /* No frame's: it ends those of the top. */
  st->end = f;
  return same;
}

/*
** Remembers what shows that the stack is still the same, if that is easy. More
** guards than are needed do no harm.
*/
static LJ_AINLINE void stack_setsame(MPState *mp, MPStack *st)
{
  MPSame *s = &mp->same;
  const MPFrame *f = st->end;
  s->frame = NULL;
  if (LJ_LIKELY(st->npart == 1 && !st->soft)) {
    uint32_t low = f[-1].low->guard & ~(MPSAME_STEP - 1u), n = f->guard;
    s->frame = f[-1].slot;
    s->L = st->part[0].L;
    s->stack = st->part[0].stack;
    s->inlined = mp->top.inlined;
    s->addr = &st->addr[low];
    s->word = &st->word[low];
    s->end = &st->addr[n];
    n = mpguard_slot(st, n, s->frame);
    n = mpguard_slot(st, n, s->frame);
    mpguard_slot(st, n, s->frame);
  }
}

/* Replaces the frames from f on by those of a walk; records what is new. */
static LJ_AINLINE void stack_renew(MPState *mp, MPStack *st, MPFrame *f,
                                   const MPWalked *w)
{
  uint32_t same = stack_push(st, f, w);
  uint32_t nsite = stack_nsite(st);
  same = stack_setinlined(mp, st, nsite, same);
  stack_setsame(mp, st);
  stack_put(mp, st, same, nsite + stack_ninlined(mp));
}

/* -- Walks ---------------------------------------------------------------- */

/* Takes down a frame and where it was called. */
static LJ_AINLINE void stack_take(MPWalked *w, cTValue *slot, cTValue *func,
                                  uint32_t site)
{
  w->slot = slot;
  w->func = func;
  w->site = site;
}

/* The same, for a frame that lies on a previous one. */
static LJ_AINLINE void stack_takecaller(MPState *mp, MPStack *st, MPWalked *w,
                                        lua_State *L, cTValue *slot,
                                        cTValue *prev)
{
  uint32_t site;
  if (LJ_LIKELY(frame_islua(slot) && mpframe_isfunc(prev))) {
    const BCIns *pc = frame_pc(slot);
    const MPCache *c = mpwhere_cache(mp, pc);
    if (LJ_LIKELY(c->key == (const void *)pc &&
                  c->owner == mref(frame_func(prev)->l.pc, const void))) {
      stack_take(w, slot, NULL, c->site);
      return;
    }
  }
  site = lj_memprof_caller(mp, L, prev, slot, &st->soft);
  stack_take(w, slot, prev - LJ_FR2, site);
}

/* -- The whole stack ------------------------------------------------------ */

/* A walk down all frames. */
typedef struct MPWhole {
  uint32_t nwalk; /* Frames. */
  uint32_t nsite; /* Those that are callers. */
  uint32_t npart;
  uint32_t first[MPGUARD_PARTS]; /* Innermost frame of each part. */
  lua_State *L[MPGUARD_PARTS];   /* Innermost first. */
} MPWhole;

/* Counts a frame that was taken down, or cuts the stack there. */
static int stack_count(MPStack *st, MPWhole *w)
{
  uint32_t site = st->walk[w->nwalk].site;
  if (w->nwalk >= st->size - MPGUARD_SLACK ||
      (site != LJM_SITE_INTERNAL && w->nsite >= 2 * st->need)) {
    st->cut = 1;
    return 0;
  }
  w->nwalk++;
  w->nsite += site != LJM_SITE_INTERNAL;
  return 1;
}

/*
** Takes down the frames of a coroutine from one on. Returns the coroutine that
** has resumed it, or NULL.
*/
static lua_State *stack_walkpart(MPState *mp, MPStack *st, MPWhole *w,
                                 lua_State *L, cTValue *frame)
{
  cTValue *bot = mpframe_bottom(L), *prev;
  MPWalked *last;
  lua_State *R;
  w->L[w->npart] = L;
  w->first[w->npart++] = w->nwalk;
  for (; (prev = mpframe_prev(frame, bot)) != NULL; frame = prev) {
    stack_takecaller(mp, st, &st->walk[w->nwalk], L, frame, prev);
    if (!stack_count(st, w))
      return NULL;
  }
  R = w->npart < MPGUARD_PARTS ? stack_resumer(st, L) : NULL;
  last = &st->walk[w->nwalk];
  if (R != NULL)
    stack_take(last, frame, R->base - 1 - LJ_FR2,
               lj_memprof_caller(mp, R, R->base - 1, NULL, &st->soft));
  else
    stack_take(last, frame, NULL, LJM_SITE_INTERNAL);
  return stack_count(st, w) ? R : NULL;
}

/* Walks the whole stack and records what is new. */
static LJ_NOINLINE void stack_whole(MPState *mp, MPStack *st)
{
  lua_State *L = mp->top.L;
  cTValue *frame = mp->top.frame;
  MPWhole w;
  uint32_t i;
  w.nwalk = w.nsite = w.npart = 0;
  st->soft = st->cut = 0;
  mp->same.gone = 0;
  while (L != NULL && frame > mpframe_bottom(L) && frame < tvref(L->maxstack)) {
    L = stack_walkpart(mp, st, &w, L, frame);
    frame = L ? L->base - 1 : NULL;
  }
  st->npart = w.npart;
  for (i = 0; i < w.npart; i++) {
    uint32_t last = i + 1 < w.npart ? w.first[i + 1] : w.nwalk;
    MPPart *part = &st->part[w.npart - 1 - i];
    part->L = w.L[i];
    part->stack = tvref(w.L[i]->stack);
    part->first = w.nwalk - last;
  }
  stack_renew(mp, st, st->frame, st->walk + w.nwalk);
}

/* -- Entry ---------------------------------------------------------------- */

/* True if a coroutine was resumed by the one below, from the same frame. */
static int stack_isresumed(const MPStack *st, const MPPart *part)
{
  const MPPart *below = part - 1;
  const lua_State *R = stack_resumer(st, part->L);
  return R == below->L && tvref(R->stack) == below->stack &&
         part->first > below->first &&
         st->frame[part->first - 1].slot == R->base - 1;
}

/* True if the coroutines that resumed the top one are as they were. */
static int stack_resumed(MPStack *st)
{
  uint32_t i;
  for (i = st->npart - 1; i > 0; i--)
    if (!stack_isresumed(st, &st->part[i]))
      return 0;
  /* Now all the stacks are where they were, and guards can be looked at. */
  for (i = st->npart - 1; i > 0; i--) {
    MPFrame *high = &st->frame[st->part[i].first];
    const MPFrame *first = &st->frame[st->part[i - 1].first];
    const MPFrame *low = (high - 1)->low;
    if (mpguard_changed(st, low > first ? low : first, high) != NULL)
      return 0;
  }
  return 1;
}

/*
** Finds the highest known frame that is below, or is, the frame on top; what
** is above is taken down in st->walk. Returns the frame behind it, or NULL.
*/
static LJ_AINLINE MPFrame *stack_find(MPState *mp, MPStack *st,
                                      const MPWalked **wp)
{
  const MPPart *part = &st->part[st->npart - 1];
  MPFrame *first = &st->frame[part->first], *f = st->end - 1;
  MPFrame *good = st->end; /* From this one on, all up to f are. */
  cTValue *frame = mp->top.frame, *bot = mpframe_bottom(part->L), *prev;
  MPWalked *w = st->walk;
  for (;; frame = prev) {
    while (f >= first && f->slot > frame)
      f--;
    if (f >= first && f->slot == frame) {
      MPFrame *low = f->low > first ? f->low : first, *changed = NULL;
      good = good <= f ? good : f + 1;
      if (low < good) {
        changed = mpguard_changed(st, low, good);
        good = low;
      }
      *wp = w;
      if (LJ_LIKELY(changed == NULL)) /* No more than there is room for? */
        return f + (w - st->walk) < st->frame + (st->size - MPGUARD_SLACK)
                   ? f + 1
                   : NULL;
      f = changed - 1;
    }
    prev = f >= first && w < &st->walk[MPGUARD_SIZE] ? mpframe_prev(frame, bot)
                                                     : NULL;
    if (prev == NULL)
      return NULL;
    stack_takecaller(mp, st, w++, part->L, frame, prev);
  }
}

/* True if frames are known that may still be there. */
static LJ_AINLINE int stack_isknown(MPState *mp, MPStack *st)
{
  const MPPart *part;
  if (st->end == st->frame || st->soft || mp->same.gone)
    return 0;
  part = &st->part[st->npart - 1];
  return part->L == mp->top.L && part->stack == tvref(part->L->stack) &&
         (st->npart == 1 || stack_resumed(st));
}

/*
** Records the callers of the last site, as far as the reader does not know
** them. To be called before its event is written, and before the VM goes on.
*/
LJ_NOINLINE void lj_memprof_stack(MPState *mp)
{
  MPStack *st = mp->stack;
  const MPWalked *w;
  MPFrame *f = stack_isknown(mp, st) ? stack_find(mp, st, &w) : NULL;
  if (LJ_LIKELY(f != NULL)) {
    stack_renew(mp, st, f, w);
    /* Frames that were not needed may be needed now. */
    if (LJ_LIKELY(!st->cut || stack_nsite(st) + stack_ninlined(mp) >= st->need))
      return;
  }
  stack_whole(mp, st);
}

#endif
