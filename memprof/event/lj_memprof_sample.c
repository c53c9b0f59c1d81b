/*
** Samples: a Poisson process over the bytes that are allocated.
**
** The distance to the next chosen byte is drawn from an exponential
** distribution, which has no memory: the rest of it after an allocation that
** was not hit is as good as a new draw. So an allocation of s bytes is recorded
** with the probability 1 - exp(-s / mean), whatever came before, and a reader
** that divides by it has totals without a bias.
**
** What is freed is looked up in a small filter first: nearly everything else
** of the program was never sampled.
*/

#define lj_memprof_sample_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <math.h>
#include <stdlib.h>

#include "lj_memprof_cache.h"
#include "lj_memprof_encode.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_look.h"
#include "lj_memprof_map.h"
#include "lj_memprof_name.h"
#include "lj_memprof_sample.h"
#include "lj_memprof_stack.h"
#include "lj_memprof_state.h"
#include "lj_memprof_time.h"
#include "lj_memprof_type.h"
#include "lj_memprof_where.h"

#define SAMPLE_FILTER 16384 /* Counters; a power of 2. */

struct MPSample {
  uint64_t left;   /* Bytes before the next one that is chosen, */
  uint64_t held;   /* and more, once the last sample's event is complete. */
  uint64_t bytes;  /* Mean distance. */
  uint64_t random; /* State of the generator. */
  GCobj *proto;    /* The newest one whose children were named. */
  MPMap live;      /* Addresses of sampled objects. */
  uint8_t filter[SAMPLE_FILTER]; /* How many of them, by a hash; 255: many. */
};

/* -- Random numbers ------------------------------------------------------- */

/* 64 random bits: a counter, mixed (splitmix64 by Steele, Lea, Flood). */
static uint64_t sample_random(MPSample *s)
{
  uint64_t z = s->random += U64x(9e3779b9, 7f4a7c15);
  z = (z ^ (z >> 30)) * U64x(bf58476d, 1ce4e5b9);
  z = (z ^ (z >> 27)) * U64x(94d049bb, 133111eb);
  return z ^ (z >> 31);
}

/* Draws the distance to the next chosen byte. */
static void sample_draw(MPSample *s)
{
  /* In (0, 1], so that its logarithm is finite. */
  double u = ((double)(sample_random(s) >> 11) + 1.0) * 0x1p-53;
  s->left = (uint64_t)(-log(u) * (double)s->bytes);
}

/* True if an allocation is to be recorded. */
static LJ_AINLINE int sample_hit(MPSample *s, uint64_t size)
{
  if (LJ_LIKELY(size <= s->left)) {
    s->left -= size;
    return 0;
  }
  sample_draw(s);
  return 1;
}

/* -- Sampled objects ------------------------------------------------------ */

/* The filter's counter of an address. */
static LJ_AINLINE uint8_t *sample_filter(MPSample *s, const void *ptr)
{
  uintptr_t p = (uintptr_t)ptr;
  return &s->filter[((p >> 4) ^ (p >> 17)) & (SAMPLE_FILTER - 1)];
}

/* Remembers an object. Returns 0 without memory. */
static int sample_add(MPSample *s, const void *ptr)
{
  uint8_t *f = sample_filter(s, ptr);
  if (!lj_memprof_mapput(&s->live, (uint64_t)(uintptr_t)ptr, 1))
    return 0;
  if (*f < 255)
    ++*f;
  return 1;
}

/* Forgets an object. Returns 0 if it was not sampled. */
static int sample_remove(MPSample *s, const void *ptr)
{
  uint8_t *f = sample_filter(s, ptr);
  if (!lj_memprof_mapget(&s->live, (uint64_t)(uintptr_t)ptr))
    return 0;
  lj_memprof_mapdel(&s->live, (uint64_t)(uintptr_t)ptr);
  if (*f < 255)
    --*f;
  return 1;
}

/* -- Events --------------------------------------------------------------- */

/* The site of an allocation. Its callers are recorded, if they are wanted. */
static uint32_t sample_site(MPState *mp)
{
  uint32_t site = lj_memprof_where(mp);
  if (mp->stack != NULL && site > LJM_SITE_UNKNOWN)
    lj_memprof_stack(mp);
  return site;
}

/*
** Looks at the clock, at every sampled event. Returns 0 if the event is not to
** be recorded. An order that has come meanwhile waits for the next event.
*/
static int sample_look(MPHook *h, MPState *mp, int isfree)
{
  if (mp->buf.p >= mp->buf.soft) {
    h->late = 1;
    lj_memprof_look(h, mp, isfree);
    h->late = 0;
  }
  return lj_memprof_active(h) == mp ||
         (h->rec == mp && lj_memprof_isordered(h) && !mp->buf.error);
}

static LJ_NOINLINE void *sample_alloc(MPHook *h, MPState *mp, size_t nsize)
{
  uint32_t site;
  void *p;
  if (!sample_look(h, mp, 0))
    return lj_memprof_pass(h, NULL, 0, nsize);
  site = sample_site(mp);
  p = h->allocf(h->allocd, NULL, 0, nsize);
  if (p == NULL || !sample_add(mp->sample, p))
    return p;
  mpput_alloc(mp, site, p, nsize);
  mp->sample->held = mp->sample->left;
  mp->sample->left = 0; /* So the next one completes this one's event. */
  mp->total.nevents[LJM_ALLOC]++;
  mp->total.bytesin += nsize;
  return p;
}

