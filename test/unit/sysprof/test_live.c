/*
** Functions and lines of a live process: a program stops at many places, and
** tells its stack by debug.getinfo just before. What is seen from outside must
** be the same.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "luaclosure.h"
#include "luactype.h"
#include "luasites.h"
#include "resolve.h"
#include "suites.h"
#include "vmcheck.h"

/* A site as the program would have told it. */
static void site_text(const LsSite *s, char *text, size_t n)
{
  if (s->kind == LS_BUILTIN)
    snprintf(text, n, "C");
  else
    snprintf(text, n, "L\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s", s->chunk, s->first,
             s->line, s->name);
}

/* What the program tells is what getinfo knows; a function of a module has its
** name only by the table that it is in, unless its definition is still there in
** free memory; and stripped code has no lines.
*/
static int site_agrees(const char *told, const LsSite *s)
{
  char text[8192];
  site_text(s, text, sizeof(text));
  if (strcmp(told, text) == 0)
    return 1;
  if (strncmp(told, "L\t@module.lua\t2\t3\t", 18) == 0)
    return strcmp(text, "L\t@module.lua\t2\t3\ta.module.run") == 0 ||
           strcmp(text, "L\t@module.lua\t2\t3\tmod.run") == 0;
  if (strncmp(told, "L\t@module.lua\t6\t7\t", 18) == 0)
    return strcmp(text, "L\t@module.lua\t6\t7\ta.module.sub.go") == 0 ||
           strcmp(text, "L\t@module.lua\t6\t7\tsub.go") == 0;
  if (strcmp(told, "L\t=string\t2\t3\t") == 0)
    return strcmp(text, "L\t=string\t2\t3\tinner") == 0;
  if (strncmp(told, "L\t=lines\t", 9) == 0 && s->name[0] == 'f') {
    ck_assert_str_eq(s->name, "far");
    return strncmp(told, text, strlen(text) - 3) == 0;
  }
  return 0;
}

/* Read what the program tells of one stop. Returns the number of lines. */
static unsigned read_stop(Live *p, char told[][8192], unsigned max)
{
  char line[8192];
  unsigned n = 0;
  while (fgets(line, sizeof(line), p->out)) {
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "STOP") == 0)
      n = 0;
    else if (strcmp(line, "END") == 0)
      return n;
    else if (strcmp(line, "DONE") == 0)
      return 0;
    else if (n < max)
      memcpy(told[n++], line, sizeof(line));
  }
  ck_abort_msg("the program told no more");
}

/* Compare one stop. The first frame is that of os.execute. */
static void check_stop(Live *p, LsLua *lua, char told[][8192], unsigned n)
{
  static struct ljs_stack s;
  LsSite site;
  char why[LS_WHY], text[8192];
  unsigned i;
  live_find(p);
  ck_assert_msg(ls_vm_check(p->pid, &p->vm, p->l, p->g, why) == 1, "%s", why);
  live_walk(p, &s);
  ck_assert_uint_eq(ls_lua_sites(lua, &p->vm, &s, 0, &site, 1), 1);
  ck_assert_int_eq(site.kind, LS_BUILTIN);
  ck_assert_str_eq(site.name, "os.execute");
  for (i = 1; i < s.nframes && i <= n; i++) {
    ck_assert_uint_eq(ls_lua_sites(lua, &p->vm, &s, i, &site, 1), 1);
    site_text(&site, text, sizeof(text));
    ck_assert_msg(site_agrees(told[i - 1], &site), "frame %u:\n%s\nbut\n%s", i,
                  told[i - 1], text);
  }
  ck_assert_uint_eq(s.nframes - 1, n);
}

/* Run stops.lua to its end. */
static void run_stops(const char *mode)
{
  static char told[64][8192];
  const char *argv[] = {LUAJIT, SOURCE "/stops.lua", mode, NULL};
  unsigned n, stops = 0;
  LsLua *lua;
  Live p;
  live_start(&p, argv, NULL);
  lua = ls_lua_open(p.pid);
  while ((n = read_stop(&p, told, 64)) > 0) {
    ck_assert_int_eq(live_wait(&p), 1);
    check_stop(&p, lua, told, n);
    stops++;
    live_continue(&p);
  }
  ck_assert_uint_eq(stops, 22);
  ck_assert_int_eq(live_wait(&p), 0);
  ls_lua_close(lua);
  fclose(p.out);
}

START_TEST(stops_interpreted)
{
  run_stops("nojit");
}
END_TEST

START_TEST(stops_compiled)
{
  run_stops("jit");
}
END_TEST

/* -- Definitions ---------------------------------------------------------- */

/* A function is defined with the same hash, lines and name as the recorder of
** the process itself defines it: then the two can be joined.
*/
START_TEST(definitions)
{
  static struct ljs_stack s;
  const char *argv[] = {LUAJIT, SOURCE "/hash.lua", SOURCE, NULL};
  char told[16][256];
  unsigned n = 0, i, k, same = 0;
  LsLua *lua;
  Live p;
  live_start(&p, argv, NULL);
  while (n < 16 && fgets(told[n], sizeof(told[n]), p.out) &&
         strcmp(told[n], "END\n") != 0)
    n++;
  ck_assert_int_eq(live_wait(&p), 1);
  live_find(&p);
  live_walk(&p, &s);
  lua = ls_lua_open(p.pid);
  for (i = 0; i < s.nframes; i++) {
    char text[256];
    LsSite site;
    ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &s, i, &site, 1), 1);
    snprintf(text, sizeof(text), "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\n",
             site.first, site.hash, site.lines, site.name);
    for (k = 0; k < n; k++)
      if (site.kind == LS_LUA && strtoull(told[k], NULL, 10) == site.first) {
        ck_assert_str_eq(text, told[k]);
        same++;
      }
  }
  if (n > 0) /* It has a recorder. */
    ck_assert_uint_ge(same, 2);
  ls_lua_close(lua);
  live_end(&p);
}
END_TEST

