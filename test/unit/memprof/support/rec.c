/*
** What the recorder's tests share.
*/

#include "rec.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- Streams -------------------------------------------------------------- */

/* A luam_Prof_options.writer. */
size_t rec_write(const void *data, size_t len, void *arg)
{
  RecStream *s = arg;
  s->calls++;
  if (s->trespass != NULL && s->owner != (long)getpid())
    ++*s->trespass;
  if (s->hook != NULL)
    s->hook(s);
  if (s->calls == s->failat)
    return 0;
  if (s->excess)
    return len + 1;
  if (s->most != 0 && len > s->most)
    len = s->most;
  if (s->n + len > s->room) {
    s->room = 2 * (s->n + len);
    s->p = realloc(s->p, s->room);
    ck_assert_ptr_nonnull(s->p);
  }
  memcpy(s->p + s->n, data, len);
  s->n += len;
  return len;
}

/* A luam_Prof_options.on_stop. */
int rec_onstop(void *arg)
{
  RecStream *s = arg;
  s->stops++;
  return s->stopcode;
}

RecStream rec_read(const char *path)
{
  RecStream s = {0};
  char data[65536];
  ssize_t n;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ck_assert_msg(fd >= 0, "%s cannot be read", path);
  while ((n = read(fd, data, sizeof(data))) > 0)
    ck_assert_uint_eq(rec_write(data, (size_t)n, &s), (size_t)n);
  close(fd);
  return s;
}

/* Frees what a stream holds and makes it as new. */
void rec_free(RecStream *s)
{
  free(s->p);
  memset(s, 0, sizeof(*s));
}

/* Options of a recording into a stream, with the smallest buffer. */
struct luam_Prof_options rec_options(RecStream *s, int format)
{
  struct luam_Prof_options opt;
  memset(&opt, 0, sizeof(opt));
  opt.arg = s;
  opt.writer = rec_write;
  opt.on_stop = rec_onstop;
  opt.format = format;
  opt.buffer = 16384;
  return opt;
}

/* -- Books ---------------------------------------------------------------- */

static const char rec_decoder[] =
    "local data = ...\n"
    "local live, b = {}, { unknown = 0, marks = 0, errors = 0 }\n"
    "local function wrong(cond)\n"
    "  if cond then b.errors = b.errors + 1 end\n"
    "end\n"
    "local s = require('decode').stream(data, function(e)\n"
    "  if e.site.source == 'unknown' then b.unknown = b.unknown + 1 end\n"
    "  if e.mark then b.marks = b.marks + 1 end\n"
    "  if e.oaddr then\n"
    "    wrong(live[e.oaddr] == false)\n"
    "    wrong(live[e.oaddr] and live[e.oaddr] ~= e.osize)\n"
    "    live[e.oaddr] = false\n"
    "  end\n"
    "  if e.naddr then\n"
    "    wrong(live[e.naddr])\n"
    "    live[e.naddr] = e.nsize\n"
    "  end\n"
    "end)\n"
    "local totals, meta = s.totals or {}, s.meta or {}\n"
    "b.whole, b.error = s.whole and 1 or 0, tostring(s.error)\n"
    "b.allocs, b.reallocs, b.frees = s.counts.alloc, s.counts.realloc, "
    "s.counts.free\n"
    "b.sum, b.times = s.bytes_in - s.bytes_out, s.times or 0\n"
    "b.before, b.after = meta.live or 0, totals.live or 0\n"
    "b.lost, b.flags = totals.lost or 0, totals.flags or 0\n"
    "b.dumps = s.dumps and #s.dumps or 0\n"
    "b.dropped, b.undefined = s.dropped or 0, s.undefined or 0\n"
    "b.dropblocks = totals.dropped and totals.dropped.blocks or 0\n"
    "return b\n";

/* A number of the decoder's table. */
static int64_t rec_field(lua_State *L, const char *name)
{
  int64_t n;
  lua_getfield(L, -1, name);
  n = (int64_t)lua_tonumber(L, -1);
  lua_pop(L, 1);
  return n;
}

/* Calls a chunk with the bytes of a stream, in a VM whose package.path is
** test/lua. Returns the VM with the result on its stack; the caller closes it.
*/
static lua_State *rec_decode(const char *code, const RecStream *s)
{
  lua_State *L = rec_open();
  lua_getglobal(L, "package");
  lua_pushliteral(L, REC_LUA_DIR "/?.lua");
  lua_setfield(L, -2, "path");
  lua_pop(L, 1);
  ck_assert_int_eq(luaL_loadstring(L, code), 0);
  lua_pushlstring(L, s->p != NULL ? s->p : "", s->n);
  if (lua_pcall(L, 1, 1, 0) != 0)
    ck_abort_msg("the decoder failed: %s", lua_tostring(L, -1));
  return L;
}

