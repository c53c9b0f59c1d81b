/*
** The environment in which a program records its memory.
**
** A LuaJIT with the recorder reads LJPROF. Into others comes memprof.so: by
** LUA_INIT where the program reads it, and by a library that is preloaded where
** LuaJIT is a shared library. Scripts and module paths stay as they are.
*/

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "run.h"

/* -- memprof.so ----------------------------------------------------------- */

/* Sets *B to the file that matches a pattern, if there is one. */
static int find_file(LpBuf *b, const char *pattern)
{
  glob_t g;
  if (glob(pattern, 0, NULL, &g))
    return 0;
  lp_buf_puts(b, g.gl_pathv[0]);
  globfree(&g);
  return 1;
}

/* Finds the module: beside ljprof, or where Debian's LuaJITs look. */
static int find_module(LpBuf *b)
{
  static const char *const beside[] = {"lib/lua/5.1/memprof.so",
                                       "lib/*/lua/5.1/memprof.so"};
  static const char *const else_[] = {"/usr/local/lib/lua/5.1/memprof.so",
                                      "/usr/lib/*-linux-gnu/lua/5.1/memprof.so",
                                      "/usr/lib/lua/5.1/memprof.so"};
  char self[PATH_MAX], *slash;
  ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
  size_t i;
  self[n > 0 ? n : 0] = '\0';
  for (i = 0; i < 2 && (slash = strrchr(self, '/')) != NULL; i++)
    *slash = '\0'; /* Of .../bin/ljprof. */
  for (i = 0; *self && i < sizeof(beside) / sizeof(*beside); i++) {
    char pattern[PATH_MAX + 32];
    snprintf(pattern, sizeof(pattern), "%s/%s", self, beside[i]);
    if (find_file(b, pattern))
      return 1;
  }
  for (i = 0; i < sizeof(else_) / sizeof(*else_); i++)
    if (find_file(b, else_[i]))
      return 1;
  return 0;
}

/* Finds what is preloaded: beside the module. */
static int find_preload(const LpBuf *module, LpBuf *b)
{
  lp_buf_add(b, module->s, module->n - 3); /* .so */
  lp_buf_puts(b, "/preload.so");
  if (access(b->s, R_OK) == 0 && !strpbrk(b->s, " :"))
    return 1;
  lp_buf_free(b);
  return 0;
}

/* -- Choosing ------------------------------------------------------------- */

static int leave_out(FtRun *r, const char *why)
{
  ft_fail("memory is left out: %s", why);
  r->memory = 0;
  return 0;
}

void ft_environment_choose(FtRun *r, LpBuf *how)
{
  FtHostKind kind = r->host.kind;
  LpBuf why = {0};
  if (!r->memory)
    return;
  if (kind == FT_HOST_BUILTIN) {
    lp_buf_puts(how, "the recorder built into its LuaJIT");
    return;
  }
  if (kind == FT_HOST_STATIC) {
    lp_buf_printf(&why,
                  "%s has a LuaJIT of its own without the recorder, and reads "
                  "no LUA_INIT; its script may call "
                  "require(\"memprof\").start(\"app.ljm\"), see "
                  "stock-luajit.md",
                  r->host.inner);
    leave_out(r, why.s);
  } else if (!find_module(&r->module) && kind == FT_HOST_OTHER) {
    lp_buf_puts(how, "LJPROF, if its LuaJIT has the recorder built in");
  } else if (!r->module.n) {
    leave_out(r, "there is no memprof.so beside ljprof or in "
                 "/usr/lib/*/lua/5.1; Debian package ljprof-memprof has it");
  } else if (kind == FT_HOST_INIT) {
    lp_buf_puts(how, "memprof.so by LUA_INIT");
  } else if (r->host.asan) {
    lp_buf_puts(how, "memprof.so by LUA_INIT only, because of "
                     "AddressSanitizer");
  } else if (find_preload(&r->module, &r->preload)) {
    lp_buf_puts(how, kind == FT_HOST_SHARED
                         ? "memprof.so, preloaded"
                         : "LJPROF, LUA_INIT or memprof.so preloaded, whatever "
                           "its LuaJIT takes");
  } else if (kind == FT_HOST_SHARED) {
    leave_out(r, "there is no memprof/preload.so beside memprof.so, or its "
                 "path has a blank or a colon");
  } else {
    lp_buf_puts(how, "LJPROF or LUA_INIT, whatever its LuaJIT takes");
  }
  lp_buf_free(&why);
}

/* -- Setting -------------------------------------------------------------- */

/* Adds a string as Lua has it. No path has the end of this bracket. */
static void quote(LpBuf *b, const char *s)
{
  lp_buf_printf(b, "[====[%s]====]", s);
}

/* LUA_INIT: first the module in a LuaJIT that does not record yet, then what
** the user has there, a file or code.
*/
static void set_init(const FtRun *r)
{
  const char *own = getenv("LUA_INIT");
  LpBuf b = {0};
  lp_buf_puts(&b, "if jit and package and not(misc and misc.memprof)and not "
                  "package.loaded['memprof.auto']then "
                  "local f=package.loadlib(");
  quote(&b, r->module.s);
  lp_buf_puts(&b, ",'luaopen_memprof_auto')"
                  "if f then package.loaded['memprof.auto']=true f()end end ");
  if (own && *own == '@') {
    lp_buf_puts(&b, "dofile(");
    quote(&b, own + 1);
    lp_buf_puts(&b, ")");
  } else if (own) {
    lp_buf_puts(&b, own);
  }
  setenv("LUA_INIT", b.s, 1);
  lp_buf_free(&b);
}

static void set_preload(const FtRun *r)
{
  const char *own = getenv("LD_PRELOAD");
  LpBuf b = {0};
  if (own && *own)
    lp_buf_printf(&b, "%s:", own);
  lp_buf_puts(&b, r->preload.s);
  setenv("LD_PRELOAD", b.s, 1);
  lp_buf_free(&b);
}

void ft_environment_set(const FtRun *r)
{
  LpBuf b = {0};
  if (!r->memory)
    return;
  lp_buf_printf(&b, "memprof:%s/memory-%%p.ljm,stack=%u,follow_fork,tail",
                r->place.whole.s, r->stack);
  if (r->sample)
    lp_buf_printf(&b, ",sample=%s", r->sample);
  setenv("LJPROF", b.s, 1);
  if (r->module.n && r->host.kind != FT_HOST_SHARED)
    set_init(r);
  if (r->preload.n)
    set_preload(r);
  lp_buf_free(&b);
}

void ft_environment_explain(const FtRun *r)
{
  const char *name = r->host.inner;
  switch (r->host.kind) {
  case FT_HOST_OTHER:
    ft_fail("no memory was recorded: %s has started no LuaJIT that could be, "
            "unless a line above says more; a LuaJIT inside of a program takes "
            "require(\"memprof\").start(\"app.ljm\") in its script",
            name);
    break;
  case FT_HOST_INIT:
    ft_fail("no memory was recorded: %s has run no Lua, does not read LUA_INIT "
            "(luajit -E), or said above why not",
            name);
    break;
  default:
    ft_fail("no memory was recorded: %s has opened no Lua libraries, or said "
            "above why not",
            name);
  }
}
