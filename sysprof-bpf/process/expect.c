/*
** Reads the files that a command is likely to map.
**
** Until a file is read its code is unknown, and a process maps most of its
** files when it starts. Libraries are looked for where the dynamic linker of
** this program looks for them; if that of the command finds others, these are
** read in vain.
*/

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "target.h"

typedef struct Expect {
  LsModules *ms;
  Dl_serinfo *path;    /* Folders of libraries. */
  const char *folders; /* Before those, with colons between; or NULL. */
} Expect;

/* Read a file that can be accessed by MODE. Returns whether there is one. */
static bool expect_file(const Expect *x, const char *name, int mode)
{
  char file[PATH_MAX];
  struct stat st;
  if (stat(name, &st) || !S_ISREG(st.st_mode) || access(name, mode) ||
      !realpath(name, file))
    return false;
  ls_modules_expect(x->ms, file);
  return true;
}

/* The same in one of the folders of PATH, which has colons between. */
static bool expect_infolders(const Expect *x, const char *path,
                             const char *name, int mode)
{
  char file[PATH_MAX];
  size_t n;
  for (; path && *path; path += n + (path[n] == ':')) {
    n = strcspn(path, ":");
    snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, name);
    if (expect_file(x, file, mode))
      return true;
  }
  return false;
}

static void expect_library(const Expect *x, const char *name)
{
  char file[PATH_MAX];
  unsigned i;
  if (expect_infolders(x, x->folders, name, R_OK))
    return;
  for (i = 0; i < x->path->dls_cnt; i++) {
    snprintf(file, sizeof(file), "%s/%s", x->path->dls_serpath[i].dls_name,
             name);
    if (expect_file(x, file, R_OK))
      return;
  }
}

/* Libraries that a module needs. */
static void expect_needed(const Expect *x, const LsModule *m)
{
  const char *name = m->needed;
  for (; name && name < m->needed + m->nneeded; name += strlen(name) + 1)
    if (!strchr(name, '/'))
      expect_library(x, name);
}

/* Folders of libraries: LD_LIBRARY_PATH, and the system's. */
static Dl_serinfo *library_path(void)
{
  void *self = dlopen(NULL, RTLD_LAZY);
  Dl_serinfo size, *path = NULL;
  if (self && dlinfo(self, RTLD_DI_SERINFOSIZE, &size) == 0 &&
      (path = malloc(size.dls_size)) != NULL) {
    *path = size;
    if (dlinfo(self, RTLD_DI_SERINFO, path)) {
      free(path);
      path = NULL;
    }
  }
  if (self)
    dlclose(self);
  return path;
}

/* The program NAME, as execvp finds it. */
static bool expect_program(const Expect *x, const char *name)
{
  if (strchr(name, '/'))
    return expect_file(x, name, X_OK);
  return expect_infolders(x, getenv("PATH"), name, X_OK);
}

#define ARGUMENTS_MAX 16 /* That are looked at. */
#define LIBRARIES     "LD_LIBRARY_PATH="

/* The first program among the arguments, if there is one. */
static void expect_arguments(Expect *x, char *const *argument)
{
  const size_t n = strlen(LIBRARIES);
  unsigned i;
  for (i = 0; i < ARGUMENTS_MAX && argument[i]; i++) {
    if (strncmp(argument[i], LIBRARIES, n) == 0)
      x->folders = argument[i] + n;
    else if (*argument[i] != '-' && !strchr(argument[i], '=') &&
             expect_program(x, argument[i]))
      return;
  }
}

static void expect(LsModules *ms, const char *name, char *const *argument)
{
  LsTarget *self = ls_target_open(getpid());
  Expect x = {ms, library_path(), NULL};
  const LsModule *m;
  uint32_t id;
  if (self)
    ls_target_refresh(self, ms, LS_MODULES_MAX);
  ls_target_close(self);
  expect_program(&x, name);
  if (argument)
    expect_arguments(&x, argument);
  /* Those that are found on the way get numbers behind. */
  for (id = 1; x.path && (m = ls_modules_find(ms, id)) != NULL; id++)
    expect_needed(&x, m);
  free(x.path);
}

void ls_expect(LsModules *ms, const char *name)
{
  expect(ms, name, NULL);
}

void ls_expect_command(LsModules *ms, char *const *command)
{
  expect(ms, command[0], command + 1);
}
