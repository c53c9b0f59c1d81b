/*
** Processes that begin, from user space.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capable.h"
#include "ljs.h"
#include "watch.h"
#include "watch.skel.h"

struct LsWatch {
  struct watch_bpf *bpf;
  struct ring_buffer *ring;
  LsWatchFunc *func; /* Who takes events, */
  void *ctx;         /* and with what. */
  uint32_t lost;     /* Events that are known to be missing. */
};

static int take_event(void *ctx, void *data, size_t size)
{
  LsWatch *w = ctx;
  struct ljs_event e;
  if (size < sizeof(e))
    return 0;
  memcpy(&e, data, sizeof(e));
  w->func(w->ctx, e.what == LJS_EVENT_FORK ? LS_WATCH_FORK : LS_WATCH_EXEC,
          (pid_t)e.pid);
  return 0;
}

/* Returns 0, or -1 with errno. */
static int load(LsWatch *w, int children, int every)
{
  struct stat st;
  w->bpf = watch_bpf__open();
  if (!w->bpf || stat("/proc/self/ns/pid", &st))
    return -1;
  w->bpf->rodata->pidns_dev = st.st_dev;
  w->bpf->rodata->pidns_ino = st.st_ino;
  w->bpf->rodata->every = every != 0;
  bpf_program__set_autoload(w->bpf->progs.forked, children != 0);
  if (watch_bpf__load(w->bpf) || watch_bpf__attach(w->bpf))
    return -1;
  w->ring =
      ring_buffer__new(bpf_map__fd(w->bpf->maps.events), take_event, w, NULL);
  return w->ring ? 0 : -1;
}

LsWatch *ls_watch_open(int children, int every, char *why, size_t size)
{
  LsWatch *w = calloc(1, sizeof(*w));
  if (!w) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  if (!load(w, children, every))
    return w;
  ls_capable_why(errno, why, size);
  ls_watch_close(w);
  return NULL;
}

void ls_watch_close(LsWatch *w)
{
  if (!w)
    return;
  ring_buffer__free(w->ring);
  watch_bpf__destroy(w->bpf);
  free(w);
}

void ls_watch_add(LsWatch *w, pid_t pid)
{
  uint32_t key = (uint32_t)pid, one = 1;
  if (w)
    bpf_map_update_elem(bpf_map__fd(w->bpf->maps.watched), &key, &one, BPF_ANY);
}

void ls_watch_drop(LsWatch *w, pid_t pid)
{
  uint32_t key = (uint32_t)pid;
  if (w)
    bpf_map_delete_elem(bpf_map__fd(w->bpf->maps.watched), &key);
}

int ls_watch_fd(const LsWatch *w)
{
  return ring_buffer__epoll_fd(w->ring);
}

void ls_watch_read(LsWatch *w, LsWatchFunc *func, void *ctx)
{
  uint32_t lost = __atomic_load_n(&w->bpf->bss->lost, __ATOMIC_RELAXED);
  w->func = func;
  w->ctx = ctx;
  ring_buffer__consume(w->ring);
  if (lost == w->lost)
    return;
  w->lost = lost;
  func(ctx, LS_WATCH_LOST, 0);
}
