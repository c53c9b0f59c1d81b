/*
** The unwinder of the BPF program in user space.
*/

#include <stdlib.h>
#include <string.h>

#include "remote.h"
#include "unwind_walk.h"
#include "userwalk.h"

/* The tables of one module. */
typedef struct Tables {
  struct ljs_module m;
  struct ljs_row *row;
} Tables;

struct LsUserWalk {
  Tables *module; /* Number ID is at ID. */
  uint32_t n;
};

/* The walk that is under way, and the memory of the unwinder, which is too
** large for a stack.
*/
static const LsUserWalk *current;
static const LsTarget *target;

/* -- What the unwinder needs ---------------------------------------------- */

static int ljs_read(void *dst, __u32 n, __u64 addr)
{
  return ls_remote_read(target->pid, addr, dst, n);
}

static struct ljs_module *ljs_find_module(__u32 module)
{
  return module < current->n ? &current->module[module].m : NULL;
}

static struct ljs_row *ljs_find_row(struct ljs_walk *w, __u64 pc)
{
  const struct ljs_map *map = ls_target_map(target, pc);
  const Tables *t;
  uint64_t rel;
  uint32_t lo = 0, hi;
  w->code = map ? map->module : LJS_NO_MODULE;
  if (!map || map->module >= current->n || (pc - map->bias) >> 32)
    return NULL;
  t = &current->module[map->module];
  rel = pc - map->bias;
  hi = t->m.nrows;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (t->row[mid].pc <= rel)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo ? &t->row[lo - 1] : NULL;
}

/* -- Tables --------------------------------------------------------------- */

LsUserWalk *ls_userwalk_open(void)
{
  return calloc(1, sizeof(LsUserWalk));
}

void ls_userwalk_close(LsUserWalk *w)
{
  uint32_t i;
  if (!w)
    return;
  for (i = 0; i < w->n; i++)
    free(w->module[i].row);
  free(w->module);
  free(w);
}

/* Makes room for module ID. */
static int make_room(LsUserWalk *w, uint32_t id)
{
  Tables *module;
  if (id < w->n)
    return 0;
  module = realloc(w->module, (id + 1) * sizeof(*module));
  if (!module)
    return -1;
  memset(module + w->n, 0, (id + 1 - w->n) * sizeof(*module));
  w->module = module;
  w->n = id + 1;
  return 0;
}

int ls_userwalk_module(LsUserWalk *w, uint32_t id, const struct ljs_row *row,
                       size_t n, const struct ljs_vm *vm)
{
  struct ljs_row *copy;
  Tables *t;
  if (id > LS_MODULES_MAX || make_room(w, id))
    return -1;
  copy = malloc((n ? n : 1) * sizeof(*copy));
  if (!copy)
    return -1;
  if (n)
    memcpy(copy, row, n * sizeof(*copy));
  t = &w->module[id];
  free(t->row);
  t->row = copy;
  t->m.nrows = (uint32_t)n;
  t->m.hasvm = vm != NULL;
  if (vm)
    t->m.vm = *vm;
  return 0;
}

void ls_userwalk_distrust(LsUserWalk *w, uint32_t id)
{
  if (id < w->n)
    w->module[id].m.hasvm = 0;
}

/* -- Walking -------------------------------------------------------------- */

/* The registers to begin with, and what is wanted. */
static void set_start(struct ljs_walk *w, const LsTarget *t,
                      const struct ljs_thread *th)
{
  ljs_begin(w);
  w->pc = th->pc;
  w->sp = th->sp;
  w->bp = th->bp;
  w->bx = th->bx;
  w->dx = th->dx;
  w->nvm = t->image.nvm;
  w->vm = t->image.vm;
  w->maxnative = LJS_MAX_NATIVE;
  w->maxlua = LJS_MAX_LUA;
  w->out.pid = th->pid;
  w->out.tid = th->tid;
}

const struct ljs_stack *ls_userwalk(LsUserWalk *w, const LsTarget *t,
                                    const struct ljs_thread *th)
{
  static struct ljs_walk walk;
  uint32_t steps;
  current = w;
  target = t;
  set_start(&walk, t, th);
  for (steps = 1; !ljs_step(&walk); steps++)
    if (steps == LJS_STEPS) {
      ljs_cut(&walk, LJS_CUT_STEPS);
      break;
    }
  return &walk.out;
}
