/*
** A small heap dump, joined with a recording that is told to the replay event
** by event: who made what each keeper keeps, how old it is, and what is older
** than the recording, or unknown since a part of it is lost.
*/

#include <string.h>

#include "heap_graph.h"
#include "join.h"
#include "suites.h"

#define MS   1000000ull /* Nanoseconds. */
#define NODE 24         /* Bytes of a table that are in its hash part. */

/*
** Two keepers:
**
**   1 --id-----> 2 (40) --> 1000 .. 1149: {id} (64 each)
**     --other--> 3 (40) --> 120 of them: {id} (64 each), from 1200 on, or from
**                           1100 on: then both have 50 of them.
*/
typedef struct Joined {
  HeapRun r;
  LpReplay replay;
  LpSink sink;
  uint32_t maker[2]; /* Sites. */
  LpJoin *join;
} Joined;

static Joined *joined_open(Joined *j, unsigned other)
{
  static const LpStr chunk = {"@app.lua", 8};
  LpFunc f = {.kind = LP_FUNC_LUA, .chunk = chunk, .first = 1, .hash = 7};
  LpSite site = {.line = 10};
  CraftHeap h;
  LpHeap *heap;
  unsigned i;
  memset(j, 0, sizeof(*j));
  graph_open(&h, "t");
  graph_table(&h, 1, 100, 2, 3);
  graph_list(&h, 2, 40, 1000, 150);
  graph_list(&h, 3, 40, other, 120);
  for (i = 1000; i < 1150; i++)
    graph_record(&h, i, 64);
  for (i = other < 1150 ? 1150 : other; i < other + 120; i++)
    graph_record(&h, i, 64);
  j->r = graph_joinable(&h);
  heap = j->r.l.heap;
  heap->dump.origin = (LpDumpOrigin){.id = 5, .recording = 99};
  j->sink = lp_replay_open(&j->replay, j->r.l.prof, &heap->dump, NULL);
  site.func = j->sink.func(j->sink.ctx, &f);
  j->maker[0] = j->sink.site(j->sink.ctx, &site);
  site.line = 20;
  j->maker[1] = j->sink.site(j->sink.ctx, &site);
  j->sink.body(j->sink.ctx, 'm');
  return j;
}

/* Record I is made by a site: two blocks. */
static void made(Joined *j, unsigned i, uint64_t size, uint32_t site)
{
  LpEvent e[2] = {{.kind = LJM_ALLOC,
                   .naddr = GRAPH_AT(i),
                   .nsize = size - NODE,
                   .site = site,
                   .type = LJM_TYPE_TABLE}};
  e[1] = e[0];
  e[1].naddr = GRAPH_HASH(i);
  e[1].nsize = NODE;
  j->sink.events(j->sink.ctx, e, 2);
}

/* It is freed. */
static void freed(Joined *j, unsigned i, uint64_t size)
{
  const LpEvent e[2] = {
      {.kind = LJM_FREE, .oaddr = GRAPH_HASH(i), .osize = NODE},
      {.kind = LJM_FREE, .oaddr = GRAPH_AT(i), .osize = size - NODE}};
  j->sink.events(j->sink.ctx, e, 2);
}

/* The record of the dump, behind LOST events that could not be read. */
static void dumped(Joined *j, uint64_t ns, uint64_t lost)
{
  const LpDumpMark m = {5, j->replay.events + lost, ns};
  LpBuf why = {0};
  ck_assert_int_eq(j->sink.dump(j->sink.ctx, &m), 1);
  ck_assert(lp_replay_joins(&j->replay, &why));
  j->join = lp_join_new(j->r.heap, &j->replay);
}

/* The keeper that an object is. */
static const LpKeeper *keeper(const Joined *j, unsigned i)
{
  uint32_t id = heap_id(&j->r, GRAPH_AT(i));
  size_t k;
  for (k = LP_KEEPER_FIRST; k < j->join->nkeeper; k++)
    if (j->join->keeper[k].id == id)
      return &j->join->keeper[k];
  ck_abort_msg("object %u is no keeper", i);
  return NULL;
}

