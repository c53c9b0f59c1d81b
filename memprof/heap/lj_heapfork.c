/*
** Heap dumps that child processes write: the VM goes on as soon as there is a
** copy of its memory. The program is not to notice: no SIGCHLD, nothing for
** its wait(), no handlers of pthread_atfork().
*/

#define lj_heapfork_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#ifndef LUAJIT_DISABLE_THREAD_SAFE
#include <pthread.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lj_headroom.h"
#include "lj_heapfork.h"
#include "lj_memprof_dump.h"
#include "lj_memprof_time.h"

#define FORK_PATIENCE (5000 * MP_MS) /* How long a child may write nothing. */
#define FORK_SLACK    (1u << 20)     /* Bytes of a child besides its copies. */

static MPFork *fork_list;  /* Under the lock. */
static uint64_t fork_last; /* The last id; under the lock. */

/* -- The lock -------------------------------------------------------------- */

#ifndef LUAJIT_DISABLE_THREAD_SAFE
static pthread_mutex_t fork_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Takes the lock; also before a fork of the host. */
static void fork_lock(void)
{
  pthread_mutex_lock(&fork_mutex);
}

/* Gives it back; after a fork in both processes. */
static void fork_unlock(void)
{
  pthread_mutex_unlock(&fork_mutex);
}

/* Registers the two. To be called once. */
static void fork_atfork(void)
{
  pthread_atfork(fork_lock, fork_unlock, fork_unlock);
}

/* Before the first dump: from here on, fork() leaves the lock in order. */
static void fork_init(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fork_atfork);
}
#else
#define fork_init()   ((void)0)
#define fork_lock()   ((void)0)
#define fork_unlock() ((void)0)
#endif

/* -- The list, with the lock held ------------------------------------------ */

/* True if the child is one of this process, not of one that was forked from. */
static int fork_isours(const MPFork *k)
{
  return k->owner == (long)getpid();
}

/*
** Gives back all but the entry. In a process that was forked off by the
** program, the temporary file stays: it is the parent's.
*/
static void fork_release(MPFork *k)
{
  if (k->shared != NULL)
    munmap(k->shared, sizeof(*k->shared));
  k->shared = NULL;
  if (k->f != NULL) {
    if (!fork_isours(k))
      *k->f->temp = '\0';
    lj_memprof_dropfile(k->f);
    free(k->f);
  }
  k->f = NULL;
}

/* Takes an entry out of the list and frees it. */
static void fork_delete(MPFork **link)
{
  MPFork *k = *link;
  *link = k->next;
  fork_release(k);
  free(k);
}

/* The place of a dump in the list; it holds NULL if there is none. */
static MPFork **fork_find(const global_State *g, uint64_t id)
{
  MPFork **link = &fork_list;
  while (*link != NULL && ((*link)->g != g || (*link)->dump.id != id))
    link = &(*link)->next;
  return link;
}

/* -- How a child ends ------------------------------------------------------ */

/* Why a dump is not whole. status is that of wait(), or -1. */
static void fork_why(MPFork *k, int status)
{
  struct luam_Dump *dump = &k->dump;
  const MPForkShared *shared = k->shared;
  dump->en = shared->state == LUAM_DUMP_FAILED ? shared->en : 0;
  if (shared->state == LUAM_DUMP_FAILED)
    snprintf(dump->why, sizeof(dump->why), "%s",
             *shared->why ? shared->why : strerror(shared->en));
  else if (status == -1)
    strcpy(dump->why, "somebody else has waited for its process");
  else if (WIFSIGNALED(status))
    snprintf(dump->why, sizeof(dump->why), "signal %d has killed its process%s",
             WTERMSIG(status), k->killed ? ", which wrote nothing" : "");
  else
    snprintf(dump->why, sizeof(dump->why), "its process ended with status %d",
             WEXITSTATUS(status));
}

/* A child has ended. A file that is not whole goes away. */
static void fork_ended(MPFork *k, int status)
{
  int done = k->shared->state == LUAM_DUMP_DONE;
  if (done && k->f != NULL)
    *k->f->temp = '\0';
  else if (k->f != NULL)
    done = lj_memprof_mendfile(k->f) && k->shared->state != LUAM_DUMP_FAILED;
  if (!done)
    fork_why(k, status);
  k->dump.state = done ? LUAM_DUMP_DONE : LUAM_DUMP_FAILED;
  k->dump.pid = 0;
  fork_release(k);
}

