/*
** Where the code of each snapshot begins, by the exits of the code.
**
** A guard that fails leaves the trace by a jump to the stub of its exit, and
** the exit has the number of the snapshot that the guard's code belongs to.
** Code is in the order of the snapshots, so the code of number N begins behind
** the last guard of a lower number, and not behind the first one of its own or
** of a higher one. A guard whose exit has become a trace says nothing. A loop
** begins at an offset that is known, and with an IR instruction of its own.
*/

#include <stdlib.h>

#include "luaexits.h"

/* Instructions of stubs, and of those who jump there. */
enum { X_PUSH = 0x6a, X_JMPS = 0xeb, X_JMP = 0xe9, X_JB = 0x82 };

typedef struct Guard {
  uint32_t prev, ofs, end; /* The instruction before, its jump, and behind. */
  uint32_t exit;
  uint8_t op; /* Of the jump. */
} Guard;

typedef struct Guards {
  Guard *g;
  uint32_t n;
} Guards;

/* The number of the exit that has its stub at an address, or -1. Each stub
** pushes the low byte; behind the last one of a group, to which the others
** jump, the high byte is pushed.
*/
static int exits_ofstub(LsRemote *m, uint64_t addr)
{
  uint8_t lo[4], hi[2];
  if (!ls_remote_get(m, addr, lo, sizeof(lo)) || lo[0] != X_PUSH)
    return -1;
  addr += lo[2] == X_JMPS ? 4 + (uint64_t)(int64_t)(int8_t)lo[3] : 2;
  if (!ls_remote_get(m, addr, hi, sizeof(hi)) || hi[0] != X_PUSH)
    return -1;
  return lo[1] | hi[1] << 8;
}

/* Whether an instruction may jump to a stub. */
static bool exits_isjump(const LsX86 *x)
{
  return !x->prefix && ((x->map == 1 && (x->op & 0xf0) == 0x80) ||
                        (x->map == 0 && x->op == X_JMP));
}

/* Collect the guards. */
static void exits_collect(const LsIr *t, const LsCode *c, Guards *gs)
{
  uint32_t i, prev = 0;
  for (i = 0; i < c->n; prev = c->ins[i++].ofs) {
    const LsX86 *x = &c->ins[i].x;
    uint32_t at = c->ins[i].ofs;
    uint64_t to = t->mcode + at + x->len + (uint64_t)(int64_t)x->disp;
    int exit;
    if (!exits_isjump(x) || to - t->mcode < t->szmcode)
      continue;
    exit = exits_ofstub(t->v->mem, to);
    if (exit >= 0)
      gs->g[gs->n++] = (Guard){prev, at, at + x->len, (uint32_t)exit, x->op};
  }
}

/* Whether the guards are in the order of their snapshots. A side trace may
** begin with a check of the stack, which leaves by the exit of the parent.
*/
static bool exits_areordered(const LsIr *t, Guards *gs)
{
  uint32_t i;
  if (t->root != 0 && gs->n > 0 && gs->g[0].op == X_JB) {
    gs->g++;
    gs->n--;
  }
  for (i = 0; i < gs->n; i++)
    if (gs->g[i].exit >= t->nsnap ||
        (i > 0 && gs->g[i].exit < gs->g[i - 1].exit))
      return false;
  return true;
}

/* The IR instruction that a loop begins with, or 0. */
static uint32_t exits_loop(const LsIr *t)
{
  uint32_t n = t->nins - LS_REF_BIAS, i;
  for (i = 0; i < n && t->ins[i].op != LS_IR_LOOP; i++)
    ;
  return t->mcloop != 0 && i < n ? LS_REF_BIAS + i : 0;
}

/* Where the code of snapshot NO begins. I is the first guard that does not have
** a lower number.
*/
static LsBegin exits_begin(const LsIr *t, const Guards *gs, uint32_t no,
                           uint32_t i)
{
  LsBegin b = {.early = i > 0 ? gs->g[i - 1].end : 0, .late = t->szmcode};
  if (i < gs->n)
    b.late = gs->g[i].ofs;
  b.likely = b.early + (b.late - b.early) / 2;
  if (i < gs->n && gs->g[i].exit == no) /* It compares first. */
    b.likely = gs->g[i].prev > b.early ? gs->g[i].prev : b.early;
  return b;
}

/* A snapshot is in the loop, or in front of it. Returns false if its guards say
** that it cannot be.
*/
static bool exits_limit(LsBegin *b, bool inloop, uint32_t mcloop)
{
  if (inloop && b->early < mcloop)
    b->early = mcloop;
  if (!inloop && b->late > mcloop)
    b->late = mcloop;
  if (b->likely < b->early)
    b->likely = b->early;
  if (b->likely > b->late)
    b->likely = b->late;
  return b->early <= b->late;
}

/* Where the code of all begins. */
static LsBegin *exits_begins(const LsIr *t, const LsRawSnap *raw,
                             const LsCode *c, Guards *gs)
{
  uint32_t no, i = 0, loop = exits_loop(t);
  LsBegin *b;
  exits_collect(t, c, gs);
  if (!exits_areordered(t, gs))
    return NULL;
  b = calloc(t->nsnap, sizeof(*b));
  for (no = 1; b && no < t->nsnap; no++) { /* The first begins with the code. */
    while (i < gs->n && gs->g[i].exit < no)
      i++;
    b[no] = exits_begin(t, gs, no, i);
    if (loop && !exits_limit(&b[no], raw[no].ref > loop, t->mcloop)) {
      free(b);
      return NULL;
    }
  }
  return b;
}

LsBegin *ls_exits_read(const LsIr *t, const LsCode *c, const LsRawSnap *raw)
{
  LsBegin *b = NULL;
  bool was = t->v->mem->bad; /* A jump may lead anywhere. */
  Guard *g = calloc(c->n + 1, sizeof(*g));
  if (g)
    b = exits_begins(t, raw, c, &(Guards){g, 0});
  t->v->mem->bad = was;
  free(g);
  return b;
}