static void joined_close(Joined *j)
{
  lp_join_free(j->join);
  lp_replay_close(&j->replay);
  heap_run_close(&j->r);
}

/* Each keeper has its makers, the largest first, with their ages. */
START_TEST(test_makers)
{
  Joined j;
  const LpKeeper *k;
  const LpMade *m;
  unsigned i;
  joined_open(&j, 1200);
  for (i = 0; i < 100; i++)
    made(&j, 1000 + i, 64, j.maker[0]);
  j.sink.time(j.sink.ctx, 100 * MS);
  for (; i < 150; i++)
    made(&j, 1000 + i, 64, j.maker[1]);
  for (i = 0; i < 120; i++)
    made(&j, 1200 + i, 64, j.maker[1]);
  dumped(&j, 250 * MS, 0);
  k = keeper(&j, 2);
  ck_assert_uint_eq(k->bytes, 40 + 150 * 64);
  ck_assert_uint_eq(k->objects, 151);
  m = &j.join->made[k->made];
  ck_assert_uint_eq(k->nmade, 3); /* The table itself is older. */
  ck_assert_uint_eq(m[0].site, j.maker[0]);
  ck_assert_uint_eq(m[0].live.bytes, 100 * 64);
  ck_assert_uint_eq(m[0].live.n, 100);
  ck_assert_uint_eq(m[0].oldest, 250);
  ck_assert_uint_eq(m[0].newest, 250);
  ck_assert_uint_eq(m[1].site, j.maker[1]);
  ck_assert_uint_eq(m[1].live.bytes, 50 * 64);
  ck_assert_uint_eq(m[1].oldest, 150);
  ck_assert_uint_eq(m[2].site, LP_SITE_BEFORE);
  ck_assert_uint_eq(m[2].live.bytes, 40);
  ck_assert_uint_eq(m[2].oldest, UINT64_MAX);
  k = keeper(&j, 3);
  ck_assert_uint_eq(k->bytes, 40 + 120 * 64);
  ck_assert_uint_eq(j.join->made[k->made].site, j.maker[1]);
  ck_assert_uint_eq(j.join->found, 2 * 270);
  ck_assert_uint_eq(j.join->differs, 0);
  joined_close(&j);
}
END_TEST

/* What both lists have is a keeper's of its own. */
START_TEST(test_shared)
{
  const LpKeeper *k = NULL;
  Joined j;
  unsigned i;
  joined_open(&j, 1100);
  for (i = 1000; i < 1220; i++)
    made(&j, i, 64, j.maker[i >= 1100 && i < 1150]);
  dumped(&j, 30 * MS, 0);
  ck_assert_uint_eq(j.join->nkeeper, LP_KEEPER_FIRST + 3);
  for (i = LP_KEEPER_FIRST; i < j.join->nkeeper; i++)
    if (j.join->keeper[i].shared)
      k = &j.join->keeper[i];
  ck_assert_ptr_nonnull(k);
  ck_assert_ptr_eq(k->shared, j.r.heap->sharing.group);
  ck_assert_uint_eq(k->id, LP_NONE);
  ck_assert_uint_eq(k->bytes, 50 * 64);
  ck_assert_uint_eq(k->objects, 50);
  ck_assert_uint_eq(k->nmade, 1);
  ck_assert_uint_eq(j.join->made[k->made].site, j.maker[1]);
  ck_assert_uint_eq(j.join->made[k->made].live.bytes, 50 * 64);
  ck_assert_uint_eq(keeper(&j, 2)->bytes, 40 + 100 * 64);
  ck_assert_uint_eq(keeper(&j, 3)->bytes, 40 + 70 * 64);
  joined_close(&j);
}
END_TEST

/* The record of an earlier dump. */
static void based(Joined *j, uint64_t ns)
{
  static const LpDump base = {.origin = {.id = 4, .recording = 99}};
  const LpDumpMark m = {4, j->replay.events, ns};
  j->replay.base = &base;
  ck_assert_int_eq(j->sink.dump(j->sink.ctx, &m), 0);
}

