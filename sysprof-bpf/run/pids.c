/*
** The processes of -p, and their children: servers have workers.
*/

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "children.h"
#include "pids.h"
#include "say.h"

#define FAMILY_MAX  1024
#define FAMILY_TOLD 8 /* Of more, not all are named. */

/* Adds the children of PID, and theirs. Those that cannot be read are left out.
** Returns how many of them run a LuaJIT.
*/
static size_t family_add(LsSession *s, pid_t pid)
{
  pid_t child[FAMILY_MAX];
  size_t n = ls_children_find(pid, child, FAMILY_MAX), with = 0, i;
  for (i = 0; i < n; i++) {
    LsTarget *t = ls_session_target(s, child[i]);
    if (!t)
      t = ls_session_add(s, child[i]);
    with += t && t->image.nvm;
  }
  return with;
}

void ls_pids_children(LsSession *s)
{
  size_t i; /* Those that are added are behind it, and looked at, too. */
  for (i = 0; i < s->ntarget; i++)
    if (!s->target[i]->gone)
      family_add(s, s->target[i]->pid);
}

/* Writes which children of PID run a LuaJIT to TEXT, of SIZE bytes: "2 children
** run LuaJIT, 101 and 102". Returns how many there are; 0: TEXT is empty.
*/
static size_t family_tell(LsSession *s, pid_t pid, char *text, size_t size)
{
  pid_t child[FAMILY_MAX];
  size_t n = ls_children_find(pid, child, FAMILY_MAX), with = 0, i, at;
  for (i = 0; i < n; i++)
    if (ls_modules_suspect(s->modules, child[i]))
      child[with++] = child[i];
  *text = '\0';
  if (!with)
    return 0;
  at = (size_t)snprintf(text, size, "%zu child%s LuaJIT,", with,
                        with == 1 ? " runs" : "ren run");
  for (i = 0; i < with && i < FAMILY_TOLD && at < size; i++)
    at += (size_t)snprintf(text + at, size - at, "%s %d",
                           !i              ? ""
                           : i + 1 == with ? " and"
                                           : ",",
                           (int)child[i]);
  if (with > FAMILY_TOLD && at < size)
    snprintf(text + at, size - at, ", ...");
  return with;
}

/* Why the VM of a process was not found. */
static const char *why_not(const LsSession *s, const LsTarget *t)
{
  uint32_t i;
  for (i = 0; i < t->image.nmaps; i++) {
    const LsModule *mod = ls_modules_slot(s->modules, t->image.map[i].module);
    if (mod && !mod->hasvm && mod->why[0])
      return mod->why;
  }
  return NULL;
}

/* Why PID cannot be sampled, by errno. */
static int refuse_pid(pid_t pid)
{
  if (errno == ESRCH)
    return ls_fail("there is no process %d", (int)pid);
  if (errno == EACCES || errno == EPERM)
    return ls_fail("process %d is not yours to look at: run it as root, or "
                   "with CAP_SYS_PTRACE",
                   (int)pid);
  return ls_fail("process %d: %s", (int)pid, strerror(errno));
}

/* Whether the files of PID must not be looked at, with errno; its mappings may
** be shown all the same.
*/
static int is_denied(pid_t pid)
{
  char root[64];
  int fd;
  snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
  fd = open(root, O_PATH | O_CLOEXEC);
  if (fd >= 0)
    close(fd);
  return fd < 0 && (errno == EACCES || errno == EPERM);
}

/* Refuses a process that runs no LuaJIT. */
static int refuse(LsSession *s, const LsTarget *t)
{
  char text[256];
  const char *why;
  if (is_denied(t->pid))
    return refuse_pid(t->pid);
  if (family_tell(s, t->pid, text, sizeof(text)))
    return ls_fail("process %d (%s) runs no LuaJIT, but %s: --children samples "
                   "them",
                   (int)t->pid, t->command, text);
  why = why_not(s, t);
  if (!why)
    return ls_fail("process %d (%s) runs no LuaJIT; --any samples it all the "
                   "same",
                   (int)t->pid, t->command);
  if (strcmp(why, LS_WHY_OLD) == 0)
    return ls_fail("process %d (%s) runs " LS_WHY_OLD
                   ": lj-sysprof needs 2.1.0-beta1 or later; --any samples it "
                   "without Lua",
                   (int)t->pid, t->command);
  return ls_fail(
      "process %d (%s) has the code of a LuaJIT whose layout is not "
      "known (%s): --any samples it without Lua; please report which "
      "LuaJIT it is",
      (int)t->pid, t->command, why);
}

/* Adds a process of -p, and its children if they are wanted, or else tells of
** them: the parent of workers seldom runs.
*/
static int add_pid(LsSession *s, pid_t pid)
{
  LsTarget *t = ls_session_target(s, pid);
  char text[256];
  size_t with = 0;
  if (!t)
    t = ls_session_add(s, pid);
  if (!t)
    return refuse_pid(pid);
  if (s->opt->children)
    with = family_add(s, pid);
  if (!t->image.nvm && !s->opt->any && !with && !s->opt->expect)
    return refuse(s, t);
  if (!s->opt->children && !s->opt->any && s->opt->npid == 1 &&
      family_tell(s, pid, text, sizeof(text)))
    ls_say("%s: --children samples them, too", text);
  return 0;
}

int ls_pids_add(LsSession *s)
{
  unsigned i;
  for (i = 0; i < s->opt->npid; i++)
    if (add_pid(s, s->opt->pid[i]))
      return -1;
  return 0;
}
