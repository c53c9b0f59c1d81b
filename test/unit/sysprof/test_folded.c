/*
** Folded stacks.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "suites.h"

enum {
  PROCESS_START,
  MAIN,
  PCALL,
  HANDLER,
  HANDLER_COMPILED, /* The same line. */
  REP,
  MALLOC,
  SYSCALL,
  CUT,
  SITES
};

/* A stack of at most six sites, -1 behind the last, and its samples. */
typedef struct Stack {
  int site[7];
  uint64_t count;
} Stack;

static const LsSite sites[SITES] = {
    [PROCESS_START] = {.kind = LS_NATIVE, .name = "_start"},
    [MAIN] = {.kind = LS_LUA, .chunk = "@a.lua", .chunklen = 6, .line = 9},
    [PCALL] = {.kind = LS_BUILTIN, .name = "pcall"},
    [HANDLER] = {.kind = LS_LUA,
                 .chunk = "@a.lua",
                 .chunklen = 6,
                 .name = "handler",
                 .line = 4},
    [HANDLER_COMPILED] = {.kind = LS_LUA,
                          .flags = LS_TRACE,
                          .chunk = "@a.lua",
                          .chunklen = 6,
                          .name = "handler",
                          .line = 4},
    [REP] = {.kind = LS_BUILTIN, .name = "string.rep"},
    [MALLOC] = {.kind = LS_NATIVE, .name = "malloc"},
    [SYSCALL] = {.kind = LS_KERNEL, .name = "do_syscall"},
    [CUT] = {.kind = LS_MARK, .name = "unknown code"},
};

static const Stack stacks[] = {
    {{PROCESS_START, MAIN, PCALL, HANDLER, -1}, 1},
    {{PROCESS_START, MAIN, PCALL, HANDLER_COMPILED, -1}, 2},
    {{PROCESS_START, MAIN, PCALL, HANDLER, REP, MALLOC, -1}, 4},
    {{CUT, MAIN, SYSCALL, -1}, 8},
    {{PROCESS_START, MALLOC, -1}, 16},
    {{PROCESS_START, SYSCALL, -1}, 32},
    {{CUT, SYSCALL, -1}, 64},
};
#define STACKS (sizeof(stacks) / sizeof(stacks[0]))

/* What is written of N stacks as WANT has it. */
static void written(char *text, size_t size, const Stack *stack, size_t n,
                    LsFolded want)
{
  FILE *f = tmpfile();
  LsSiteTable *table = ls_sitetable_open();
  LsProcess process = {.command = "worker"};
  LsOutput *o;
  uint32_t id[SITES], of[7];
  size_t i, read;
  int k;
  ck_assert_ptr_nonnull(f);
  for (i = 0; i < SITES; i++)
    ck_assert_uint_ne(id[i] = ls_sitetable_add(table, &sites[i]), 0);
  o = ls_output_folded(fileno(f), table, NULL, &want);
  for (i = 0; i < n; i++) {
    LsNamedStack s = {.site = of, .thread = "main"};
    for (k = 0; stack[i].site[k] >= 0; k++)
      of[s.n++] = id[stack[i].site[k]];
    o->sample(o, &process, &s, stack[i].count);
  }
  o->end(o, NULL, 0);
  ck_assert_int_eq(o->err, 0);
  o->close(o);
  ls_sitetable_close(table);
  rewind(f);
  read = fread(text, 1, size - 1, f);
  text[read] = '\0';
  fclose(f);
}

/* The sum of the counts at the ends of lines. */
static uint64_t sum(const char *text)
{
  uint64_t n = 0;
  const char *line;
  for (line = text; *line; line = strchr(line, '\n') + 1) {
    const char *end = strchr(line, '\n');
    while (end > line && end[-1] != ' ')
      end--;
    n += strtoull(end, NULL, 10);
  }
  return n;
}

/* Samples are charged to the innermost Lua line, and none is lost. */
START_TEST(test_lua)
{
  char text[4096];
  written(text, sizeof(text), stacks, STACKS, (LsFolded){0});
  ck_assert_str_eq(text, "(outside Lua) 48\n"
                         "(unknown code) 64\n"
                         "@a.lua:9 8\n"
                         "@a.lua:9;handler@a.lua:4 7\n");
  ck_assert_uint_eq(sum(text), 127);
}
END_TEST

START_TEST(test_native)
{
  char text[4096];
  written(text, sizeof(text), stacks, STACKS, (LsFolded){.native = 1});
  ck_assert_ptr_nonnull(
      strstr(text, "@a.lua:9;pcall [builtin];handler@a.lua:4 3\n"));
  ck_assert_ptr_nonnull(strstr(text, "string.rep [builtin];malloc () 4\n"));
  ck_assert_ptr_nonnull(
      strstr(text, "(unknown code);@a.lua:9;do_syscall_[k] 8\n"));
  ck_assert_ptr_null(strstr(text, "outside"));
  ck_assert_uint_eq(sum(text), 127);
}
END_TEST

/* Names of processes stay. */
START_TEST(test_process)
{
  char text[4096];
  written(text, sizeof(text), stacks, STACKS, (LsFolded){.processes = 1});
  ck_assert_str_eq(text, "worker;(outside Lua) 48\n"
                         "worker;(unknown code) 64\n"
                         "worker;@a.lua:9 8\n"
                         "worker;@a.lua:9;handler@a.lua:4 7\n");
}
END_TEST

/* Without any Lua, there is nothing else to show than native functions. */
START_TEST(test_none)
{
  char text[4096], native[4096];
  written(text, sizeof(text), stacks + 4, STACKS - 4, (LsFolded){0});
  written(native, sizeof(native), stacks + 4, STACKS - 4,
          (LsFolded){.native = 1});
  ck_assert_str_eq(text, native);
  ck_assert_uint_eq(sum(text), 112);
  ck_assert_ptr_nonnull(strstr(text, "_start"));
}
END_TEST

Suite *suite_folded(void)
{
  const TTest *tests[] = {test_lua, test_native, test_process, test_none, NULL};
  return suite_of("folded", tests);
}
