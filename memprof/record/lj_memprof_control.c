/*
** Control: the thread that receives orders.
*/

#define lj_memprof_control_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lj_memprof_control.h"
#include "lj_memprof_controlsock.h"
#include "lj_memprof_hooks.h"
#include "lj_memprof_lock.h"
#include "lj_memprof_time.h"
#include "lj_memprof_worker.h"

#define CONTROL_WAIT   (1000 * MP_MS) /* For the VM, before "pending". */
#define CONTROL_NAP    2              /* Milliseconds between two looks. */
#define CONTROL_PEER   2000           /* For the other end. */
#define CONTROL_LINE   32             /* Bytes of an order. */
#define CONTROL_ANSWER 8192           /* Of an answer; more is cut. */

/* -- The thread ------------------------------------------------------------ */

#ifndef LUAJIT_DISABLE_THREAD_SAFE

/* By MPORDER_*. */
static const char *const control_names[] = {"", "start", "stop", "flush",
                                            "dump"};

/* Of this process. Set with the lock of the hooks, before the thread runs. */
static struct {
  pthread_t thread;
  long pid; /* The process that has the thread, or 0. */
  int fd;   /* It listens here. */
  int wake; /* It ends when this is closed; the exit has the other end, */
  int end;  /* this one. */
  char path[MPCONTROL_PATH];
} control;

static MP_THREAD const char *control_why; /* Of this thread's last try. */

/* An answer, while it is being made. */
typedef struct ControlAnswer {
  char text[CONTROL_ANSWER];
  size_t len;
  unsigned pending, failed;
} ControlAnswer;

/* Counts the VMs that have not executed what they were ordered. */
static void control_count(void *arg, const MPControlled *c)
{
  if (c->order != MPORDER_NONE)
    ++*(unsigned *)arg;
}

/* The word for a state. */
static const char *control_state(int state)
{
  return state == MP_PAUSED || state == MP_ENDED || state == MP_OVER
             ? "stopped"
             : "recording";
}

/* Adds the line of a VM. A file's name may have any bytes. */
static void control_line(void *arg, const MPControlled *c)
{
  ControlAnswer *a = (ControlAnswer *)arg;
  size_t room = sizeof(a->text) - a->len - 16, i;
  char *s = a->text + a->len;
  int n;
  if (c->order != MPORDER_NONE) {
    a->pending++;
    n = snprintf(s, room, "%s, pending %s: %s", control_state(c->state),
                 control_names[c->order], c->path);
  } else if (c->answer != 0) {
    a->failed++;
    n = snprintf(s, room, "%s, failed: %s: %s", control_state(c->state),
                 c->why != NULL ? c->why : strerror(c->answer), c->path);
  } else {
    n = snprintf(s, room, "%s: %s", control_state(c->state), c->path);
  }
  if (n >= 0 && (size_t)n < room && c->dump != NULL)
    n += snprintf(s + n, room - (size_t)n, ", dump: %s", c->dump);
  if (n < 0 || (size_t)n >= room)
    return; /* It does not fit. */
  for (i = 0; i < (size_t)n; i++)
    if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
      s[i] = '?';
  s[n] = '\n';
  a->len += (size_t)n + 1;
}

/* Waits for events of a descriptor. Returns 0 if there are none. */
static int control_poll(int fd, short events, int ms)
{
  struct pollfd p[2] = {{fd, events, 0}, {control.wake, POLLIN, 0}};
  int n;
  do
    n = poll(p, 2, ms);
  while (n < 0 && errno == EINTR);
  return n > 0 && p[1].revents == 0;
}

/* True if the process exits. Waits up to ms milliseconds for that. */
static int control_isending(int ms)
{
  struct pollfd p = {control.wake, POLLIN, 0};
  return poll(&p, 1, ms) > 0;
}

/* Orders something of all VMs, and waits until they have done it. */
static void control_order(int order, ControlAnswer *a)
{
  uint64_t until = lj_memprof_now() + CONTROL_WAIT;
  unsigned n, waiting;
  n = lj_memprof_controlled(order, control_line, a);
  do {
    waiting = 0;
    lj_memprof_controlled(MPORDER_NONE, control_count, &waiting);
  } while (waiting != 0 && lj_memprof_now() < until &&
           !control_isending(CONTROL_NAP));
  a->len = a->pending = a->failed = 0;
  if (n != 0)
    lj_memprof_controlled(MPORDER_NONE, control_line, a);
}

