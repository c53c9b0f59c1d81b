/*
** A process whose memory is full of lies: what is read of a live one is changed
** here and there. Names may be wrong then, but nothing else may go wrong, and
** it must not take long.
*/

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live.h"
#include "luasites.h"
#include "remote.h"
#include "suites.h"
#include "vmcheck.h"

static LsRemoteReader *honest;
static uint64_t lies_random;
static unsigned lies_rate; /* One word of so many is changed. */

static uint64_t random_next(void)
{
  lies_random ^= lies_random << 13;
  lies_random ^= lies_random >> 7;
  lies_random ^= lies_random << 17;
  return lies_random;
}

/* A lie that is likely to hurt. */
static uint64_t lie(uint64_t truth)
{
  switch (random_next() % 8) {
  case 0:
    return 0;
  case 1:
    return UINT64_MAX;
  case 2:
    return truth + 8;
  case 3:
    return truth - 4;
  case 4:
    return truth ^ 1ull << random_next() % 64;
  case 5:
    return truth << 32 | truth >> 32;
  case 6:
    return 0x7fffffff7fffffff;
  default:
    return random_next();
  }
}

static int lies_read(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  size_t i;
  if (random_next() % 64 == 0 || honest(pid, addr, buf, n) != 0)
    return -1;
  for (i = 0; i + 8 <= n; i += 8) {
    if (random_next() % lies_rate == 0) {
      uint64_t v;
      memcpy(&v, (char *)buf + i, 8);
      v = lie(v);
      memcpy((char *)buf + i, &v, 8);
    }
  }
  return 0;
}

/* Name all frames, and some that are wild. */
static void name_all(const Live *p, struct ljs_stack *s)
{
  LsLua *lua = ls_lua_open(p->pid);
  LsSite site[64];
  unsigned i, k, n;
  ck_assert_ptr_nonnull(lua);
  for (i = 0; i < s->nframes; i++) {
    struct ljs_frame was = s->frame[i];
    for (k = 0; k < 4; k++) {
      n = ls_lua_sites(lua, &p->vm, s, i, site, k == 1 ? 2 : 64);
      ck_assert_uint_ge(n, 1);
      ck_assert_uint_le(n, k == 1 ? 2 : 64);
      while (n-- > 0) {
        ck_assert_ptr_nonnull(site[n].name);
        ck_assert_uint_ge(strlen(site[n].chunk) + 4096, site[n].chunklen);
      }
      s->frame[i].kind = LJS_FRAME_LUA + k;
      s->frame[i].x = (uint32_t)random_next();
    }
    s->frame[i] = was;
  }
  ls_lua_close(lua);
}

/* Traces on top of the stack, with the check that goes with what is read. */
static void add_traces(const Live *p, struct ljs_stack *s)
{
  const struct ljs_vm *vm = &p->vm;
  unsigned ref = vm->gc64 ? 8 : 4, n;
  uint64_t array = 0, f[5];
  honest(p->pid, p->g + (uint64_t)vm->trace, &array, 8);
  for (n = 1; vm->jit && n <= 6; n++) {
    uint64_t T = 0;
    honest(p->pid, array + n * ref, &T, ref);
    memset(f, 0, sizeof(f));
    honest(p->pid, T + vm->t_mcode, &f[0], 8);
    honest(p->pid, T + vm->t_szmcode, &f[1], 4);
    honest(p->pid, T + vm->t_startpt, &f[2], ref);
    honest(p->pid, T + vm->t_startpc, &f[3], ref);
    honest(p->pid, T + vm->t_nins, &f[4], 4);
    s->frame[s->nframes++] = (struct ljs_frame){
        .kind = LJS_FRAME_TRACE,
        .addr = T,
        .fn = s->frame[2].fn,
        .x = 40 * n,
        .check = LJS_CHECK(
            ljs_check_trace(f[0], (uint32_t)f[1], f[2], f[3], (uint32_t)f[4]))};
    s->frame[s->nframes++] =
        (struct ljs_frame){.kind = LJS_FRAME_JIT, .addr = f[0] + 40 * n};
  }
}

static void run(const char *program, const char *how)
{
  static struct ljs_stack s;
  const char *argv[] = {LUAJIT, program, how, NULL};
  unsigned round;
  time_t began = time(NULL);
  char why[LS_WHY];
  Live p;
  live_start(&p, argv, NULL);
  ck_assert_int_eq(live_wait(&p), 1);
  live_find(&p);
  live_walk(&p, &s);
  honest = ls_remote_reader;
  add_traces(&p, &s);
  ls_remote_reader = lies_read;
  for (round = 0; round < 300; round++) {
    lies_random = 88172645463325252ull + round * 0x9e3779b97f4a7c15ull;
    lies_rate = round % 3 == 0 ? 1000 : round % 3 == 1 ? 100 : 8;
    name_all(&p, &s);
    ls_vm_check(p.pid, &p.vm, p.l, p.g, why);
  }
  ls_remote_reader = honest;
  ck_assert_msg(time(NULL) - began < 60, "it takes too long");
  live_end(&p);
}

START_TEST(harmless)
{
  run(SOURCE "/traces.lua", NULL);
}
END_TEST

/* Functions that have no names but by closures and calls. */
START_TEST(nameless)
{
  run(SOURCE "/names.lua", "compiled");
}
END_TEST

Suite *suite_lies(void)
{
  const TTest *tests[] = {harmless, nameless, NULL};
  return suite_of("lies", tests);
}
