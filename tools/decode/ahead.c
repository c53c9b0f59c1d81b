/*
** A sink in front of another one: events wait here for a second thread, which
** hands them on while the reader is decoding the next ones.
**
** Events and time marks, which are nearly all of a stream, go through a ring of
** chunks. Whatever else comes is handed on by the reader's own thread, once the
** ring is empty: the sink behind is never in two threads at a time, and sees
** everything in the order of the stream. One thing is not worth such a wait,
** since it comes all the time where stacks are told: nodes. New ones have
** numbers of our own as soon as there is a second thread. A chunk brings along
** those that its events need, and the thread knows what the sink behind calls
** them.
*/

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ahead.h"
#include "idmap.h"
#include "mem.h"

#define AHEAD_EVENTS (8 * LP_BATCH) /* Of a chunk. */
#define AHEAD_NODES  1024
#define AHEAD_CHUNKS 16
#define AHEAD_LAZY   8 /* Chunks that are worth to wake the other thread. */
#define AHEAD_OURS   (UINT32_C(1) << 31) /* Numbers of our own begin here. */

/* A list of callers that is new. */
typedef struct AheadNode {
  uint32_t callers;
  uint32_t site;
} AheadNode;

/* What is handed on in one go: nodes first, then events, then a time mark. */
typedef struct AheadChunk {
  LpEvent event[AHEAD_EVENTS];
  AheadNode node[AHEAD_NODES];
  size_t nevent, nnode;
  uint64_t ns;
  int hastime;
} AheadChunk;

struct LpAhead {
  LpSink behind;
  uint64_t after; /* Events to be handed on before the thread is started. */
  int on;         /* It was. */
  pthread_t thread;
  AheadChunk *chunk; /* All; */
  AheadChunk *fill;  /* the reader's, or NULL. */
  LpIdMap nodes;     /* Callers and site to a number of ours, */
  uint32_t nnode;    /* of so many. */
  /* Both threads', under the lock. */
  pthread_mutex_t lock;
  pthread_cond_t given, taken; /* To wait for more of one of these: */
  uint64_t ngiven;             /* chunks that were filled */
  uint64_t ntaken;             /* and handed on. */
  unsigned most;               /* The reader waits until no more are left; */
  int hurry;                   /* for the last ones: AHEAD_LAZY may not be. */
  int over;                    /* No more will be given. */
  /* The second thread's. */
  uint32_t *known; /* Our numbers to those of the sink behind. */
  size_t nknown, sizeknown;
};

/* -- The second thread ---------------------------------------------------- */

/* What the sink behind calls a node. */
static inline uint32_t ahead_known(const LpAhead *a, uint32_t node)
{
  return node < AHEAD_OURS ? node : a->known[node - AHEAD_OURS];
}

/* Make the next number of ours known. */
static void ahead_know(LpAhead *a, const AheadNode *n)
{
  a->known = lp_grow(a->known, &a->sizeknown, a->nknown + 1, sizeof(*a->known));
  a->known[a->nknown] =
      a->behind.node(a->behind.ctx, ahead_known(a, n->callers), n->site);
  a->nknown++;
}

/* Hand a chunk on. */
static void ahead_chunk(LpAhead *a, AheadChunk *c)
{
  const LpSink *to = &a->behind;
  size_t i, j, n;
  for (i = 0; i < c->nnode; i++)
    ahead_know(a, &c->node[i]);
  for (i = 0; i < c->nevent; i += n) {
    n = c->nevent - i < LP_BATCH ? c->nevent - i : LP_BATCH;
    for (j = i; j < i + n; j++)
      c->event[j].node = ahead_known(a, c->event[j].node);
    to->events(to->ctx, &c->event[i], n);
  }
  if (c->hastime)
    to->time(to->ctx, c->ns);
}

