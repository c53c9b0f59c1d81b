/*
** Reading of foreign ELF files by other processes.
**
** Each file has a socket of its own, so that nothing can come from the process
** of another one. A process that takes too long, or ends, costs its file's
** names and tables only.
*/

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "confined.h"
#include "debugfile.h"
#include "messages.h"
#include "pack.h"
#include "parser.h"

#define IDLE_MS   10
#define FILES_MAX 32 /* That one file may have opened for its symbols. */

struct LsParser {
  int control; /* The socket to the process that makes others, or -1. */
  pid_t pid;   /* Its number. */
  LsParserIdle *idle;
  void *ctx;
};

/* A file that is being read. */
typedef struct Reading {
  LsParser *p;
  int from;                /* The socket to its process. */
  const char *root, *path; /* Where it is. */
  int64_t end;             /* When it has taken too long, in milliseconds. */
} Reading;

/* -- The process that makes others ---------------------------------------- */

static int64_t now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Closes the socket, by which the processes end. */
static void stop(LsParser *p)
{
  if (p->control >= 0)
    close(p->control);
  p->control = -1;
  if (p->pid > 0)
    waitpid(p->pid, NULL, WNOHANG);
}

/* Starts it. Returns -1 and errno. */
static int start(LsParser *p)
{
  LsMessage m;
  int pair[2], fd[LS_MSG_FDS], n;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return -1;
  p->pid = fork();
  if (p->pid == 0)
    ls_confined(pair[1]);
  close(pair[1]);
  p->control = pair[0];
  n = p->pid < 0 ? -1 : ls_message_receive(p->control, &m, fd, MSG_WAITALL);
  if (n == 1 && m.kind == LS_MSG_READY && !m.value)
    return 0;
  if (p->pid >= 0)
    errno = n == 1 ? (int)m.value : n == 0 ? EPIPE : errno;
  n = errno;
  stop(p);
  errno = n;
  return -1;
}

LsParser *ls_parser_start(void)
{
  LsParser *p = calloc(1, sizeof(*p));
  int err;
  if (!p || start(p) == 0)
    return p;
  err = errno;
  free(p);
  errno = err;
  return NULL;
}

void ls_parser_while(LsParser *p, LsParserIdle *idle, void *ctx)
{
  p->idle = idle;
  p->ctx = ctx;
}

void ls_parser_end(LsParser *p)
{
  if (!p)
    return;
  stop(p);
  free(p);
}

/* Sends it a job, with N descriptors. If it has ended it is started anew. */
static int send_job(LsParser *p, const LsMessage *job, const int *fd,
                    unsigned n)
{
  if (p->control >= 0 && ls_message_send(p->control, job, fd, n) == 0)
    return 0;
  stop(p);
  return start(p) ? -1 : ls_message_send(p->control, job, fd, n);
}

/* -- One file ------------------------------------------------------------- */

/* Waits until something has come. Returns -1 and errno. */
static int wait_for(const Reading *r)
{
  struct pollfd poller = {r->from, POLLIN, 0};
  while (poll(&poller, 1, IDLE_MS) <= 0) {
    if (r->p->idle && r->p->idle(r->p->ctx))
      errno = ECANCELED;
    else if (now_ms() >= r->end)
      errno = ETIMEDOUT;
    else
      continue;
    return -1;
  }
  return 0;
}

