/*
** Functions and lines of compiled code: every byte of every trace of a live
** process is asked for.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "luasites.h"
#include "remote.h"
#include "suites.h"
#include "vmlayout.h"

/* Who can be below whom. */
static const char *const calls[][2] = {
    {"M.chase", "body"},
    {"M.chase", "pcall"},
    {"pcall", "body"},
    {"recurse", "body"},
    {"recurse", "recurse"},
    {"vararg", "body"},
    {"__add", "body"},
    {"__index", "body"},
    {"step", "stitched"},
    {"os.clock", "stitched"},
    {"step", "produce"},
    {"coroutine.yield", "produce"},
    {"coroutine.resume", "switching"},
};
#define NCALLS (sizeof(calls) / sizeof(calls[0]))

/* What was seen. */
typedef struct Seen {
  unsigned called[NCALLS];
  unsigned sites, lost, unsure;
} Seen;

static uint64_t number(const Live *p, uint64_t addr, size_t n)
{
  uint64_t v = 0;
  ck_assert_int_eq(ls_remote_read(p->pid, addr, &v, n), 0);
  return v;
}

/* The frame of an offset in a trace. */
static struct ljs_frame frame_of(const Live *p, uint64_t T, uint32_t ofs)
{
  const struct ljs_vm *vm = &p->vm;
  unsigned ref = vm->gc64 ? 8 : 4;
  uint64_t h = ljs_check_trace(
      number(p, T + vm->t_mcode, 8), (uint32_t)number(p, T + vm->t_szmcode, 4),
      number(p, T + vm->t_startpt, ref), number(p, T + vm->t_startpc, ref),
      (uint32_t)number(p, T + vm->t_nins, 4));
  return (struct ljs_frame){
      .addr = T, .x = ofs, .kind = LJS_FRAME_TRACE, .check = LJS_CHECK(h)};
}

/* A site that can be. */
static void check_site(const LsSite *s)
{
  if (s->kind == LS_BUILTIN) {
    ck_assert_msg(strcmp(s->name, "pcall") == 0 ||
                      strcmp(s->name, "os.clock") == 0 ||
                      strncmp(s->name, "coroutine.", 10) == 0,
                  "the builtin %s", s->name);
    return;
  }
  ck_assert_int_eq(s->kind, LS_LUA);
  ck_assert(s->flags & LS_TRACE);
  ck_assert_str_eq(s->chunk, "@" SOURCE "/traces.lua");
  ck_assert_uint_ge(s->line, s->first);
  if (s->first > 0)
    ck_assert_uint_le(s->line, s->first + s->lines);
}

/* The sites of one place. */
static void check_sites(const LsSite *s, unsigned n, Seen *seen)
{
  unsigned i, k;
  ck_assert_uint_ge(n, 1);
  seen->sites++;
  for (i = 0; i < n; i++) {
    if (s[i].flags & LS_LOST) {
      seen->lost++;
      return;
    }
  }
  if (s[0].flags & LS_UNSURE)
    seen->unsure++;
  for (i = 0; i < n; i++)
    check_site(&s[i]);
  for (i = 0; i + 1 < n; i++) {
    for (k = 0; k < NCALLS; k++)
      if (strcmp(calls[k][0], s[i].name) == 0 &&
          strcmp(calls[k][1], s[i + 1].name) == 0)
        break;
    ck_assert_msg(k < NCALLS, "%s called %s", s[i + 1].name, s[i].name);
    seen->called[k]++;
  }
}

/* The same place by its address must be the same. */
static void check_bypc(const Live *p, LsLua *lua, struct ljs_stack *stack,
                       const LsSite *s, unsigned n, uint64_t pc)
{
  LsSite other[64];
  struct ljs_frame was = stack->frame[0];
  unsigned i;
  stack->frame[0] = (struct ljs_frame){.addr = pc, .kind = LJS_FRAME_JIT};
  ck_assert_uint_eq(ls_lua_sites(lua, &p->vm, stack, 0, other, 64), n);
  for (i = 0; i < n; i++) {
    ck_assert_str_eq(other[i].name, s[i].name);
    ck_assert_uint_eq(other[i].line, s[i].line);
  }
  stack->frame[0] = was;
}

/* All places of one trace. */
static void check_trace(const Live *p, LsLua *lua, struct ljs_stack *stack,
                        uint64_t T, Seen *seen)
{
  uint64_t mcode = number(p, T + p->vm.t_mcode, 8);
  uint32_t size = (uint32_t)number(p, T + p->vm.t_szmcode, 4), ofs;
  for (ofs = 0; ofs < size; ofs++) {
    LsSite s[64];
    unsigned n;
    stack->frame[0] = frame_of(p, T, ofs);
    n = ls_lua_sites(lua, &p->vm, stack, 0, s, 64);
    check_sites(s, n, seen);
    if (ofs % 16 == 0)
      check_bypc(p, lua, stack, s, n, mcode + ofs);
  }
}

/* Start a program; its stack has a frame for a trace on top. */
static LsLua *start_program(const char *name, Live *p, struct ljs_stack *stack)
{
  const char *other = getenv("TRACES_LUAJIT"); /* See test/old/run. */
  const char *argv[] = {other ? other : LUAJIT, name, NULL};
  live_start(p, argv, NULL);
  ck_assert_int_eq(live_wait(p), 1);
  live_find(p);
  live_walk(p, stack);
  return ls_lua_open(p->pid);
}

static LsLua *start(Live *p, struct ljs_stack *stack)
{
  return start_program(SOURCE "/traces.lua", p, stack);
}

