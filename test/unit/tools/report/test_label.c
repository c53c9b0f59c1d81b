/*
** What sites are called.
*/

#include <string.h>

#include "label.h"
#include "run.h"
#include "suites.h"

#define TEN   "0123456789"
#define FIFTY TEN TEN TEN TEN TEN

/* The label of a Lua function's line must be WANT. */
static void lua(const char *chunk, size_t n, uint64_t first, uint64_t line,
                unsigned flags, const char *want)
{
  LpProfile *prof = lp_profile_new();
  LpFunc f = {.kind = LP_FUNC_LUA, .first = first, .chunk = {chunk, n}};
  LpSite s = {.line = line, .flags = flags};
  LpBuf b = {0};
  s.func = lp_profile_func(prof, &f);
  lp_label_site(&b, prof, lp_profile_site(prof, &s));
  ck_assert_str_eq(b.s, want);
  lp_buf_free(&b);
  lp_profile_free(prof);
}

#define LUA(chunk, first, line, flags, want)                                   \
  lua(chunk, sizeof(chunk) - 1, first, line, flags, want)

/* The same of a function of stripped code, of a recording that says of its hash
** what FLAGS are.
*/
static void bare(unsigned flags, uint64_t first, const char *want)
{
  LpProfile *prof = lp_profile_new();
  LpFunc f = {.kind = LP_FUNC_LUA,
              .flags = flags,
              .first = first,
              .chunk = {"@app.bc", 7},
              .hash = 0xa1b2c3};
  LpSite s = {.func = lp_profile_func(prof, &f)};
  LpBuf b = {0};
  lp_label_whole(&b, prof, lp_profile_site(prof, &s));
  ck_assert_str_eq(b.s, want);
  lp_buf_free(&b);
  lp_profile_free(prof);
}

/* Recordings that do not tell such functions apart are shown as ever. */
START_TEST(test_bare)
{
  bare(LJM_PROTO_STRIPPED | LJM_PROTO_BYHASH, 0, "@app.bc:0#00a1b2c3, line ?");
  bare(LJM_PROTO_STRIPPED, 0, "@app.bc:0, line ?");
  bare(0, 0, "@app.bc:0, line ?");
  bare(LJM_PROTO_BYHASH, 7, "@app.bc:7, line ?");
}
END_TEST

START_TEST(test_lua)
{
  LUA("@app.lua", 3, 5, 0, "@app.lua:3, line 5");
  LUA("@app.lua", 0, 5, LJM_SITE_APPROX, "@app.lua:0, ~line 5");
  LUA("=late", 0, 1, 0, "late:0, line 1");
  LUA("=", 0, 1, 0, ":0, line 1");
  LUA("@", 0, 1, 0, "@:0, line 1");
  LUA("", 0, 1, 0, "[string \"\"]:0, line 1");
  LUA("return 1", 0, 1, 0, "[string \"return 1\"]:0, line 1");
  LUA("a\nb", 0, 2, 0, "[string \"a...\"]:0, line 2");
  LUA("\n", 0, 2, 0, "[string \"...\"]:0, line 2");
  LUA("@a\nb\x1b\x7f\0c", 1, 2, 0, "@a\\nb\\x1b\\x7f\\x00c:1, line 2");
  LUA("@\xc3\xa4.lua", 1, 2, 0, "@\xc3\xa4.lua:1, line 2");
  LUA("@\xc2\x9b[31m\xc2\xa0\xc2", 1, 2, 0,
      "@\\xc2\\x9b[31m\xc2\xa0\xc2:1, line 2");
  /* NOLINTNEXTLINE(misc-misleading-bidirectional): that is what is hidden. */
  LUA("@\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xef\xbb\xbf\xe2\x80\xa8z", 1, 2, 0,
      "@\\u202e\\u2066\\u061c\\ufeff\\u2028z:1, line 2");
  LUA("@\xe2\x80\xb0\xe2\x80\x90\xd8\x9b\xe2N.\xe2\x80", 1, 2, 0,
      "@\xe2\x80\xb0\xe2\x80\x90\xd8\x9b\xe2N.\xe2\\x80:1, line 2");
  /* Bytes that begin no character: some control terminals without UTF-8. */
  LUA("@\x9b[1m\xe4\xe2\x9b\xf0\x9f\x92\xa9", 1, 2, 0,
      "@\\x9b[1m\xe4\xe2\\x9b\xf0\x9f\x92\xa9:1, line 2");
  LUA("@app.lua", 3, LP_LINE_NONE, 0, "@app.lua:3, line ?");
  LUA("len", LP_LINE_NONE, LP_LINE_NONE, 0, "[builtin:len], line ?");
  LUA("len", 0xffffffff, 7, 0, "[builtin:len], line 7");
}
END_TEST