/* Reads what was learned: see LsPackRead. */
static int read_part(void *ctx, void *buf, size_t n)
{
  const Reading *r = ctx;
  char *to = buf;
  while (n > 0) {
    ssize_t got;
    if (wait_for(r))
      return -1;
    got = recv(r->from, to, n, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      continue;
    if (got <= 0) {
      errno = EPROTO;
      return -1;
    }
    to += got;
    n -= (size_t)got;
  }
  return 0;
}

/* Opens a file with symbols for the other process. */
static int open_debug(const Reading *r, LsMessage *m)
{
  int fd, status;
  m->name[sizeof(m->name) - 1] = '\0';
  fd = ls_debugfile_find(m->inroot ? r->root : "", r->path, (LsDebugHow)m->how,
                         m->name);
  m->kind = LS_MSG_FILE;
  m->value = fd < 0 ? (uint64_t)errno : 0;
  status = ls_message_send(r->from, m, &fd, fd >= 0);
  if (fd >= 0)
    close(fd);
  return status;
}

/* Receives the answer, and opens files until it comes. */
static int receive_answer(const Reading *r, LsMessage *m)
{
  int fd[LS_MSG_FDS], files = 0, i, n;
  for (;;) {
    if (wait_for(r))
      return -1;
    n = ls_message_receive(r->from, m, fd, MSG_DONTWAIT);
    for (i = 0; i < LS_MSG_FDS; i++)
      if (fd[i] >= 0)
        close(fd[i]);
    if (n == 1 && m->kind != LS_MSG_DEBUG)
      return 0;
    if (n <= 0 || ++files > FILES_MAX || open_debug(r, m)) {
      errno = EPROTO;
      return -1;
    }
  }
}

/* Sends a job about the file FD, and receives the answer. */
static int ask(Reading *r, const LsMessage *job, int fd, LsMessage *m)
{
  int pair[2], fds[LS_MSG_FDS], status;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return -1;
  r->from = pair[0];
  r->end = now_ms() + LS_PARSER_MS;
  fds[0] = fd;
  fds[1] = pair[1];
  status = send_job(r->p, job, fds, LS_MSG_FDS);
  close(pair[1]);
  return status ? -1 : receive_answer(r, m);
}

/* The job is done, or failed: then its process is ended. */
static int done(const Reading *r, int status)
{
  static const LsMessage end = {.kind = LS_MSG_END};
  int err = errno;
  if (r->from >= 0)
    close(r->from);
  if (status < 0 && r->p->control >= 0)
    ls_message_send(r->p->control, &end, NULL, 0);
  errno = err;
  return status;
}

/* -- Without other processes ---------------------------------------------- */

static int learn_here(int fd, const char *root, const char *path,
                      LsLearned *out)
{
  LsElf *e = ls_elf_open(fd);
  if (!e)
    return -1;
  ls_elf_place(e, root, path);
  ls_learn(e, out);
  return 0;
}

static int suspect_here(int fd, uint64_t offset)
{
  LsElf *e = ls_elf_open(fd);
  int yes = e ? ls_learn_suspect(e, offset) : -1;
  ls_elf_close(e);
  return yes;
}

/* -- Both ----------------------------------------------------------------- */

int ls_parser_learn(LsParser *p, int fd, const char *root, const char *path,
                    LsLearned *out, uint64_t *cpu)
{
  Reading r = {.p = p, .from = -1, .root = root, .path = path};
  LsMessage job = {.kind = LS_MSG_LEARN, .inroot = *root != '\0'}, m;
  int status;
  *cpu = 0;
  if (!p)
    return learn_here(fd, root, path, out);
  *cpu = UINT64_MAX;
  job.name[0] = strchr(path, '/') ? '/' : '\0';
  status = ask(&r, &job, fd, &m);
  if (status == 0 && m.kind == LS_MSG_LEARNED)
    *cpu = m.cpu;
  if (status == 0 && (m.kind != LS_MSG_LEARNED || m.value)) {
    errno = m.kind == LS_MSG_LEARNED && m.value < 4096 ? (int)m.value : EPROTO;
    status = -1;
  }
  if (status == 0)
    status = ls_unpack(read_part, &r, out);
  return done(&r, status);
}

int ls_parser_suspect(LsParser *p, int fd, uint64_t offset)
{
  Reading r = {.p = p, .from = -1, .root = "", .path = ""};
  LsMessage job = {.kind = LS_MSG_SUSPECT, .value = offset}, m;
  int status;
  if (!p)
    return suspect_here(fd, offset);
  status = ask(&r, &job, fd, &m);
  if (status == 0 && m.kind == LS_MSG_ANSWER)
    return done(&r, m.value != 0);
  if (status == 0)
    errno = m.kind == LS_MSG_LEARNED && m.value < 4096 ? (int)m.value : EPROTO;
  return done(&r, -1);
}