/* Calls CHECK with each trace of the VM. */
static void
each_trace(const Live *p, LsLua *lua, struct ljs_stack *stack, Seen *seen,
           void (*check)(const Live *p, LsLua *lua, struct ljs_stack *stack,
                         uint64_t T, Seen *seen))
{
  uint64_t array = number(p, p->g + (uint64_t)p->vm.trace, 8);
  uint32_t size = (uint32_t)number(p, p->g + (uint64_t)p->vm.trace + 12, 4);
  unsigned ref = p->vm.gc64 ? 8 : 4;
  uint32_t n;
  for (n = 1; n < size; n++) {
    uint64_t T = number(p, array + (uint64_t)n * ref, ref);
    if (T)
      check(p, lua, stack, T, seen);
  }
}

/* All places of all traces. */
static void check_traces(const Live *p, LsLua *lua, struct ljs_stack *stack,
                         Seen *seen)
{
  each_trace(p, lua, stack, seen, check_trace);
}

START_TEST(everywhere)
{
  static struct ljs_stack stack;
  Seen seen = {0};
  uint32_t k;
  Live p;
  LsLua *lua = start(&p, &stack);
  if (p.vm.jit) {
    check_traces(&p, lua, &stack, &seen);
    for (k = 0; k < NCALLS; k++)
      ck_assert_msg(seen.called[k] > 0, "%s never called %s", calls[k][1],
                    calls[k][0]);
    ck_assert_uint_eq(seen.lost, 0);
    /* Most functions are inlined here; see test/lines for what is right. */
    ck_assert_uint_lt(seen.unsure * 4, seen.sites * 3);
  }
  ls_lua_close(lua);
  live_end(&p);
}
END_TEST

/* All places of the loop that a trace has, if it has one. */
static void check_loop(const Live *p, LsLua *lua, struct ljs_stack *stack,
                       uint64_t T, Seen *seen)
{
  uint32_t size = (uint32_t)number(p, T + p->vm.t_szmcode, 4);
  uint32_t mcloop = (uint32_t)number(p, T + ls_vm_layout(&p->vm)->t_mcloop, 4);
  uint32_t ofs;
  uint64_t line = 0;
  if (mcloop == 0 ||
      number(p, T + p->vm.t_link, 2) != number(p, T + p->vm.t_traceno, 2))
    return;
  seen->sites++;
  for (ofs = mcloop; ofs < size; ofs++) {
    LsSite s;
    stack->frame[0] = frame_of(p, T, ofs);
    ck_assert_uint_eq(ls_lua_sites(lua, &p->vm, stack, 0, &s, 1), 1);
    if (line == 0)
      line = s.line;
    ck_assert_msg(s.line == line && !(s.flags & LS_APPROX),
                  "at %u of %u: line %u%s, not %u", ofs, size, (unsigned)s.line,
                  s.flags & LS_APPROX ? ", roughly" : "", (unsigned)line);
  }
}

/* A loop of one line has all of its code on that line. */
START_TEST(loops)
{
  static struct ljs_stack stack;
  Seen seen = {0};
  Live p;
  LsLua *lua = start_program(SOURCE "/loops.lua", &p, &stack);
  if (p.vm.jit) {
    each_trace(&p, lua, &stack, &seen, check_loop);
    ck_assert_uint_ge(seen.sites, 3);
  }
  ls_lua_close(lua);
  live_end(&p);
}
END_TEST

/* Traces that come where others were, at once. */
START_TEST(anew)
{
  static struct ljs_stack stack;
  Seen seen = {0};
  Live p;
  LsLua *lua = start(&p, &stack);
  if (p.vm.jit) {
    LsSite s;
    stack.frame[0] = (struct ljs_frame){.addr = 1, .kind = LJS_FRAME_JIT};
    ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &stack, 0, &s, 1), 1);
    ck_assert_str_eq(s.name, "(JIT)"); /* But all traces were listed. */
    live_continue(&p);
    ck_assert_int_eq(live_wait(&p), 1);
    check_traces(&p, lua, &stack, &seen);
    ck_assert_uint_gt(seen.sites, 0);
  }
  ls_lua_close(lua);
  live_end(&p);
}
END_TEST

/* A trace that is gone is lost, but one that was met is still known. */
START_TEST(gone)
{
  static struct ljs_stack stack;
  LsSite s[64], t[64];
  Live p;
  LsLua *lua = start(&p, &stack);
  if (p.vm.jit) {
    unsigned ref = p.vm.gc64 ? 8 : 4, n;
    uint64_t array = number(&p, p.g + (uint64_t)p.vm.trace, 8);
    struct ljs_frame fr = frame_of(&p, number(&p, array + ref, ref), 20);
    stack.frame[0] = fr;
    stack.frame[0].check ^= 1;
    ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &stack, 0, s, 64), 1);
    ck_assert(s[0].flags & LS_LOST);
    stack.frame[0] = fr;
    n = ls_lua_sites(lua, &p.vm, &stack, 0, s, 64);
    ck_assert_str_ne(s[0].chunk, "");
    live_end(&p);
    ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &stack, 0, t, 64), n);
    ck_assert_str_eq(s[0].chunk, t[0].chunk);
    ck_assert_uint_eq(s[0].line, t[0].line);
  } else {
    live_end(&p);
  }
  ls_lua_close(lua);
}
END_TEST

Suite *suite_traces(void)
{
  const TTest *tests[] = {everywhere, loops, anew, gone, NULL};
  return suite_of("traces", tests);
}