/* The thread: it sleeps until some chunks have come, since to be woken costs
** more than a chunk, and wakes the reader where that has room for as many.
*/
static void *ahead_run(void *arg)
{
  LpAhead *a = arg;
  pthread_mutex_lock(&a->lock);
  for (;;) {
    if (a->ngiven == a->ntaken)
      while (!a->over && !a->hurry && a->ngiven < a->ntaken + AHEAD_LAZY)
        pthread_cond_wait(&a->given, &a->lock);
    if (a->ngiven == a->ntaken && a->over)
      break;
    while (a->ngiven != a->ntaken) {
      pthread_mutex_unlock(&a->lock);
      ahead_chunk(a, &a->chunk[a->ntaken % AHEAD_CHUNKS]);
      pthread_mutex_lock(&a->lock);
      if (a->ngiven - ++a->ntaken == a->most)
        pthread_cond_signal(&a->taken);
    }
    a->hurry = 0;
  }
  pthread_mutex_unlock(&a->lock);
  return NULL;
}

/* -- The reader's thread -------------------------------------------------- */

/* Start the other one. Signals are the reader's, whose sleep they end. */
static void ahead_start(LpAhead *a)
{
  sigset_t all, old;
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->given, NULL);
  pthread_cond_init(&a->taken, NULL);
  a->chunk = lp_alloc(AHEAD_CHUNKS * sizeof(*a->chunk));
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  a->on = pthread_create(&a->thread, NULL, ahead_run, a) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  a->after = UINT64_MAX; /* Whether it could be started or not. */
}

/* Wait until at most so many chunks are left to the other thread. */
static void ahead_left(LpAhead *a, unsigned most)
{
  a->most = most;
  a->hurry = 1;
  pthread_cond_signal(&a->given);
  while (a->ngiven - a->ntaken > most)
    pthread_cond_wait(&a->taken, &a->lock);
}

/* Give what is filled to the other thread. */
static void ahead_give(LpAhead *a)
{
  if (!a->fill)
    return;
  a->fill = NULL;
  pthread_mutex_lock(&a->lock);
  a->ngiven++;
  if (a->ngiven - a->ntaken == AHEAD_LAZY)
    pthread_cond_signal(&a->given);
  if (a->ngiven - a->ntaken == AHEAD_CHUNKS)
    ahead_left(a, AHEAD_LAZY);
  pthread_mutex_unlock(&a->lock);
}

/* A chunk with room for as many events and nodes, and no time mark yet. */
static AheadChunk *ahead_room(LpAhead *a, size_t events, size_t nodes)
{
  AheadChunk *c = a->fill;
  if (c &&
      (c->nevent + events > AHEAD_EVENTS || c->nnode + nodes > AHEAD_NODES))
    ahead_give(a);
  if (!a->fill) {
    c = a->fill = &a->chunk[a->ngiven % AHEAD_CHUNKS];
    c->nevent = c->nnode = 0;
    c->hastime = 0;
  }
  return a->fill;
}

/* Return when all that came was handed on. */
void lp_ahead_wait(LpAhead *a)
{
  if (!a->on)
    return;
  ahead_give(a);
  pthread_mutex_lock(&a->lock);
  ahead_left(a, 0);
  pthread_mutex_unlock(&a->lock);
}

/* -- The sink ------------------------------------------------------------- */

/* Hand events on now, and start the thread if it is time to. */
static void ahead_now(LpAhead *a, const LpEvent *ev, size_t n)
{
  a->behind.events(a->behind.ctx, ev, n);
  if (a->after != UINT64_MAX)
    a->after -= n < a->after ? n : a->after;
  if (!a->after)
    ahead_start(a);
}

static void ahead_events(void *ctx, const LpEvent *ev, size_t n)
{
  LpAhead *a = ctx;
  AheadChunk *c;
  if (!a->on) {
    ahead_now(a, ev, n);
    return;
  }
  c = ahead_room(a, n, 0);
  memcpy(&c->event[c->nevent], ev, n * sizeof(*ev));
  c->nevent += n;
}

