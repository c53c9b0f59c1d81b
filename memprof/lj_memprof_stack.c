/*
** Full stacks, told as changes.
**
** The frames of the last stack are kept with the words that were in their
** slots. A walk down from the top ends at the first slot that is among them:
** if the words of all frames below are what they were, so is the chain of
** frames. Only what is above it has changed. A few compares cost less than
** the hash of a single frame.
**
** More frames are kept, and told, than an event needs, so that calls and
** returns at the cut end of a deep stack need no walk. Everything that is not
** the usual (other coroutines, callers that no frame tells) walks the whole
** stack anew and tells the difference.
*/

#define lj_memprof_stack_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <string.h>

#include "lj_dispatch.h"
#include "lj_memprof_frame.h"
#include "lj_state.h"
#include "lj_vm.h"

#if LJ_FR2
/* A frame's words, its function and its link, compared at once. */
typedef uint64_t MPWords __attribute__((vector_size(16), may_alias));
typedef uint64_t MPSlotWords
    __attribute__((vector_size(16), aligned(8), may_alias));
#define stack_words(slot)                                                      \
  ((MPWords) * (const MPSlotWords *)(const void *)((slot)-1))
#define stack_iszero(w) (((w)[0] | (w)[1]) == 0)
#else
typedef uint64_t MPWords;
#define stack_words(slot) ((slot)->u64)
#define stack_iszero(w)   ((w) == 0)
#endif

/* A frame that a walk has passed. */
typedef struct MPWalked {
  cTValue *slot;
  uint32_t site; /* Where it was called; INTERNAL if that is no caller. */
} MPWalked;

/* A frame that is known. Its slot and words are in arrays of their own. */
typedef struct MPFrame {
  uint32_t site;  /* Where it was called. */
  uint32_t nsite; /* Sites up to here, from the outermost frame on. */
  uint32_t low;   /* Above this frame are as many as an event needs. */
} MPFrame;

/* A coroutine's part of the frames. */
typedef struct MPPart {
  lua_State *L;
  const TValue *stack; /* Where its stack was. */
  uint32_t first;      /* Its outermost frame. */
} MPPart;

#define STACK_MAXPART 32  /* Coroutines resumed by coroutines. */
#define STACK_SLACK   192 /* Functions that a trace inlines, and more. */

typedef struct MPStack {
  uint32_t need;   /* Callers that an event has at most. */
  uint32_t size;   /* Room for as many frames, and as many sites. */
  uint32_t nframe; /* 0: nothing is known. */
  uint32_t npart;
  cTValue *top;           /* The top frame, if it may be the next one's, too: */
  const lua_State *topL;  /* its coroutine, */
  const TValue *topstack; /* and where that has its stack. */
  uint32_t inlined;       /* Inlined functions above the frames. */
  int cut;                /* There are more frames below. */
  int soft;               /* Some callers are not told by frames. */
  int toldcut;            /* The reader knows of the cut. */
  uintptr_t builtins;     /* Machine code of the VM's builtins, */
  uintptr_t builtinsend;  /* up to the last one. */
  int retell;             /* The reader knows nothing. */
  uint32_t ntold;         /* Sites that the reader knows, or is to know. */
  uint32_t *told;
  uint32_t *sites;            /* What they are to become. */
  MPWalked *walk;             /* Frames of a walk, innermost first. */
  MPFrame *frame;             /* Known frames, outermost first, */
  cTValue **slot;             /* their slots, */
  MPWords *words;             /* and what was in them. */
  MPPart part[STACK_MAXPART]; /* Outermost first. */
} MPStack;

/* -- Coroutines ----------------------------------------------------------- */