/* Reads an order, which is a line. Returns 0 if none comes. */
static int control_read(int fd, char line[CONTROL_LINE])
{
  size_t len = 0;
  while (len < CONTROL_LINE - 1 && control_poll(fd, POLLIN, CONTROL_PEER)) {
    ssize_t n = recv(fd, line + len, CONTROL_LINE - 1 - len, 0);
    if (n <= 0)
      break;
    len += (size_t)n;
    if (memchr(line, '\n', len) != NULL)
      break;
  }
  line[len] = '\0';
  line[strcspn(line, "\r\n")] = '\0';
  return *line != '\0';
}

/* Sends an answer, or gives up if the other end does not read it. */
static void control_send(int fd, const char *s, size_t len)
{
  while (len > 0) {
    ssize_t n = send(fd, s, len, MSG_NOSIGNAL);
    if (n <= 0 &&
        !(n < 0 && errno == EAGAIN && control_poll(fd, POLLOUT, CONTROL_PEER)))
      return;
    if (n > 0) {
      s += n;
      len -= (size_t)n;
    }
  }
}

/* Answers an order. The last line is a summary. */
static void control_serve(int fd)
{
  ControlAnswer a;
  char line[CONTROL_LINE];
  const char *sum;
  int order;
  if (!control_read(fd, line))
    return;
  a.len = a.pending = a.failed = 0;
  for (order = MPORDER_DUMP; order > MPORDER_NONE; order--)
    if (strcmp(line, control_names[order]) == 0)
      break;
  if (order != MPORDER_NONE)
    control_order(order, &a);
  else if (strcmp(line, "status") == 0)
    lj_memprof_controlled(MPORDER_NONE, control_line, &a);
  sum = order == MPORDER_NONE && strcmp(line, "status") != 0 ? "unknown"
        : a.len == 0                                         ? "none"
        : a.pending != 0                                     ? "pending"
        : a.failed != 0 && order != MPORDER_NONE             ? "failed"
                                                             : "ok";
  a.len += (size_t)snprintf(a.text + a.len, 16, "%s\n", sum);
  control_send(fd, a.text, a.len);
}

/* The thread: one order after another, until the process exits. */
static void *control_main(void *arg)
{
  UNUSED(arg);
  while (!control_isending(0)) {
    int c;
    if (!control_poll(control.fd, POLLIN, -1))
      continue;
    c = lj_memprof_accept(control.fd);
    if (c >= 0) {
      control_serve(c);
      close(c);
    }
  }
  return NULL;
}

/* Closes all descriptors of the thread. */
static void control_close(void)
{
  close(control.fd);
  close(control.wake);
  if (control.end >= 0)
    close(control.end);
  control.pid = 0;
}

/* With the lock of the hooks. */
static int control_begin(void)
{
  int ends[2];
  if (control.pid == (long)getpid())
    return 1;
  if (control.pid != 0) /* A raw clone has copied it. */
    control_close();
  control.fd = lj_memprof_listen(control.path, &control_why);
  if (control.fd < 0)
    return 0;
  control_why = "control: its thread cannot be made";
  if (pipe2(ends, O_CLOEXEC) != 0) {
    close(control.fd);
    unlink(control.path);
    return 0;
  }
  control.wake = ends[0];
  control.end = ends[1];
  control.pid = (long)getpid();
  errno = lj_memprof_startworker(&control.thread, "ljprof-control",
                                 control_main, NULL);
  if (errno == 0)
    return 1;
  unlink(control.path);
  control_close();
  return 0;
}

int lj_memprof_startcontrol(void)
{
  int good;
  control_why = NULL;
  lj_memprof_lock();
  good = control_begin();
  lj_memprof_unlock();
  return good;
}

const char *lj_memprof_whynocontrol(void)
{
  return control_why;
}

void lj_memprof_endcontrol(void)
{
  int mine;
  lj_memprof_lock();
  mine = control.pid == (long)getpid() && control.end >= 0;
  if (mine) {
    unlink(control.path);
    close(control.end);
    control.end = -1;
  }
  lj_memprof_unlock();
  if (!mine)
    return;
  pthread_join(control.thread, NULL);
  control_close();
  lj_memprof_noorders();
}

void lj_memprof_forkedcontrol(void)
{
  if (control.pid != 0)
    control_close();
}

#else

int lj_memprof_startcontrol(void)
{
  errno = ENOSYS;
  return 0;
}

const char *lj_memprof_whynocontrol(void)
{
  return NULL;
}

void lj_memprof_endcontrol(void)
{
}

void lj_memprof_forkedcontrol(void)
{
}

#endif

#endif
