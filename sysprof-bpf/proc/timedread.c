/*
** Threads that read the memory of other processes.
*/

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "procstat.h"
#include "timedread.h"

#define READER_BYTES 65536 /* That are read at once. */
#define READER_STACK 65536 /* Of a thread, in bytes. */
#define READER_LIMIT 10    /* Times LS_TIMEDREAD_MS, while it runs. */
#define HOLDERS_MAX  128   /* Processes that are remembered. */

typedef enum ReaderState {
  IDLE,
  BUSY,
  DONE,
  LEFT,
  RETURNED,
  ENDING /* Nobody knows it any more. */
} ReaderState;

/* A thread and what it reads. Its own memory, as it may outlive what it is for:
** who asked may have gone on.
*/
typedef struct Reader {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* The state. */
  ReaderState state;
  pid_t tid; /* 0: the thread did not run yet. */
  LsReadFunc *read;
  pid_t pid;
  uint64_t addr;
  size_t n;
  ssize_t got;
  uint8_t data[READER_BYTES];
} Reader;

/* A process that has held up a reader. */
typedef struct Holder {
  pid_t pid;
  uid_t uid;
  unsigned times;
  int64_t until;  /* It is not read from until then, in milliseconds. */
  Reader *reader; /* That was left behind, or NULL. */
} Holder;

static Reader *reader; /* That waits for work, or NULL. */
static Holder holder[HOLDERS_MAX];
static size_t nholder;

static int64_t now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* -- The thread ----------------------------------------------------------- */

static void reader_free(Reader *r)
{
  pthread_cond_destroy(&r->changed);
  pthread_mutex_destroy(&r->lock);
  free(r);
}

static void *reader_main(void *arg)
{
  Reader *r = arg;
  pthread_mutex_lock(&r->lock);
  r->tid = gettid();
  while (r->state != LEFT && r->state != ENDING) {
    if (r->state != BUSY) {
      pthread_cond_wait(&r->changed, &r->lock);
      continue;
    }
    pthread_mutex_unlock(&r->lock);
    r->got = r->read(r->pid, r->addr, r->data, r->n);
    pthread_mutex_lock(&r->lock);
    if (r->state == LEFT)
      break;
    r->state = DONE;
    pthread_cond_signal(&r->changed);
  }
  if (r->state == ENDING) {
    pthread_mutex_unlock(&r->lock);
    reader_free(r);
    return NULL;
  }
  r->state = RETURNED;
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

/* Start R's thread, which gets none of our signals. Returns an error number. */
static int reader_start(Reader *r)
{
  pthread_attr_t attr;
  pthread_t thread;
  sigset_t all, old;
  int err = pthread_attr_init(&attr);
  if (err)
    return err;
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attr, READER_STACK);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  err = pthread_create(&thread, &attr, reader_main, r);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pthread_attr_destroy(&attr);
  return err;
}

/* A new one, or NULL. */
static Reader *reader_open(void)
{
  pthread_condattr_t attr;
  Reader *r = calloc(1, sizeof(*r));
  if (!r)
    return NULL;
  pthread_mutex_init(&r->lock, NULL);
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&r->changed, &attr);
  pthread_condattr_destroy(&attr);
  if (!reader_start(r))
    return r;
  free(r);
  return NULL;
}

/* Does a thread of ours run, or wait for a CPU? Then nobody holds it up. */
static int thread_runs(pid_t tid)
{
  char path[48], buf[LS_PROCSTAT_SIZE];
  const char *state;
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
  state = ls_procstat(path, buf);
  return state && *state == 'R';
}

/* The same of R, whose lock is given up meanwhile: it may wait for that. */
static int reader_runs(Reader *r)
{
  pid_t tid = r->tid;
  int runs;
  pthread_mutex_unlock(&r->lock);
  runs = tid == 0 || thread_runs(tid);
  pthread_mutex_lock(&r->lock);
  return runs;
}

/* Wait for LS_TIMEDREAD_MS, or until R has read what it was told to. */
static void reader_await(Reader *r)
{
  struct timespec end;
  int err = 0;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += LS_TIMEDREAD_MS * 1000000l;
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  while (r->state == BUSY && !err)
    err = pthread_cond_timedwait(&r->changed, &r->lock, &end);
}

/* Wait until R has read what it was told to. Returns 0 if it was left
** behind.
*/
static int reader_wait(Reader *r)
{
  int times = 0, done;
  do
    reader_await(r);
  while (r->state == BUSY && ++times < READER_LIMIT && reader_runs(r));
  done = r->state == DONE;
  r->state = done ? IDLE : LEFT;
  return done;
}