/* Looks whether a child has ended. */
static void fork_look(MPFork *k)
{
  int status = -1;
  pid_t pid;
  if (k->dump.state != LUAM_DUMP_RUNNING || !fork_isours(k))
    return;
  do {
    pid = wait4((pid_t)k->dump.pid, &status, WNOHANG | __WCLONE, NULL);
  } while (pid < 0 && errno == EINTR);
  if (pid != 0)
    fork_ended(k, pid > 0 ? status : -1);
}

/* Looks whether children have ended. */
static void fork_lookall(void)
{
  MPFork *k, **link = &fork_list;
  while ((k = *link) != NULL) {
    fork_look(k);
    if (k->forgotten && k->dump.state != LUAM_DUMP_RUNNING)
      fork_delete(link);
    else
      link = &k->next;
  }
}

void lj_heap_reap(void)
{
  int saved = errno;
  if (__atomic_load_n(&fork_list, __ATOMIC_RELAXED) == NULL)
    return;
  fork_lock();
  fork_lookall();
  fork_unlock();
  errno = saved;
}

/* -- How it begins --------------------------------------------------------- */

/* An entry, which is not in the list yet. Returns NULL without memory. */
static MPFork *fork_new(global_State *g, const struct luam_Prof_options *opt,
                        MPFile *f)
{
  MPFork *k = (MPFork *)calloc(1, sizeof(MPFork));
  void *shared = mmap(NULL, sizeof(MPForkShared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (k == NULL || shared == MAP_FAILED) {
    if (shared != MAP_FAILED)
      munmap(shared, sizeof(MPForkShared));
    free(k);
    return NULL;
  }
  k->shared = (MPForkShared *)shared;
  k->g = g;
  k->owner = (long)getpid();
  k->f = f;
  k->hostfd = (int)((int64_t)opt->reserved[LUAM_PROF_FORK_FD] - 1);
  k->writer = opt->writer;
  k->arg = opt->arg;
  k->bufsize = lj_heap_bufsize(opt);
  return k;
}

/* A dump that cannot have a process. Returns 0. */
static int fork_refuse(MPFork *k, int en, const char *why)
{
  k->dump.en = en;
  k->dump.state = LUAM_DUMP_FAILED;
  if (why != k->dump.why)
    snprintf(k->dump.why, sizeof(k->dump.why), "%s", why);
  return 0;
}

/*
** True if there is memory for all that may be copied: a cycle of the collector
** writes to every page of the heap. What else the program has is not counted:
** few programs write to all of that while a dump is written.
*/
static int fork_affords(MPFork *k)
{
  uint64_t need = (uint64_t)k->g->gc.total + k->bufsize + FORK_SLACK +
                  lj_headroom_pagetables();
  return lj_headroom_has("", need, k->dump.why, sizeof(k->dump.why)) ||
         fork_refuse(k, ENOMEM, k->dump.why);
}

/*
** Makes the child. It has this thread's state as it is here: no signal handler
** may run in it, and no cancellation take effect. Exit signal 0 is for no
** SIGCHLD; a call of fork() itself would run the program's handlers.
*/
static long fork_clone(MPFork *k, MPDump *d)
{
  sigset_t all, mask;
  long pid;
  int en;
#ifndef LUAJIT_DISABLE_THREAD_SAFE
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
#endif
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  pid = syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
  if (pid == 0)
    lj_heap_child(k, d);
  en = errno;
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
#ifndef LUAJIT_DISABLE_THREAD_SAFE
  pthread_setcancelstate(cancel, NULL);
#endif
  errno = en;
  return pid;
}

/* Starts the child. Returns 0 with the reason in k->dump if it cannot be. */
static int fork_start(MPFork *k, MPDump *d)
{
  long pid = fork_clone(k, d);
  if (pid < 0)
    return fork_refuse(k, errno,
                       errno == EAGAIN
                           ? "no further process can be made: RLIMIT_NPROC, or "
                             "pids.max of the cgroup"
                           : strerror(errno));
  k->dump.pid = pid;
  if (k->f != NULL)
    lj_memprof_leavefile(k->f);
  return 1;
}

/* Puts a dump whose child runs into the list. From here on others see it. */
static void fork_add(MPFork *k, struct luam_Dump *to)
{
  fork_lock();
  k->dump.id = ++fork_last;
  k->forgotten = to == NULL;
  if (to != NULL)
    *to = k->dump;
  k->next = fork_list;
  __atomic_store_n(&fork_list, k, __ATOMIC_RELAXED);
  fork_unlock();
}

int lj_heap_fork(lua_State *L, MPState *mp, const struct luam_Prof_options *opt,
                 MPFile *f, int inside)
{
  struct luam_Dump *to =
      (struct luam_Dump *)(uintptr_t)opt->reserved[LUAM_PROF_FORK_DUMP];
  MPDump d;
  MPFork *k;
  fork_init();
  lj_heap_reap();
  k = fork_new(G(L), opt, f);
  if (k == NULL)
    return LUAM_PROFILE_ERRMEM;
  if (fork_affords(k)) {
    lj_heap_init(&d, L, mp, opt, inside);
    if (fork_start(k, &d)) {
      /* No record of a dump that could not begin. The child has the id. */
      lj_memprof_markdump(mp, &d.id);
      fork_add(k, to);
      return LUAM_PROFILE_SUCCESS;
    }
  }
  if (to != NULL)
    *to = k->dump;
  k->f = NULL; /* It stays the caller's. */
  fork_release(k);
  free(k);
  return LUAM_PROFILE_ERRFORK;
}

/* -- Afterwards ------------------------------------------------------------ */

void lj_heap_forget(const global_State *g, uint64_t id)
{
  MPFork *k;
  fork_lock();
  k = *fork_find(g, id);
  if (k != NULL)
    k->forgotten = 1;
  fork_lookall();
  fork_unlock();
}

/* Sets what is known of a dump. Returns LUAM_PROFILE_*. */
static int fork_status(const global_State *g, struct luam_Dump *dump)
{
  MPFork **link = fork_find(g, dump->id), *k = *link;
  if (k == NULL || !fork_isours(k))
    return LUAM_PROFILE_ERR;
  *dump = k->dump;
  if (dump->state != LUAM_DUMP_RUNNING)
    fork_delete(link);
  return LUAM_PROFILE_SUCCESS;
}

LUAMISC_API int luaM_memprof_dumpstatus(lua_State *L, struct luam_Dump *dump)
{
  int status;
  if (L == NULL || dump == NULL)
    return LUAM_PROFILE_ERR;
  lj_heap_reap();
  if (dump->state != LUAM_DUMP_RUNNING)
    return LUAM_PROFILE_SUCCESS;
  fork_lock();
  status = fork_status(G(L), dump);
  fork_unlock();
  return status;
}

/* -- The VM goes away ------------------------------------------------------ */

/*
** True if a child is to be waited for. One that has written nothing for
** FORK_PATIENCE is killed. If it does not end then, it is not waited for.
*/
static int fork_iswaited(MPFork *k, uint64_t now)
{
  uint64_t bytes = __atomic_load_n(&k->shared->bytes, __ATOMIC_RELAXED);
  if (k->since == 0 || bytes != k->seen) {
    k->seen = bytes;
    k->since = now;
  }
  if (now - k->since < FORK_PATIENCE)
    return 1;
  if (k->killed)
    return 0;
  kill((pid_t)k->dump.pid, SIGKILL);
  k->killed = 1;
  k->since = now;
  return 1;
}

/* Frees the dumps of a VM that are over. Returns how many are waited for. */
static int fork_close(const global_State *g)
{
  MPFork *k, **link = &fork_list;
  uint64_t now = lj_memprof_now();
  int waiting = 0;
  fork_lookall();
  while ((k = *link) != NULL) {
    if (k->g != g) {
      link = &k->next;
    } else if (k->dump.state == LUAM_DUMP_RUNNING && fork_isours(k) &&
               fork_iswaited(k, now)) {
      waiting++;
      link = &k->next;
    } else {
      fork_delete(link);
    }
  }
  return waiting;
}

void lj_heap_forkclose(const global_State *g)
{
  int waiting;
  if (__atomic_load_n(&fork_list, __ATOMIC_RELAXED) == NULL)
    return;
  do {
    fork_lock();
    waiting = fork_close(g);
    fork_unlock();
    if (waiting)
      lj_memprof_sleep(MP_NAP);
  } while (waiting);
}

#else

LUAMISC_API int luaM_memprof_dumpstatus(lua_State *L, struct luam_Dump *dump)
{
  UNUSED(L);
  UNUSED(dump);
  return LUAM_PROFILE_ERR;
}

#endif