/* Finds out where the VM's machine code for builtins is. */
static void stack_findbuiltins(MPStack *st)
{
  uintptr_t vm = (uintptr_t)(void *)lj_vm_asm_begin;
  int i;
  st->builtins = st->builtinsend = vm + lj_bc_ofs[BC__MAX];
  for (i = BC__MAX; i < GG_LEN_DDISP; i++) {
    uintptr_t p = vm + lj_bc_ofs[i];
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

/* Makes room for stacks of mp->depth frames. Returns 0 without memory. */
int lj_memprof_newstack(MPState *mp)
{
  MPStack *st = (MPStack *)calloc(1, sizeof(MPStack));
  mp->stack = st;
  if (st == NULL)
    return 0;
  stack_findbuiltins(st);
  st->need = mp->depth - 1;
  st->size = 4 * mp->depth + STACK_SLACK;
  st->told = (uint32_t *)malloc(st->size * sizeof(uint32_t));
  st->sites = (uint32_t *)malloc(st->size * sizeof(uint32_t));
  st->walk = (MPWalked *)malloc(st->size * sizeof(MPWalked));
  st->frame = (MPFrame *)malloc(st->size * sizeof(MPFrame));
  st->slot = (cTValue **)malloc(st->size * sizeof(cTValue *));
  st->words = (MPWords *)malloc(st->size * sizeof(MPWords));
  return st->told != NULL && st->sites != NULL && st->walk != NULL &&
         st->frame != NULL && st->slot != NULL && st->words != NULL;
}

/* Frees all that stacks need. */
void lj_memprof_freestack(MPState *mp)
{
  MPStack *st = mp->stack;
  if (st != NULL) {
    free(st->told);
    free(st->sites);
    free(st->walk);
    free(st->frame);
    free((void *)st->slot);
    free(st->words);
    free(st);
    mp->stack = NULL;
  }
  free(mp->inlined);
  mp->inlined = NULL;
  lj_memprof_mapfree(&mp->inlinedmap);
}

/* The reader's register is empty: a block begins. */
void lj_memprof_cleartold(MPState *mp)
{
  MPStack *st = mp->stack;
  if (st != NULL) {
    st->retell = 1;
    st->top = NULL;
  }
}

/* What is known of frames does not hold any more: code has gone. */
void lj_memprof_clearstack(MPState *mp)
{
  MPStack *st = mp->stack;
  if (st != NULL) {
    st->nframe = 0;
    st->top = NULL;
  }
}

/* -- Known frames --------------------------------------------------------- */

/* True if the words of the frames from a low one to a high one are the same. */
static LJ_AINLINE int stack_same(const MPStack *st, int32_t high, int32_t low)
{
  cTValue *const *slot = st->slot;
  const MPWords *words = st->words;
  MPWords diff = stack_words(slot[high]) ^ words[high];
  int32_t i = low;
  for (; i + 4 <= high; i += 4) {
    diff |= (stack_words(slot[i]) ^ words[i]) |
            (stack_words(slot[i + 1]) ^ words[i + 1]) |
            (stack_words(slot[i + 2]) ^ words[i + 2]) |
            (stack_words(slot[i + 3]) ^ words[i + 3]);
  }
  for (; i < high; i++)
    diff |= stack_words(slot[i]) ^ words[i];
  return stack_iszero(diff);
}

/*
** Compares the known frames from one down to a part's first, or to the last
** one that an event needs. Returns the lowest that has changed, or -1.
*/
static LJ_AINLINE int32_t stack_changed(const MPStack *st, int32_t from,
                                        int32_t first)
{
  int32_t low = (int32_t)st->frame[from].low;
  low = low > first ? low : first;
  if (LJ_LIKELY(stack_same(st, from, low)))
    return -1;
  while (stack_same(st, low, low))
    low++;
  return low;
}

/* Takes down a frame and where it was called. */
static LJ_AINLINE void stack_take(MPWalked *w, cTValue *slot, uint32_t site)
{
  w->slot = slot;
  w->site = site;
}

/* Puts frames of a walk on top of the first n known ones. */
static LJ_AINLINE void stack_push(MPStack *st, uint32_t n, uint32_t nwalk)
{
  uint32_t nsite = n ? st->frame[n - 1].nsite : 0;
  uint32_t low = n ? st->frame[n - 1].low : 0;
  for (; nwalk > 0; n++) {
    const MPWalked *w = &st->walk[--nwalk];
    MPFrame *f = &st->frame[n];
    st->slot[n] = w->slot;
    st->words[n] = stack_words(w->slot);
    nsite += w->site != LJM_SITE_INTERNAL;
    f->site = w->site;
    f->nsite = nsite;
    while (st->frame[low].nsite + st->need <= nsite)
      low++;
    f->low = low;
  }
  st->nframe = n;
}

/* -- Telling -------------------------------------------------------------- */

/* Appends the whole stack. */
static LJ_NOINLINE void stack_tellall(MPState *mp, const MPStack *st)
{
  uint8_t *mark = lj_wbuf_record(&mp->buf, LJM_REC_STACK);
  uint32_t i;
  lj_wbuf_uleb(&mp->buf, st->cut ? LJM_STACK_CUT : 0);
  for (i = 0; i < st->ntold; i++)
    lj_wbuf_uleb(&mp->buf, st->told[i]);
  lj_wbuf_recordend(&mp->buf, mark);
}

/* Appends a change. */
static LJ_AINLINE void stack_tellchange(MPState *mp, uint32_t pops,
                                        const uint32_t *sites, uint32_t n)
{
  uint8_t *p = mp->buf.p;
  uint32_t i;
  *p++ = (uint8_t)LJM_STACK_BYTE(
      pops < LJM_STACK_MOREPOPS ? pops : LJM_STACK_MOREPOPS,
      n < LJM_STACK_MOREPUSHES ? n : LJM_STACK_MOREPUSHES);
  if (pops >= LJM_STACK_MOREPOPS)
    p = lj_wbuf_putuleb(p, pops - LJM_STACK_MOREPOPS);
  if (n >= LJM_STACK_MOREPUSHES)
    p = lj_wbuf_putuleb(p, n - LJM_STACK_MOREPUSHES);
  for (i = 0; i < n; i++)
    p = lj_wbuf_putuleb(p, sites[i]);
  mp->buf.p = p;
}

#define STACK_FEW 8 /* So many pushes always fit in the buffer. */

/* Tells the stack when a change would not do, or might not fit. */
static LJ_NOINLINE void stack_tellrare(MPState *mp, MPStack *st, uint32_t pops,
                                       uint32_t n)
{
  if (lj_wbuf_room(&mp->buf) < MP_RECORD_MAX)
    lj_memprof_flush(mp);
  if (!st->retell && st->cut == st->toldcut)
    stack_tellchange(mp, pops, st->told + st->ntold - n, n);
  else if (st->ntold != 0 || st->cut || !st->retell)
    stack_tellall(mp, st);
  st->retell = 0;
  st->toldcut = st->cut;
}

/* Behind the first keep sites of the stack there are n others now. */
static LJ_AINLINE void stack_tell(MPState *mp, MPStack *st, uint32_t keep,
                                  const uint32_t *sites, uint32_t n)
{
  uint32_t i, pops;
  for (; n > 0 && keep < st->ntold && st->told[keep] == *sites; n--, sites++)
    keep++;
  pops = st->ntold - keep;
  for (i = 0; i < n; i++)
    st->told[keep + i] = sites[i];
  st->ntold = keep + n;
  if (LJ_UNLIKELY(n > STACK_FEW || st->retell || st->cut != st->toldcut))
    stack_tellrare(mp, st, pops, n);
  else if (pops != 0 || n != 0)
    stack_tellchange(mp, pops, sites, n);
}

/* Appends the sites of inlined functions. Returns how many there are. */
static LJ_AINLINE uint32_t stack_addinlined(const MPState *mp, uint32_t list,
                                            uint32_t *sites)
{
  uint32_t n = 0, i;
  if (list != 0) {
    for (i = n = mp->inlined[list].depth; list != 0;
         list = mp->inlined[list].parent)
      sites[--i] = mp->inlined[list].site;
  }
  return n;
}

/* Tells all sites of known frames from one on, and the inlined functions. */
static LJ_AINLINE void stack_tellframes(MPState *mp, MPStack *st, uint32_t from)
{
  uint32_t i, n = 0;
  for (i = from; i < st->nframe; i++)
    if (st->frame[i].site != LJM_SITE_INTERNAL)
      st->sites[n++] = st->frame[i].site;
  st->inlined = mp->top.inlined;
  n += stack_addinlined(mp, st->inlined, st->sites + n);
  st->top = NULL;
  if (LJ_LIKELY(st->npart == 1 && !st->soft)) {
    st->top = st->slot[st->nframe - 1];
    st->topL = st->part[0].L;
    st->topstack = st->part[0].stack;
  }
  stack_tell(mp, st, from ? st->frame[from - 1].nsite : 0, st->sites, n);
}

/* -- The whole stack ------------------------------------------------------ */

/* A walk down all frames. */
typedef struct MPWhole {
  uint32_t nwalk; /* Frames. */
  uint32_t nsite; /* Those that are callers. */
  uint32_t npart;
  uint32_t first[STACK_MAXPART]; /* Innermost frame of each part. */
  lua_State *L[STACK_MAXPART];   /* Innermost first. */
} MPWhole;

/* Takes down a frame. Returns 0 if the stack is to be cut there. */
static int stack_walkframe(MPStack *st, MPWhole *w, cTValue *slot,
                           uint32_t site)
{
  if (w->nwalk >= st->size - STACK_SLACK ||
      (site != LJM_SITE_INTERNAL && w->nsite >= 2 * st->need)) {
    st->cut = 1;
    return 0;
  }
  stack_take(&st->walk[w->nwalk++], slot, site);
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
  uint32_t site = LJM_SITE_INTERNAL;
  lua_State *R;
  w->L[w->npart] = L;
  w->first[w->npart++] = w->nwalk;
  while ((prev = mpframe_prev(frame, bot)) != NULL) {
    site = lj_memprof_caller(mp, L, prev, frame, &st->soft);
    if (!stack_walkframe(st, w, frame, site))
      return NULL;
    frame = prev;
  }
  R = w->npart < STACK_MAXPART ? stack_resumer(st, L) : NULL;
  site = R ? lj_memprof_caller(mp, R, R->base - 1, NULL, &st->soft)
           : LJM_SITE_INTERNAL;
  return stack_walkframe(st, w, frame, site) ? R : NULL;
}

/* Walks the whole stack and tells what is new. */
static LJ_NOINLINE void stack_whole(MPState *mp, MPStack *st)
{
  lua_State *L = mp->top.L;
  cTValue *frame = mp->top.frame;
  MPWhole w;
  uint32_t i;
  w.nwalk = w.nsite = w.npart = 0;
  st->soft = st->cut = 0;
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
  stack_push(st, 0, w.nwalk);
  stack_tellframes(mp, st, 0);
}

/* -- Entry ---------------------------------------------------------------- */

/* True if the coroutines that resumed the top one are as they were. */
static int stack_resumed(const MPStack *st)
{
  uint32_t i;
  for (i = st->npart - 1; i > 0; i--) {
    const MPPart *part = &st->part[i], *below = part - 1;
    lua_State *R = stack_resumer(st, part->L);
    int32_t top = (int32_t)part->first - 1;
    if (R != below->L || tvref(R->stack) != below->stack ||
        top < (int32_t)below->first || st->slot[top] != R->base - 1 ||
        stack_changed(st, top, (int32_t)below->first) >= 0)
      return 0;
  }
  return 1;
}

/*
** Finds the highest known frame that is below, or is, the frame on top; what
** is above is taken down in st->walk. Returns its number, or -1.
*/
static LJ_AINLINE int32_t stack_find(MPState *mp, MPStack *st, uint32_t *nwalk)
{
  const MPPart *part = &st->part[st->npart - 1];
  int32_t j = (int32_t)st->nframe - 1, first = (int32_t)part->first;
  cTValue *frame = mp->top.frame, *bot = mpframe_bottom(part->L);
  uint32_t n = 0;
  for (;;) {
    cTValue *prev;
    while (j >= first && st->slot[j] > frame)
      j--;
    if (j >= first && st->slot[j] == frame) {
      int32_t changed = stack_changed(st, j, first);
      if (LJ_LIKELY(changed < 0)) {
        *nwalk = n;
        return j;
      }
      j = changed - 1;
    }
    prev = j >= first && (uint32_t)j + n < st->size - STACK_SLACK
               ? mpframe_prev(frame, bot)
               : NULL;
    if (prev == NULL)
      return -1;
    stack_take(&st->walk[n++], frame,
               lj_memprof_caller(mp, part->L, prev, frame, &st->soft));
    frame = prev;
  }
}

/* True if frames are known that may still be there. */
static LJ_AINLINE int stack_isknown(MPState *mp, MPStack *st)
{
  const MPPart *part = &st->part[st->npart - 1];
  return st->nframe != 0 && !st->soft && part->L == mp->top.L &&
         part->stack == tvref(part->L->stack) &&
         (st->npart == 1 || stack_resumed(st));
}

/* Callers that are known now. */
static uint32_t stack_nsites(const MPState *mp, const MPStack *st)
{
  uint32_t n = st->frame[st->nframe - 1].nsite;
  return n + (mp->top.inlined ? mp->inlined[mp->top.inlined].depth : 0);
}

/* The stack is not the last one: finds what is new, and tells it. */
static LJ_NOINLINE void stack_new(MPState *mp, MPStack *st)
{
  uint32_t n, nwalk;
  int32_t top = stack_isknown(mp, st) ? stack_find(mp, st, &nwalk) : -1;
  if (top < 0) {
    stack_whole(mp, st);
    return;
  }
  n = (uint32_t)top + 1;
  stack_push(st, n, nwalk);
  if (st->cut && stack_nsites(mp, st) < st->need)
    stack_whole(mp, st); /* Frames that were not needed are needed now. */
  else
    stack_tellframes(mp, st, n);
}

/*
** Tells the callers of the last site, as far as the reader does not know them.
** To be called before its event is written, and before the VM goes on.
*/
void lj_memprof_stack(MPState *mp)
{
  MPStack *st = mp->stack;
  const lua_State *L = mp->top.L;
  /* Most of the time it is the stack of the event before. */
  if (LJ_LIKELY(st->top == mp->top.frame && st->topL == L &&
                st->topstack == tvref(L->stack) &&
                st->inlined == mp->top.inlined)) {
    int32_t high = (int32_t)st->nframe - 1;
    if (LJ_LIKELY(stack_same(st, high, (int32_t)st->frame[high].low)))
      return;
  }
  stack_new(mp, st);
}

#endif