/* -- Who holds up readers ------------------------------------------------- */

/* The user whose process PID is; of one that is gone, nobody's. */
static uid_t user_of(pid_t pid)
{
  struct stat st;
  char path[32];
  snprintf(path, sizeof(path), "/proc/%d", (int)pid);
  return stat(path, &st) ? (uid_t)-1 : st.st_uid;
}

/* Free the reader that H held up, if it has returned. */
static void holder_look(Holder *h)
{
  Reader *r = h->reader;
  int returned;
  if (!r)
    return;
  pthread_mutex_lock(&r->lock);
  returned = r->state == RETURNED;
  pthread_mutex_unlock(&r->lock);
  if (!returned)
    return;
  reader_free(r);
  h->reader = NULL;
}

static Holder *holder_find(pid_t pid)
{
  size_t i;
  for (i = 0; i < nholder; i++)
    if (holder[i].pid == pid)
      return &holder[i];
  return NULL;
}

/* Whether PID must not be read from now: a reader of it has not returned, or it
** is too soon, or its user has held up as many as one may.
*/
static int must_wait(pid_t pid)
{
  Holder *h;
  uid_t uid;
  size_t i, n = 0;
  if (!nholder)
    return 0;
  h = holder_find(pid);
  if (h) {
    holder_look(h);
    return h->reader || now_ms() < h->until;
  }
  uid = user_of(pid);
  for (i = 0; i < nholder; i++) {
    holder_look(&holder[i]);
    n += holder[i].reader && holder[i].uid == uid;
  }
  return n >= LS_TIMEDREAD_USER;
}

/* An entry for PID: a new one, or that of who held up nobody for longest. NULL
** if all are in use.
*/
static Holder *holder_new(pid_t pid)
{
  Holder *h = NULL;
  size_t i;
  if (nholder < HOLDERS_MAX)
    h = &holder[nholder++];
  for (i = 0; !h && i < HOLDERS_MAX; i++)
    if (!holder[i].reader && now_ms() >= holder[i].until)
      h = &holder[i];
  if (h)
    *h = (Holder){.pid = pid, .uid = user_of(pid)};
  return h;
}

/* PID holds up R. */
static void leave_behind(Reader *r, pid_t pid)
{
  Holder *h = holder_find(pid);
  if (!h)
    h = holder_new(pid);
  if (!h) /* R is lost: it may return at any time, and nobody looks. */
    return;
  h->reader = r;
  h->until = now_ms() + (1000ll << (h->times < 8 ? h->times : 8));
  h->times++;
}

unsigned ls_timedread_held(pid_t pid)
{
  const Holder *h = nholder ? holder_find(pid) : NULL;
  return h ? h->times : 0;
}

/* -- Reading -------------------------------------------------------------- */

/* Read at most READER_BYTES. */
static int read_part(LsReadFunc *read, pid_t pid, uint64_t addr, void *buf,
                     size_t n)
{
  Reader *r = reader ? reader : reader_open();
  int done;
  reader = r;
  if (!r)
    return -1;
  pthread_mutex_lock(&r->lock);
  r->read = read;
  r->pid = pid;
  r->addr = addr;
  r->n = n;
  r->state = BUSY;
  pthread_cond_signal(&r->changed);
  done = reader_wait(r);
  if (done && r->got == (ssize_t)n)
    memcpy(buf, r->data, n);
  else if (done)
    done = 0;
  else
    reader = NULL;
  pthread_mutex_unlock(&r->lock);
  if (!reader)
    leave_behind(r, pid);
  return done ? 0 : -1;
}

void ls_timedread_end(void)
{
  Reader *r = reader;
  if (!r)
    return;
  reader = NULL;
  pthread_mutex_lock(&r->lock);
  r->state = ENDING;
  pthread_cond_signal(&r->changed);
  pthread_mutex_unlock(&r->lock);
}

int ls_timedread(LsReadFunc *read, pid_t pid, uint64_t addr, void *buf,
                 size_t n)
{
  uint8_t *to = buf;
  if (must_wait(pid))
    return -1;
  while (n > 0) {
    size_t m = n < READER_BYTES ? n : READER_BYTES;
    if (read_part(read, pid, addr, to, m))
      return -1;
    to += m;
    addr += m;
    n -= m;
  }
  return 0;
}
