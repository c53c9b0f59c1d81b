/*
** The unwinder of the BPF program, in user space.
*/

#include <string.h>

#include "unwind_walk.h"
#include "walk.h"

/* What the unwinder's surroundings are in a kernel. */
static const WalkInput *input;
static uint32_t reads;

static int ljs_read(void *dst, __u32 n, __u64 addr)
{
  reads++;
  return input->read(input->ctx, dst, n, addr);
}

static struct ljs_module *ljs_find_module(__u32 module)
{
  return module < input->nmodule ? &input->module[module].m : NULL;
}

const struct ljs_map *walk_map(const WalkInput *in, uint64_t pc)
{
  uint32_t i;
  for (i = 0; i < in->proc->nmaps; i++)
    if (pc >= in->proc->map[i].start && pc < in->proc->map[i].end)
      return &in->proc->map[i];
  return NULL;
}

const struct ljs_row *walk_row(const WalkInput *in, const struct ljs_map *map,
                               uint64_t pc)
{
  const WalkModule *m;
  uint64_t rel = pc - map->bias;
  uint32_t lo = 0, hi;
  if (map->module >= in->nmodule || rel >> 32)
    return NULL;
  m = &in->module[map->module];
  hi = m->m.nrows;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (m->row[mid].pc <= rel)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo ? &m->row[lo - 1] : NULL;
}

static struct ljs_row *ljs_find_row(struct ljs_walk *w, __u64 pc)
{
  const struct ljs_map *map = walk_map(input, pc);
  w->code = map ? map->module : LJS_NO_MODULE;
  return map ? (struct ljs_row *)(uintptr_t)walk_row(input, map, pc) : NULL;
}

/* One step; says where on the C stack the frames are that it has found. */
static int step(struct ljs_walk *w, uint64_t *at)
{
  uint32_t n = w->out.nframes, mode = w->mode;
  uint64_t sp = w->sp;
  int last = ljs_step(w);
  for (; n < w->out.nframes; n++)
    at[n] = mode == LJS_NATIVE ? sp - 8 : w->a;
  return last;
}

void walk(const WalkInput *in, Walk *out)
{
  static struct ljs_walk w;
  input = in;
  reads = 0;
  ljs_begin(&w);
  w.pc = in->pc;
  w.sp = in->sp;
  w.bp = in->bp;
  w.bx = in->bx;
  w.dx = in->dx;
  w.nvm = in->proc->nvm;
  w.vm = in->proc->vm;
  w.nonative = in->nonative;
  w.nolua = in->nolua;
  w.maxnative = in->maxnative ? in->maxnative : LJS_MAX_NATIVE;
  w.maxlua = in->maxlua ? in->maxlua : LJS_MAX_LUA;
  for (out->steps = 1; !step(&w, out->at); out->steps++)
    if (out->steps == LJS_STEPS) {
      ljs_cut(&w, LJS_CUT_STEPS);
      break;
    }
  out->ended = !w.out.cut;
  out->reads = reads;
  memcpy(&out->out, &w.out,
         offsetof(struct ljs_stack, frame) +
             w.out.nframes * sizeof(struct ljs_frame));
}