/* In a comparison only what was born behind the base's record has makers, also
** within one millisecond.
*/
START_TEST(test_new)
{
  Joined j;
  const LpKeeper *k;
  unsigned i;
  joined_open(&j, 1200);
  j.sink.time(j.sink.ctx, 10 * MS);
  for (i = 0; i < 100; i++)
    made(&j, 1000 + i, 64, j.maker[0]);
  based(&j, 10 * MS);
  for (; i < 150; i++)
    made(&j, 1000 + i, 64, j.maker[1]);
  freed(&j, 1003, 64);
  made(&j, 1003, 64, j.maker[1]);
  dumped(&j, 30 * MS, 0);
  ck_assert_int_eq(j.join->fresh, 1);
  k = keeper(&j, 2);
  ck_assert_uint_eq(k->bytes, 40 + 150 * 64);
  ck_assert_uint_eq(k->nmade, 1);
  ck_assert_uint_eq(j.join->made[k->made].site, j.maker[1]);
  ck_assert_uint_eq(j.join->made[k->made].live.bytes, 51 * 64);
  ck_assert_uint_eq(j.join->made[k->made].oldest, 20);
  ck_assert_uint_eq(keeper(&j, 3)->nmade, 0);
  ck_assert_uint_eq(j.join->found, 2 * 150);
  joined_close(&j);
}
END_TEST

/* Memory that is older than the base, or than the recording, and moves behind
** the base's record is not new.
*/
START_TEST(test_moved)
{
  LpEvent e = {.kind = LJM_REALLOC,
               .naddr = GRAPH_AT(1000),
               .nsize = 64 - NODE,
               .type = LJM_TYPE_TABLE};
  Joined j;
  joined_open(&j, 1200);
  e.site = j.maker[1];
  made(&j, 1200, 64, j.maker[0]);
  based(&j, 10 * MS);
  made(&j, 1001, 64, j.maker[1]);
  e.oaddr = GRAPH_AT(5000); /* Nobody knows that one. */
  e.osize = 16;
  j.sink.events(j.sink.ctx, &e, 1);
  e.oaddr = GRAPH_AT(1200);
  e.naddr = GRAPH_AT(1201);
  e.osize = e.nsize;
  j.sink.events(j.sink.ctx, &e, 1);
  dumped(&j, 30 * MS, 0);
  ck_assert_uint_eq(j.join->nmade, 1);
  ck_assert_uint_eq(j.join->made[0].live.bytes, 64);
  joined_close(&j);
}
END_TEST

/* Why what is new is not known: the base was taken behind the dump, outside of
** the recording, or in another process.
*/
START_TEST(test_nobase)
{
  static const struct {
    LpDump base;
    const char *why;
  } of[] = {
      {{.origin = {.id = 4, .recording = 99}}, "before that of the heap dump"},
      {{.origin = {.id = 4, .recording = 98}}, "taken outside of it"},
      {{.origin = {.id = 4}}, "taken outside of it"},
      {{.origin = {.id = 4, .pid = 3}}, "another process"},
      {{.origin = {.id = 4, .process_start = 8}}, "another process"}};
  const LpDumpMark m = {5, 0, 30 * MS};
  Joined j;
  size_t i;
  joined_open(&j, 1200);
  j.r.l.heap->dump.origin.pid = 2;
  j.r.l.heap->dump.origin.process_start = 7;
  ck_assert_int_eq(j.sink.dump(j.sink.ctx, &m), 1);
  for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
    LpBuf why = {0};
    j.replay.base = &of[i].base;
    ck_assert_int_eq(lp_replay_joins(&j.replay, &why), 1);
    ck_assert_int_eq(lp_replay_compares(&j.replay, &why), 0);
    ck_assert_msg(strstr(why.s, of[i].why) != NULL, "%s", why.s);
    lp_buf_free(&why);
  }
  joined_close(&j);
}
END_TEST

