/*
** The processes that read foreign files.
**
** One is forked before lj-sysprof has read anything, and reads nothing itself:
** so it can make a clean one for each file, which knows of no other file, and
** end it.
*/

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "confined.h"
#include "debugfile.h"
#include "messages.h"
#include "pack.h"
#include "sandbox.h"

/* -- The one that reads --------------------------------------------------- */

static int parent = -1; /* The socket to lj-sysprof. */

/* Has a file opened: see LsDebugOpener. */
static int ask_for_file(const char *root, const char *place, LsDebugHow how,
                        const char *name)
{
  LsMessage m = {.kind = LS_MSG_DEBUG, .inroot = *root != '\0', .how = how};
  int fd[LS_MSG_FDS];
  (void)place; /* lj-sysprof knows it. */
  if (strlen(name) >= sizeof(m.name)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  snprintf(m.name, sizeof(m.name), "%s", name);
  if (ls_message_send(parent, &m, NULL, 0) ||
      ls_message_receive(parent, &m, fd, MSG_WAITALL) <= 0)
    return -1;
  if (fd[0] < 0)
    errno = (int)m.value;
  return fd[0];
}

/* Writes all of P. */
static int send_pack(const LsPack *p)
{
  size_t i;
  for (i = 0; i < LS_PACK_PARTS; i++) {
    const char *at = p->part[i].iov_base;
    size_t left = p->part[i].iov_len;
    while (left) {
      ssize_t n = write(parent, at, left);
      if (n <= 0)
        return -1;
      at += n;
      left -= (size_t)n;
    }
  }
  return 0;
}

/* Answer that the file was learned, or the error ERR. */
static int send_learned(int err)
{
  LsMessage m = {.kind = LS_MSG_LEARNED, .value = (uint64_t)err};
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  m.cpu = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
  return ls_message_send(parent, &m, NULL, 0);
}

/* Read the file as *JOB says. Returns 0 if the answer was sent. */
static int read_file(const LsMessage *job, int file)
{
  static LsPack pack;
  LsElf *e = ls_elf_open(file);
  LsLearned l;
  if (!e)
    return send_learned(errno);
  if (job->kind == LS_MSG_SUSPECT) {
    LsMessage m = {.kind = LS_MSG_ANSWER};
    m.value = ls_learn_suspect(e, job->value) != 0;
    return ls_message_send(parent, &m, NULL, 0);
  }
  /* Names of files are lj-sysprof's, but whether there are some is known. */
  ls_elf_place(e, job->inroot ? "/" : "", *job->name ? "/" : "");
  ls_learn(e, &l);
  ls_pack(&l, &pack);
  if (ls_pack_size(&pack) > LS_PACK_MAX)
    return send_learned(E2BIG);
  return send_learned(0) || send_pack(&pack);
}

static _Noreturn void reader(const LsMessage *job, const int fd[LS_MSG_FDS])
{
  close(LS_SANDBOX_FD);
  parent = fd[1];
  ls_debugfile_opener = ask_for_file;
  if (ls_sandbox_close())
    _exit(2);
  _exit(read_file(job, fd[0]) != 0);
}

/* -- The one that makes it ------------------------------------------------ */

/* End process PID, if it is one, and forget all that have ended. One that is
** ended in vain, as its file system does not answer, waits for itself.
*/
static void end(pid_t pid)
{
  if (pid > 0)
    kill(pid, SIGKILL);
  while (waitpid(-1, NULL, WNOHANG) > 0)
    ;
}

_Noreturn void ls_confined(int control)
{
  LsMessage m = {.kind = LS_MSG_READY};
  int fd[LS_MSG_FDS], i, err = ls_sandbox_enter(control) ? errno : 0;
  pid_t pid = 0;
  m.value = (uint64_t)err;
  ls_message_send(err ? control : LS_SANDBOX_FD, &m, NULL, 0);
  while (!err && ls_message_receive(LS_SANDBOX_FD, &m, fd, MSG_WAITALL) > 0) {
    end(pid);
    pid = m.kind == LS_MSG_END || fd[1] < 0 ? 0 : fork();
    if (pid == 0 && m.kind != LS_MSG_END && fd[1] >= 0)
      reader(&m, fd);
    for (i = 0; i < LS_MSG_FDS; i++)
      if (fd[i] >= 0)
        close(fd[i]);
  }
  end(pid);
  _exit(0);
}