/* Decodes a stream in a VM of its own. */
RecBooks rec_books(const RecStream *s)
{
  RecBooks b;
  lua_State *L = rec_decode(rec_decoder, s);
  memset(&b, 0, sizeof(b));
  b.whole = rec_field(L, "whole") != 0;
  b.allocs = (uint64_t)rec_field(L, "allocs");
  b.reallocs = (uint64_t)rec_field(L, "reallocs");
  b.frees = (uint64_t)rec_field(L, "frees");
  b.unknown = (uint64_t)rec_field(L, "unknown");
  b.marks = (uint64_t)rec_field(L, "marks");
  b.times = (uint64_t)rec_field(L, "times");
  b.errors = (uint64_t)rec_field(L, "errors");
  b.sum = rec_field(L, "sum");
  b.before = (uint64_t)rec_field(L, "before");
  b.after = (uint64_t)rec_field(L, "after");
  b.lost = (uint64_t)rec_field(L, "lost");
  b.flags = (uint64_t)rec_field(L, "flags");
  b.dumps = (uint64_t)rec_field(L, "dumps");
  b.dropped = (uint64_t)rec_field(L, "dropped");
  b.dropblocks = (uint64_t)rec_field(L, "dropblocks");
  b.undefined = (uint64_t)rec_field(L, "undefined");
  lua_getfield(L, -1, "error");
  strncpy(b.error, lua_tostring(L, -1), sizeof(b.error) - 1);
  lua_close(L);
  return b;
}

/* Checks a whole stream whose VM grew by SUM bytes. */
void rec_checkwhole(const RecStream *s, int64_t sum)
{
  RecBooks b = rec_books(s);
  ck_assert_msg(b.whole, "the stream is not whole: %s", b.error);
  ck_assert_uint_eq(b.errors, 0);
  ck_assert_int_eq(b.sum, sum);
  if (b.after != 0) {
    ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
    ck_assert_uint_eq(b.flags, 0);
  }
}

/* Checks that a stream is good as far as it goes. */
RecBooks rec_checkprefix(const RecStream *s)
{
  RecBooks b = rec_books(s);
  ck_assert(!b.whole);
  ck_assert_msg(strcmp(b.error, "no TOTALS") == 0 ||
                    strcmp(b.error, "the stream is cut") == 0 ||
                    strstr(b.error, "is cut") != NULL,
                "not a prefix of a stream: %s", b.error);
  ck_assert_uint_eq(b.errors, 0);
  return b;
}

static const char rec_dumpdecoder[] =
    "local dump = require('dump')\n"
    "local d = dump.decode(..., true)\n"
    "local faults = table.concat(dump.faults(d), '; ')\n"
    "if faults ~= '' then error(faults, 0) end\n"
    "return #d.list\n";

size_t rec_checkdump(const RecStream *s)
{
  lua_State *L = rec_decode(rec_dumpdecoder, s);
  size_t n = (size_t)lua_tonumber(L, -1);
  lua_close(L);
  return n;
}

/* -- VMs ------------------------------------------------------------------ */

/* A new VM with all libraries. */
lua_State *rec_open(void)
{
  lua_State *L = luaL_newstate();
  ck_assert_ptr_nonnull(L);
  luaL_openlibs(L);
  return L;
}

/* Bytes on a VM's heap, exactly. */
int64_t rec_live(lua_State *L)
{
  return (int64_t)lua_gc(L, LUA_GCCOUNT, 0) * 1024 + lua_gc(L, LUA_GCCOUNTB, 0);
}

/* Runs Lua code that must not fail. */
void rec_run(lua_State *L, const char *code)
{
  if (luaL_loadstring(L, code) != 0 || lua_pcall(L, 0, 0, 0) != 0)
    ck_abort_msg("Lua code failed: %s", lua_tostring(L, -1));
}

const char rec_small[] = "local t = {}\n"
                         "for i = 1, 300 do t[i] = { i, tostring(i) } end\n"
                         "t = nil\n"
                         "collectgarbage()\n";

const char rec_large[] = "for round = 1, 20 do\n"
                         "  local t = {}\n"
                         "  for i = 1, 1500 do t[i] = { i, i .. 's' } end\n"
                         "end\n"
                         "collectgarbage()\n";

int rec_rounds(int rounds)
{
  return getenv("LJPROF_QUICK") != NULL ? (rounds + 4) / 5 : rounds;
}

/* -- Suites --------------------------------------------------------------- */

void (*rec_setup)(void);
void (*rec_teardown)(void);

/* Runs the suite that NAME and its tests make. Returns main()'s status. */
int rec_main(const char *name, const TTest *const *tests, size_t n)
{
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);
  SRunner *runner;
  size_t i;
  int failed;
  tcase_set_timeout(tcase, 300); /* Sanitizers take their time. */
  if (rec_setup != NULL)
    tcase_add_checked_fixture(tcase, rec_setup, rec_teardown);
  for (i = 0; i < n; i++)
    tcase_add_test(tcase, tests[i]);
  suite_add_tcase(suite, tcase);
  runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