/* What was freed and made again belongs to who made it last. */
START_TEST(test_reused)
{
  Joined j;
  const LpKeeper *k;
  joined_open(&j, 1200);
  made(&j, 1200, 32, j.maker[0]);
  freed(&j, 1200, 32);
  j.sink.time(j.sink.ctx, 10 * MS);
  made(&j, 1200, 64, j.maker[1]);
  made(&j, 1201, 48, j.maker[1]); /* The dump has another size. */
  dumped(&j, 30 * MS, 0);
  ck_assert_uint_eq(j.join->found, 4);
  ck_assert_uint_eq(j.join->differs, 1);
  k = keeper(&j, 3);
  ck_assert_uint_eq(k->nmade, 2);
  ck_assert_uint_eq(j.join->made[k->made].site, LP_SITE_BEFORE);
  ck_assert_uint_eq(j.join->made[k->made].live.bytes, 40 + 118 * 64);
  ck_assert_uint_eq(j.join->made[k->made + 1].site, j.maker[1]);
  ck_assert_uint_eq(j.join->made[k->made + 1].live.bytes, 2 * 64);
  ck_assert_uint_eq(j.join->made[k->made + 1].oldest, 20);
  joined_close(&j);
}
END_TEST

/* With events lost, what is not found may have been made in any of them. */
START_TEST(test_lost)
{
  Joined j;
  const LpKeeper *k;
  joined_open(&j, 1200);
  made(&j, 1200, 64, j.maker[0]);
  dumped(&j, 30 * MS, 3);
  ck_assert_uint_eq(j.join->lost, 3);
  k = keeper(&j, 3);
  ck_assert_uint_eq(k->nmade, 2);
  ck_assert_uint_eq(j.join->made[k->made].site, LP_SITE_LOST);
  ck_assert_uint_eq(j.join->made[k->made].live.bytes, 40 + 119 * 64);
  joined_close(&j);
}
END_TEST

/* All blocks of the dump are in one sum: nothing is told twice or left out. */
START_TEST(test_whole)
{
  Joined j;
  uint64_t bytes = 0, objects = 0;
  size_t i;
  joined_open(&j, 1200);
  made(&j, 1000, 64, j.maker[0]);
  dumped(&j, 30 * MS, 0);
  for (i = 0; i < j.join->nmade; i++) {
    bytes += j.join->made[i].live.bytes;
    objects += j.join->made[i].live.n;
  }
  ck_assert_uint_eq(bytes, lp_heap_bytes(j.r.heap));
  ck_assert_uint_eq(objects, lp_heap_objects(j.r.heap));
  joined_close(&j);
}
END_TEST

/* The record of another dump, or another recording, is not joined. */
START_TEST(test_other)
{
  LpMeta m = {.key = {"monotonic", 9}, .tag = LJM_META_UINT, .u = 98};
  LpDumpMark mark = {6, 0, 0};
  LpBuf why = {0};
  Joined j;
  joined_open(&j, 1200);
  ck_assert_int_eq(j.sink.dump(j.sink.ctx, &mark), 0);
  ck_assert(!lp_replay_joins(&j.replay, &why));
  ck_assert_str_eq(why.s, "has no record of the heap dump");
  lp_buf_free(&why);
  j.sink.meta(j.sink.ctx, &m);
  mark.id = 5;
  ck_assert_int_eq(j.sink.dump(j.sink.ctx, &mark), 0);
  ck_assert(!lp_replay_joins(&j.replay, &why));
  ck_assert_str_eq(why.s,
                   "is not the recording that the heap dump was taken in");
  lp_buf_free(&why);
  joined_close(&j);
}
END_TEST

Suite *suite_join(void)
{
  const TTest *tests[] = {test_makers, test_shared, test_new,  test_moved,
                          test_nobase, test_reused, test_lost, test_whole,
                          test_other,  NULL};
  return suite_of("join", tests);
}