/* A stack with it is not complete: that is the reason if there is no other. */
static void check_lost(const LsSite *s)
{
  LsResolver r = {.sites = ls_sitetable_open()};
  LsSite whole = *s;
  uint32_t site[2];
  whole.flags = 0;
  ck_assert(s->flags & LS_LOST);
  ck_assert_str_eq(s->chunk, "=(lost)");
  site[0] = ls_sitetable_add(r.sites, &whole);
  site[1] = ls_sitetable_add(r.sites, s);
  ck_assert_uint_eq(ls_resolve_cut(&r, LJS_CUT_NOT, site, 1), LJS_CUT_NOT);
  ck_assert_uint_eq(ls_resolve_cut(&r, LJS_CUT_NOT, site, 2), LJS_CUT_LOST);
  ck_assert_uint_eq(ls_resolve_cut(&r, LJS_CUT_VM, site, 2), LJS_CUT_VM);
  ls_sitetable_close(r.sites);
}

/* What is not there any more is lost, unless it was met; without a PC the line
** is approximate.
*/
START_TEST(lost)
{
  static struct ljs_stack s;
  static char told[64][8192];
  const char *argv[] = {LUAJIT, SOURCE "/stops.lua", NULL};
  struct ljs_frame fr;
  LsSite site;
  LsLua *lua, *later;
  Live p;
  live_start(&p, argv, NULL);
  ck_assert_uint_gt(read_stop(&p, told, 64), 0);
  ck_assert_int_eq(live_wait(&p), 1);
  live_find(&p);
  live_walk(&p, &s);
  lua = ls_lua_open(p.pid);
  later = ls_lua_open(p.pid);
  fr = s.frame[1]; /* That of stop(). */
  s.frame[1].check ^= 1;
  ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &s, 1, &site, 1), 1);
  check_lost(&site);
  s.frame[1] = fr;
  s.frame[1].flags |= LJS_FLAG_NOPC;
  ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &s, 1, &site, 1), 1);
  ck_assert_uint_gt(site.line, site.first); /* A guess. */
  ck_assert(site.flags & LS_APPROX);
  s.frame[1].x = ~0u;
  ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &s, 1, &site, 1), 1);
  ck_assert_str_eq(site.name, "stop");
  ck_assert_uint_eq(site.line, site.first);
  ck_assert(site.flags & LS_APPROX);
  ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &s, 1, &site, 0), 0);
  live_end(&p);
  ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &s, 1, &site, 1), 1);
  ck_assert_str_eq(site.name, "stop");
  ck_assert_uint_eq(ls_lua_sites(later, &p.vm, &s, 1, &site, 1), 1);
  ck_assert(site.flags & LS_LOST);
  ls_lua_close(lua);
  ls_lua_close(later);
}
END_TEST

/* -- Types of the FFI ------------------------------------------------------ */

typedef struct Met {
  LsView *v;
  unsigned lua, others, tables;
  uint64_t lines; /* Bits of those where Lua's begin. */
} Met;

static void met_function(void *ctx, LsValue value)
{
  Met *m = ctx;
  uint64_t check, pt = ls_closure_proto(m->v, value.addr, &check);
  if (value.type == LS_GCT_TAB) {
    m->tables++;
    return;
  }
  if (!pt) {
    m->others++;
    return;
  }
  m->lua++;
  m->lines |=
      1ull << ls_remote_uint(m->v->mem, pt + m->v->vm.pt_firstline, 4) % 64;
}

/* Find the metamethods of a process that has stopped itself. */
static bool met_all(const char *option, Met *m)
{
  static LsView v;
  static LsRemote mem;
  const char *argv[] = {LUAJIT, SOURCE "/ctypes.lua", option, NULL};
  char text[64] = "";
  bool all;
  Live p;
  live_start(&p, argv, NULL);
  while (strcmp(text, "END\n") != 0)
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), p.out));
  ck_assert_int_eq(live_wait(&p), 1);
  live_find(&p);
  mem = (LsRemote){.pid = p.pid};
  ls_view_init(&v, &mem, &p.vm);
  *m = (Met){.v = &v};
  all = ls_ctype_metamethods(&v, p.g, met_function, m);
  ck_assert(!ls_ctype_metamethods(&v, p.l, met_function, m));
  ck_assert(!ls_ctype_metamethods(&v, 0, met_function, m));
  live_end(&p);
  return all;
}

START_TEST(metamethods)
{
  Met m;
  ck_assert(met_all(NULL, &m));
  ck_assert_uint_eq(m.lua, 2);
  ck_assert_uint_eq(m.others, 1);
  ck_assert_uint_eq(m.tables, 1);
  ck_assert_uint_eq(m.lines, 1 << 7 | 1 << 15);
  ck_assert(met_all("none", &m));
  ck_assert_uint_eq(m.lua + m.others + m.tables, 0);
}
END_TEST

Suite *suite_live(void)
{
  const TTest *tests[] = {stops_interpreted, stops_compiled, lost,
                          definitions,       metamethods,    NULL};
  return suite_of("live", tests);
}