static void ahead_time(void *ctx, uint64_t ns)
{
  LpAhead *a = ctx;
  AheadChunk *c;
  if (!a->on) {
    a->behind.time(a->behind.ctx, ns);
    return;
  }
  c = ahead_room(a, 0, 0);
  c->ns = ns;
  c->hastime = 1;
  ahead_give(a);
}

static uint32_t ahead_node(void *ctx, uint32_t callers, uint32_t site)
{
  LpAhead *a = ctx;
  uint64_t key = (uint64_t)callers << 32 | site;
  uint32_t node;
  AheadChunk *c;
  if (!a->on)
    return a->behind.node(a->behind.ctx, callers, site);
  node = lp_idmap_get(&a->nodes, key);
  if (node != LP_NONE)
    return node;
  node = AHEAD_OURS + a->nnode++;
  lp_idmap_put(&a->nodes, key, node);
  c = ahead_room(a, 0, 1);
  c->node[c->nnode++] = (AheadNode){callers, site};
  return node;
}

/* Everything else waits. */
#define AHEAD_WAIT(name, type)                                                 \
  static void ahead_##name(void *ctx, type arg)                                \
  {                                                                            \
    LpAhead *a = ctx;                                                          \
    lp_ahead_wait(a);                                                          \
    a->behind.name(a->behind.ctx, arg);                                        \
  }
#define AHEAD_DEFINE(name, type)                                               \
  static uint32_t ahead_##name(void *ctx, type arg)                            \
  {                                                                            \
    LpAhead *a = ctx;                                                          \
    lp_ahead_wait(a);                                                          \
    return a->behind.name(a->behind.ctx, arg);                                 \
  }

AHEAD_WAIT(body, int)
AHEAD_WAIT(meta, const LpMeta *)
AHEAD_WAIT(damage, const LpDamage *)
AHEAD_WAIT(totals, const LpTotals *)
AHEAD_WAIT(sample, const LpSample *)
AHEAD_WAIT(book, const LpMeta *)
AHEAD_WAIT(booked, uint64_t)
AHEAD_DEFINE(func, const LpFunc *)
AHEAD_DEFINE(site, const LpSite *)
AHEAD_DEFINE(module, const LpModule *)
AHEAD_DEFINE(process, const LpProcess *)
AHEAD_DEFINE(thread, const LpThread *)

/* What the reader is to be given. */
LpSink lp_ahead_sink(LpAhead *a)
{
  return (LpSink){.ctx = a,
                  .body = ahead_body,
                  .meta = ahead_meta,
                  .func = ahead_func,
                  .site = ahead_site,
                  .node = ahead_node,
                  .events = ahead_events,
                  .time = ahead_time,
                  .damage = ahead_damage,
                  .totals = ahead_totals,
                  .module = ahead_module,
                  .process = ahead_process,
                  .thread = ahead_thread,
                  .sample = ahead_sample,
                  .book = ahead_book,
                  .booked = ahead_booked};
}

/* -- Life ----------------------------------------------------------------- */

/* How many processors this process may use. */
unsigned lp_ahead_cpus(void)
{
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0
             ? (unsigned)CPU_COUNT(&set)
             : 1;
}

/* Stand in front of BEHIND; start a thread AFTER so many events. UINT64_MAX:
** never.
*/
LpAhead *lp_ahead_open(const LpSink *behind, uint64_t after)
{
  LpAhead *a = lp_zalloc(1, sizeof(*a));
  a->behind = *behind;
  a->after = after;
  return a;
}

/* Wait, end the thread and give the memory back. */
void lp_ahead_close(LpAhead *a)
{
  lp_ahead_wait(a);
  if (a->on) {
    pthread_mutex_lock(&a->lock);
    a->over = 1;
    pthread_cond_signal(&a->given);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
  }
  lp_idmap_free(&a->nodes);
  free(a->chunk);
  free(a->known);
  free(a);
}