/* 59 characters fit, as in lua_Debug.short_src. */
START_TEST(test_long)
{
  LUA("@" FIFTY "12345.lua", 1, 2, 0, "@" FIFTY "12345.lua:1, line 2");
  LUA("@x" FIFTY "12345.lua", 1, 2, 0,
      "@...3456789" TEN TEN TEN TEN "12345.lua:1, line 2");
  LUA("=" FIFTY "123456789", 1, 2, 0, FIFTY "123456789:1, line 2");
  LUA("=" FIFTY "123456789x", 1, 2, 0, FIFTY "123456789:1, line 2");
  LUA(TEN TEN TEN TEN "12345678", 1, 2, 0,
      "[string \"" TEN TEN TEN TEN "12345678\"]:1, line 2");
  LUA(TEN TEN TEN TEN "123456789", 1, 2, 0,
      "[string \"" TEN TEN TEN TEN "12345...\"]:1, line 2");
  LUA(TEN TEN TEN TEN "1234567\nx", 1, 2, 0,
      "[string \"" TEN TEN TEN TEN "12345...\"]:1, line 2");
}
END_TEST

/* The label of a function that is not Lua. */
static void other(LpProfile *prof, const LpFunc *f, const char *want)
{
  LpSite s = {.func = lp_profile_func(prof, f)};
  LpBuf b = {0};
  lp_label_site(&b, prof, lp_profile_site(prof, &s));
  ck_assert_str_eq(b.s, want);
  lp_buf_free(&b);
}

#define STR(s)                                                                 \
  {                                                                            \
    s, sizeof(s) - 1                                                           \
  }

START_TEST(test_other)
{
  LpProfile *prof = lp_profile_new();
  LpFunc lua = {.kind = LP_FUNC_LUA, .first = 3, .chunk = STR("@app.lua")};
  LpFunc c = {.kind = LP_FUNC_C,
              .offset = 0x1230,
              .chunk = STR("/l/cjson.so"),
              .name = STR("lua_cjson_new")};
  LpFunc t = {.kind = LP_FUNC_TRACE, .traceno = 3, .line = 9, .addr = 0xabc};
  other(prof, &c, "[C] lua_cjson_new (cjson.so)");
  c.name.n = 0;
  other(prof, &c, "[C] 0x1230 (cjson.so)");
  c.chunk = (LpStr)STR("cjson.so");
  other(prof, &c, "[C] 0x1230 (cjson.so)");
  c.chunk.n = 0;
  c.name = (LpStr)STR("f");
  other(prof, &c, "[C] f");
  c = (LpFunc){.kind = LP_FUNC_C_ADDR, .addr = 0x7f00};
  other(prof, &c, "[C] 0x7f00");
  c = (LpFunc){.kind = LP_FUNC_LUA_ADDR, .addr = 0x7f00};
  other(prof, &c, "@?:0x7f00, line 0");
  other(prof, &t, "TRACE [3] 0xabc");
  t.start = lp_profile_func(prof, &lua);
  other(prof, &t, "TRACE [3] started at @app.lua:3, line 9");
  lp_profile_free(prof);
}
END_TEST

Suite *suite_label(void)
{
  const TTest *tests[] = {test_lua, test_bare, test_long, test_other, NULL};
  return suite_of("label", tests);
}