static LJ_NOINLINE void *sample_free(MPHook *h, MPState *mp, void *ptr,
                                     size_t osize)
{
  if (sample_remove(mp->sample, ptr) && sample_look(h, mp, 1)) {
    mpput_free(mp, lj_memprof_where(mp), ptr, osize);
    mp->total.nevents[LJM_FREE]++;
    mp->total.bytesout += osize;
  }
  return h->allocf(h->allocd, ptr, osize, 0);
}

static LJ_NOINLINE void *sample_realloc(MPHook *h, MPState *mp, void *ptr,
                                        size_t osize, size_t nsize, int hit)
{
  uint32_t site;
  uint8_t *header;
  int flags;
  void *p;
  if (!sample_look(h, mp, 0))
    return lj_memprof_pass(h, ptr, osize, nsize);
  site = sample_site(mp);
  p = h->allocf(h->allocd, ptr, osize, nsize);
  if (p == NULL)
    return NULL;
  flags = sample_remove(mp->sample, ptr) ? LJM_SAMPLED_OLD : 0;
  if (hit && sample_add(mp->sample, p))
    flags |= LJM_SAMPLED_NEW;
  if (flags == 0)
    return p;
  header = mp->buf.p;
  mpput_realloc(mp, site, ptr, osize, p, nsize);
  *header |= (uint8_t)flags;
  mptail_publish(mp, mp->buf.p);
  mp->total.nevents[LJM_REALLOC]++;
  mp->total.bytesout += osize;
  mp->total.bytesin += nsize;
  return p;
}

/* -- The allocator's wrapper ---------------------------------------------- */

/* True if the newest object is a proto: its functions may want their names. */
static LJ_AINLINE int sample_isproto(global_State *g)
{
  return gcref(g->gc.root)->gch.gct == ~LJ_TPROTO;
}

/* Before anything else: what must not be put off. */
static void sample_before(MPState *mp, void *ptr, size_t osize)
{
  MPSample *s = mp->sample;
  GCobj *root = gcref(mp->g->gc.root);
  lj_memprof_complete(mp, NULL, 0);
  s->left += s->held;
  s->held = 0;
  if (sample_isproto(mp->g) && root != s->proto) {
    s->proto = root;
    lj_memprof_namechildren(mp, gco2pt(root));
  }
  if (ptr != NULL) {
    if ((void *)s->proto == ptr)
      s->proto = NULL;
    lj_memprof_forget(mp, ptr, osize);
  }
}

/* Any event. */
static void *sample_event(MPHook *h, void *ptr, size_t osize, size_t nsize)
{
  MPState *mp = lj_memprof_enter(h);
  int hit;
  if (mp == NULL)
    return lj_memprof_pass(h, ptr, osize, nsize);
  if (ptr == NULL && nsize == 0)
    return NULL;
  sample_before(mp, nsize == 0 ? ptr : NULL, osize);
  hit = nsize != 0 && sample_hit(mp->sample, nsize);
  if (ptr == NULL) {
    if (hit)
      return sample_alloc(h, mp, nsize);
  } else if (hit || *sample_filter(mp->sample, ptr) != 0) {
    return nsize ? sample_realloc(h, mp, ptr, osize, nsize, hit)
                 : sample_free(h, mp, ptr, osize);
  }
  return h->allocf(h->allocd, ptr, osize, nsize);
}

/* The same, and its end, unless its writer is at it. */
static LJ_NOINLINE void *sample_any(MPHook *h, void *ptr, size_t osize,
                                    size_t nsize)
{
  void *p = sample_event(h, ptr, osize, nsize);
  if (h->writing == NULL)
    lj_memprof_leave(h);
  return p;
}

/*
** Takes the place of a VM's allocator while samples are taken. What is not to
** be recorded, and that is nearly all, is let through here: it saves no
** register.
*/
void *lj_memprof_sampled(void *ud, void *ptr, size_t osize, size_t nsize)
{
  MPHook *h = (MPHook *)ud;
  MPState *mp = lj_memprof_active(h);
  MPSample *s;
  int pass;
  if (LJ_UNLIKELY(mp == NULL))
    return sample_any(h, ptr, osize, nsize);
  s = mp->sample;
  if (nsize == 0)
    pass = ptr != NULL && !mpwhere_iscode(ptr, osize);
  else
    pass = nsize <= s->left && !sample_isproto(h->g);
  if (LJ_UNLIKELY(!pass || (ptr != NULL && *sample_filter(s, ptr) != 0)))
    return sample_any(h, ptr, osize, nsize);
  s->left -= nsize;
  return h->allocf(h->allocd, ptr, osize, nsize);
}

/* -- Life ----------------------------------------------------------------- */

/*
** Begins to take a sample every so many bytes. A seed of 0 is chosen here.
** Returns 0 without memory.
*/
int lj_memprof_newsample(MPState *mp, uint64_t bytes, uint64_t seed)
{
  MPSample *s = (MPSample *)calloc(1, sizeof(MPSample));
  mp->sample = s;
  if (s == NULL)
    return 0;
  s->bytes = bytes;
  s->random = lj_memprof_now() ^ ((uint64_t)(uintptr_t)mp << 20);
  s->random = seed ? seed : (sample_random(s) >> 11) + 1;
  mp->sampling.bytes = bytes;
  mp->sampling.seed = s->random;
  sample_draw(s);
  return 1;
}

void lj_memprof_freesample(MPState *mp)
{
  if (mp->sample != NULL)
    lj_memprof_mapfree(&mp->sample->live);
  free(mp->sample);
  mp->sample = NULL;
}

#endif
