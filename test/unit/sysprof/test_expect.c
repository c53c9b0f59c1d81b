/*
** What is read before a command runs.
*/

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "suites.h"

static LsModules *modules;

static int take_tables(void *ctx, uint32_t slot, const struct ljs_row *row,
                       size_t n, const struct ljs_vm *vm)
{
  (void)ctx, (void)slot, (void)row, (void)n, (void)vm;
  return 0;
}

/* Whether a file was read. */
static int is_read(const char *name)
{
  char path[PATH_MAX];
  const LsModule *m;
  uint32_t id;
  ck_assert_ptr_nonnull(realpath(name, path));
  for (id = 1; (m = ls_modules_find(modules, id)) != NULL; id++)
    if (strcmp(m->path, path) == 0)
      return 1;
  return 0;
}

static void begin(void)
{
  modules = ls_modules_open(take_tables, NULL, NULL, NULL);
  ck_assert_ptr_nonnull(modules);
}

/* A program is found as execvp does: from here, or in PATH. */
START_TEST(test_program)
{
  begin();
  ck_assert_int_eq(chdir(SCRATCH), 0);
  ls_expect(modules, "./fibers");
  ck_assert_int_eq(is_read(FIBERS), 1);
  ck_assert_int_eq(is_read("/usr/bin/env"), 0);
  ls_expect(modules, "env");
  ck_assert_int_eq(is_read("/usr/bin/env"), 1);
  ls_modules_close(modules);
}
END_TEST

/* Expects a command whose words have spaces between; TEXT is cut at them. */
static void expect_words(char *text)
{
  char *word[16] = {strtok(text, " ")};
  size_t n = 0;
  while (word[n] && ++n < 15)
    word[n] = strtok(NULL, " ");
  ls_expect_command(modules, word);
}

/* The program among arguments, of which others are none, with its libraries. */
START_TEST(test_arguments)
{
  char folder[] = SCRATCH "/expect-XXXXXX", library[PATH_MAX];
  char text[3 * PATH_MAX];
  begin();
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(library, sizeof(library), "%s/libc.so.6", folder);
  ck_assert_int_eq(symlink(SAMPLE_EH, library), 0);
  snprintf(text, sizeof(text),
           "env --chdir / /etc/passwd 5 A=B LD_LIBRARY_PATH=/none:%s %s "
           "/usr/bin/tac",
           folder, FIBERS);
  expect_words(text);
  ck_assert_int_eq(is_read("/usr/bin/env"), 1);
  ck_assert_int_eq(is_read(FIBERS), 1);
  ck_assert_int_eq(is_read("/usr/bin/tac"), 0); /* For that program. */
  ck_assert_int_eq(is_read("/etc/passwd"), 0);
  ck_assert_int_eq(is_read(SAMPLE_EH), 1);
  ls_modules_close(modules);
  unlink(library);
  rmdir(folder);
}
END_TEST

Suite *suite_expect(void)
{
  const TTest *tests[] = {test_program, test_arguments, NULL};
  return suite_of("expect", tests);
}
