/*
** Unwinding at every instruction.
*/

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

static const char *const kinds[JUDGE_KINDS] = {
    "cut",  "native",      "leaf", "lua",   "place",
    "line", "no bytecode", "jit",  "moved", "thrown"};

/* -- Telling -------------------------------------------------------------- */

/* A list of Lua frames, to be printed. */
static void print_list(FILE *f, Tracee *t, const char *what,
                       const TruthList *list)
{
  uint32_t i;
  fprintf(f, "    %-7s", what);
  for (i = 0; i < list->n; i++) {
    const TruthFrame *g = &list->frame[i];
    if (i > 8 && i + 8 < list->n)
      continue;
    if (g->kind == LJS_FRAME_LUA)
      fprintf(f, " %d:%d", (int)tracee_uint(t, g->id + t->vm->pt_firstline, 4),
              (int)g->x);
    else if (g->kind == LJS_FRAME_BUILTIN)
      fprintf(f, " [%.24s]", tracee_where(t, g->id));
    else
      fprintf(f, " %s", g->kind == LJS_FRAME_TRACE ? "TRACE" : "JIT");
    fprintf(f, "/%x", (unsigned)g->a & 0xfffff);
  }
  fprintf(f, "\n");
}

/* Code outside of the VM is told apart by function only. */
static uint64_t where_of(Tracee *t, uint64_t pc)
{
  return pc >= t->lo && pc < t->hi ? pc : tracee_function(t, pc);
}

/* The failure's class, NULL if there are too many; *FRESH if it is new. */
static JudgeClass *class_of(Judge *j, Tracee *t, uint32_t kind, uint64_t where,
                            uint64_t count, int *fresh)
{
  JudgeClass *c = j->class;
  uint32_t i;
  where = where_of(t, where);
  *fresh = 0;
  j->bad[kind] += count;
  for (i = 0; i < j->nclass; i++, c++)
    if (c->kind == kind && c->where == where)
      break;
  if (i == JUDGE_CLASSES)
    return NULL;
  if (i == j->nclass) {
    *c = (JudgeClass){.kind = kind, .where = where};
    snprintf(c->text, sizeof(c->text), "%s", tracee_where(t, where));
    if (where >= t->lo && where < t->hi)
      snprintf(c->text + strlen(c->text), sizeof(c->text) - strlen(c->text),
               " VM+%#" PRIx64, where - t->lo);
    j->nclass++;
    *fresh = 1;
  }
  c->count += count;
  return c;
}

/* -- Native frames -------------------------------------------------------- */

static void tell_native(Judge *j, Tracee *t, const Truth *tr, const Walk *w,
                        uint32_t kind)
{
  int fresh;
  JudgeClass *c = class_of(j, t, kind, t->regs.rip, 1, &fresh);
  size_t n;
  FILE *f;
  uint32_t i;
  if (!fresh)
    return;
  f = open_memstream(&c->example, &n);
  fprintf(f, "    cut %u, rsp %" PRIx64 "\n    walked", w->out.cut,
          (uint64_t)t->regs.rsp);
  for (i = w->out.nframes; i-- > 0;)
    if (i < 24 || i + 4 > w->out.nframes)
      fprintf(f, " %u%s%.28s/%x", w->out.frame[i].kind,
              w->out.frame[i].flags & LJS_FLAG_RETURN ? "r:" : ":",
              w->out.frame[i].kind == LJS_FRAME_NATIVE
                  ? tracee_where(t, w->out.frame[i].addr)
                  : "",
              (unsigned)w->at[i] & 0xfffff);
  fprintf(f, "\n    called");
  for (i = 0; i < tr->ncall; i++)
    if (truth_native(t, tr->call[i].addr) && (i < 4 || i + 24 > tr->ncall))
      fprintf(f, " %.28s/%x", tracee_where(t, tr->call[i].addr),
              (unsigned)tr->call[i].at & 0xfffff);
  fprintf(f, "\n");
  fclose(f);
}

/* How many native frames there are. */
static uint32_t count_native(const Tracee *t, const Truth *tr)
{
  uint32_t i, n = 0;
  for (i = 0; i < tr->ncall; i++)
    n += truth_native(t, tr->call[i].addr) != 0;
  return n;
}

/* How many native frames are those that were called, from the outermost on; -1
** if they all are, and none is missing.
*/
static int check_native(const Tracee *t, const Truth *tr, const Walk *w)
{
  uint32_t i = w->out.nframes, k = 0, n = 0;
  while (i--) {
    const struct ljs_frame *f = &w->out.frame[i];
    if (f->kind != LJS_FRAME_NATIVE || !(f->flags & LJS_FLAG_RETURN) ||
        (f->addr >= t->lo && f->addr < t->hi)) /* As a function of C. */
      continue;
    while (k < tr->ncall && !truth_native(t, tr->call[k].addr))
      k++;
    if (k == tr->ncall || tr->call[k].addr != f->addr ||
        tr->call[k].at != w->at[i])
      return (int)n;
    k++;
    n++;
  }
  while (k < tr->ncall && !truth_native(t, tr->call[k].addr))
    k++;
  return k == tr->ncall ? -1 : (int)n;
}

/* Are the native frames that were found the innermost ones? */
static int check_inner(const Tracee *t, const Truth *tr, const Walk *w)
{
  uint32_t i, k = tr->ncall;
  for (i = 0; i < w->out.nframes; i++) {
    const struct ljs_frame *f = &w->out.frame[i];
    if (f->kind != LJS_FRAME_NATIVE || !(f->flags & LJS_FLAG_RETURN))
      continue;
    while (k && !truth_native(t, tr->call[k - 1].addr))
      k--;
    if (!k || tr->call[k - 1].addr != f->addr || tr->call[k - 1].at != w->at[i])
      return 0;
    k--;
  }
  return 1;
}

/* The innermost frame is where the process is. Returns -1 if not. */
static int check_leaf(const Tracee *t, const Walk *w)
{
  const struct ljs_frame *f = &w->out.frame[0];
  uint64_t pc = t->regs.rip;
  if (!w->out.nframes)
    return -1;
  if (pc >= t->lo && pc < t->hi)
    return 0;
  if (walk_map(&t->in, pc))
    return f->kind == LJS_FRAME_NATIVE && !f->flags && f->addr == pc ? 0 : -1;
  return f->kind == LJS_FRAME_TRACE || f->kind == LJS_FRAME_JIT ? 0 : -1;
}

/* -- Lua frames ----------------------------------------------------------- */

#define RUNS 512
#define BADS 16384

/* Steps in a row with the same Lua frames. */
typedef struct Run {
  TruthList list;
  uint64_t where, count; /* The first one, and how many. */
  uint64_t sp;           /* rsp there. */
} Run;

typedef struct Stage {
  Truth truth;
  TruthList next;
  Run run[RUNS];
  uint32_t nrun;
  uint64_t lost; /* Steps of runs that were too many. */
  struct {
    uint64_t where;
    uint32_t kind, native; /* How many native frames were right. */
  } bad[BADS];
  uint32_t nbad;
  uint64_t l, stack; /* The coroutine, and where its stack was. */
} Stage;

/* The Lua frames that were found, outermost first. */
static void list_of(const Walk *w, TruthList *list)
{
  uint32_t i = w->out.nframes;
  list->n = 0;
  while (i--) {
    const struct ljs_frame *f = &w->out.frame[i];
    if (f->kind < LJS_FRAME_LUA || f->kind > LJS_FRAME_JIT)
      continue;
    list->frame[list->n++] =
        (TruthFrame){.id = f->addr, .x = f->x, .kind = f->kind, .a = w->at[i]};
  }
}

static int same_list(const TruthList *a, const TruthList *b)
{
  uint32_t i = a->n;
  if (a->n != b->n)
    return 0;
  while (i--) {
    const TruthFrame *f = &a->frame[i], *g = &b->frame[i];
    if (f->id != g->id || f->kind != g->kind || f->a != g->a ||
        (f->x != g->x && f->kind == LJS_FRAME_LUA))
      return 0;
  }
  return 1;
}

/* Keeps what was found at a step until it is known what is right. */
static void keep(Stage *s, const Tracee *t, const TruthList *list)
{
  Run *r;
  if (s->nrun && same_list(&s->run[s->nrun - 1].list, list)) {
    s->run[s->nrun - 1].count++;
    return;
  }
  if (s->nrun == RUNS) {
    s->lost++;
    return;
  }
  r = &s->run[s->nrun++];
  r->list = *list;
  r->where = t->regs.rip;
  r->count = 1;
  r->sp = t->regs.rsp;
}

/* How many frames they have in common, from the outermost on. */
static uint32_t common(const TruthList *a, const TruthList *b)
{
  uint32_t n = 0;
  while (n < a->n && n < b->n && a->frame[n].id == b->frame[n].id &&
         a->frame[n].kind == b->frame[n].kind)
    n++;
  return n;
}

int64_t judge_line(Tracee *t, uint64_t pt, uint32_t x)
{
  const struct ljs_vm *vm = t->vm;
  uint64_t info = tracee_ref(t, pt + vm->pt_lineinfo);
  uint64_t first = tracee_uint(t, pt + vm->pt_firstline, 4);
  uint64_t lines = tracee_uint(t, pt + vm->pt_numline, 4);
  uint32_t width = lines < 256 ? 1 : lines < 65536 ? 2 : 4;
  if (!info || x >= tracee_uint(t, pt + vm->pt_sizebc, 4))
    return -1;
  if (x == 0) /* The function's header. */
    return (int64_t)first;
  return (int64_t)(first + tracee_uint(t, info + (x - 1) * width, width));
}

/* Whether the frame is on a line that it was on, or will be. */
static int right_line(Tracee *t, const TruthFrame *f, uint32_t i,
                      const TruthList *was, const TruthList *will)
{
  const TruthFrame *a = i < was->n ? &was->frame[i] : NULL;
  const TruthFrame *b = i < will->n ? &will->frame[i] : NULL;
  int64_t line = judge_line(t, f->id, f->x);
  if (a && a->id == f->id &&
      (a->x == TRUTH_NOPC || judge_line(t, a->id, a->x) == line))
    return 1;
  if (b && b->id == f->id &&
      (b->x == TRUTH_NOPC || judge_line(t, b->id, b->x) == line))
    return 1;
  return (!a || a->id != f->id) && (!b || b->id != f->id);
}

/* What is wrong with a run; JUDGE_KINDS: nothing. */
static uint32_t judge_lua(Tracee *t, const Stage *s, const Run *r)
{
  const TruthList *was = &s->truth.lua, *will = &s->next, *is = &r->list;
  uint32_t i, n = is->n, least = common(was, will), a, b;
  int jit = n && is->frame[n - 1].kind >= LJS_FRAME_TRACE;
  while (least && was->frame[least - 1].a < s->truth.maxsp)
    least--; /* It was left for C. */
  if (least && least == will->n &&
      (will->frame[least - 1].x == 0 ||
       (least == was->n && will->frame[least - 1].kind == LJS_FRAME_BUILTIN)))
    least--; /* It has returned, and was called again. */
  n -= (uint32_t)jit;
  a = common(was, is);
  b = common(will, is);
  if (jit) {
    /* A trace has inlined some, and may run ahead of what will be. */
    uint32_t most = a > b ? a : b;
    if (most < n && most < least)
      return JUDGE_LUA;
  } else if (n < least) {
    return JUDGE_LUA;
  } else if (a < n && b < n) {
    /* A coroutine that is resumed is in yield() until that has returned. */
    const TruthFrame *f = &is->frame[n - 1];
    if (f->kind != LJS_FRAME_BUILTIN || b != n - 1 ||
        (was->n && f->a >= was->frame[was->n - 1].a))
      return JUDGE_LUA;
  }
  for (i = 0; i < n; i++) {
    const TruthFrame *f = &is->frame[i];
    int ok = (i < a && was->frame[i].a == f->a) ||
             (i < b && will->frame[i].a == f->a) || (i >= a && i >= b);
    if (!ok)
      return JUDGE_PLACE;
    if (f->a + 512 < r->sp)
      return JUDGE_PLACE;
  }
  if (jit && is->frame[n].kind == LJS_FRAME_JIT)
    return JUDGE_JIT;
  for (i = 0; i < n; i++) {
    const TruthFrame *f = &is->frame[i];
    if (f->kind != LJS_FRAME_LUA)
      continue;
    if (f->x == ~0u)
      return JUDGE_NOPC;
    /* A coroutine that is resumed is still at its call of yield(). */
    if (i >= a && i < b && f->x + 1 == will->frame[i].x)
      continue;
    if (!right_line(t, f, i, was, will))
      return f->l & LJS_FLAG_NOPC ? JUDGE_NOPC : JUDGE_LINE;
  }
  return JUDGE_KINDS;
}

static void tell_lua(Judge *j, Tracee *t, const Stage *s, const Run *r,
                     uint32_t kind)
{
  int fresh;
  JudgeClass *c = class_of(j, t, kind, r->where, r->count, &fresh);
  size_t n;
  FILE *f;
  if (!fresh)
    return;
  f = open_memstream(&c->example, &n);
  fprintf(f, "    step %" PRIu64 " rsp %x maxsp %x\n", j->steps,
          (unsigned)r->sp & 0xfffff, (unsigned)s->truth.maxsp & 0xfffff);
  print_list(f, t, "was", &s->truth.lua);
  print_list(f, t, "walked", &r->list);
  print_list(f, t, "will be", &s->next);
  fclose(f);
}

/* Steps were bad, but not without a cause: counts them elsewhere. */
static void excuse(Judge *j, Tracee *t, const Stage *s, int move)
{
  uint32_t i, n = count_native(t, &s->truth);
  int fresh;
  for (i = 0; i < s->nbad; i++) {
    uint32_t kind = s->bad[i].kind, to;
    JudgeClass *was, *is;
    if (kind == JUDGE_CUT && move)
      to = JUDGE_MOVED;
    else if (s->truth.thrown && s->bad[i].native >= n)
      to = JUDGE_THROWN;
    else
      continue;
    was = class_of(j, t, kind, s->bad[i].where, 0, &fresh);
    is = class_of(j, t, to, s->bad[i].where, 1, &fresh);
    j->bad[kind]--;
    if (was)
      was->count--;
    if (was && is && fresh && was->example)
      is->example = strdup(was->example);
  }
}

/* At a bytecode: has the stack been moved since the last one? */
static int moved(Tracee *t, Stage *s)
{
  uint64_t l = tracee_ref(t, t->regs.rsp + t->vm->save_l);
  uint64_t stack = tracee_ref(t, l + t->vm->l_stack);
  int yes = l == s->l && stack != s->stack;
  s->l = l;
  s->stack = stack;
  return yes;
}

/* At a bytecode: judges what was found since the last one. */
static void settle(Judge *j, Tracee *t, Stage *s)
{
  uint32_t i;
  int move = moved(t, s);
  truth_lua(&s->truth, t, &s->next);
  excuse(j, t, s, move);
  s->nbad = 0;
  s->truth.thrown = 0;
  for (i = 0; i < s->nrun; i++) {
    uint32_t kind = judge_lua(t, s, &s->run[i]);
    if (move && kind == JUDGE_LUA)
      kind = JUDGE_MOVED;
    if (kind < JUDGE_KINDS)
      tell_lua(j, t, s, &s->run[i], kind);
  }
  j->bad[JUDGE_LUA] += s->lost;
  j->ops++;
  s->nrun = 0;
  s->lost = 0;
  s->truth.lua = s->next;
  s->truth.maxsp = 0;
}

/* -- All ------------------------------------------------------------------ */

/* A bad step: of what kind it really is will be known later. */
static void bad(Judge *j, Tracee *t, Stage *s, const Walk *w, uint32_t kind)
{
  int n = check_native(t, &s->truth, w);
  tell_native(j, t, &s->truth, w, kind);
  if (s->nbad == BADS)
    return;
  s->bad[s->nbad].where = t->regs.rip;
  s->bad[s->nbad].kind = kind;
  s->bad[s->nbad++].native = n < 0 ? UINT32_MAX : (uint32_t)n;
}

/* Unwinds, and checks what can be checked right now. */
static void look(Judge *j, Tracee *t, Stage *s)
{
  static Walk w;
  static TruthList list;
  tracee_walk(t, &w);
  j->steps++;
  j->reads += w.reads;
  if (w.out.cut) {
    bad(j, t, s, &w, JUDGE_CUT);
    return;
  }
  if (check_native(t, &s->truth, &w) >= 0) {
    bad(j, t, s, &w, JUDGE_NATIVE);
    return;
  }
  if (check_leaf(t, &w))
    tell_native(j, t, &s->truth, &w, JUDGE_LEAF);
  list_of(&w, &list);
  j->traced += list.n && list.frame[list.n - 1].kind >= LJS_FRAME_TRACE;
  keep(s, t, &list);
}

/* Steps up to a bytecode, and begins there. Returns 0 if the process ends. */
static int begin(Tracee *t, Stage *s)
{
  static Walk w;
  unsigned i;
  for (i = 0; !s->truth.atop; i++) {
    s->truth.ncall = 0;
    if (i == 5000000 || !truth_step(&s->truth, t))
      return 0;
  }
  tracee_walk(t, &w);
  ck_assert_uint_eq(w.out.cut, 0);
  truth_begin(&s->truth, t, &w);
  moved(t, s);
  return 1;
}

int judge_run(Judge *j, Tracee *t, uint64_t n)
{
  Stage *s = calloc(1, sizeof(*s));
  int runs;
  ck_assert_ptr_nonnull(s);
  runs = begin(t, s);
  while (runs && (n || !s->truth.atop)) { /* To the end of a bytecode. */
    n -= n != 0;
    runs = truth_step(&s->truth, t);
    if (!runs)
      break;
    look(j, t, s);
    if (s->truth.atop)
      settle(j, t, s);
  }
  free(s);
  return runs;
}

int judge_native(Judge *j, Tracee *t, uint64_t n)
{
  static Walk w;
  Truth *tr = calloc(1, sizeof(*tr));
  int runs = 1;
  ck_assert_ptr_nonnull(tr);
  while (n-- && (runs = truth_step(tr, t))) {
    tracee_walk(t, &w);
    j->steps++;
    j->reads += w.reads;
    if (w.out.cut == LJS_CUT_NOROW && check_inner(t, tr, &w))
      j->untold++;
    else if (w.out.cut)
      tell_native(j, t, tr, &w, JUDGE_CUT);
    else if (check_native(t, tr, &w) >= 0)
      tell_native(j, t, tr, &w, JUDGE_NATIVE);
    else if (check_leaf(t, &w))
      tell_native(j, t, tr, &w, JUDGE_LEAF);
  }
  free(tr);
  return runs;
}

static int by_count(const void *a, const void *b)
{
  const JudgeClass *x = a, *y = b;
  return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

void judge_print(const Judge *j, const char *title, int examples)
{
  JudgeClass *c = calloc(j->nclass + 1, sizeof(*c));
  double n = j->steps ? (double)j->steps : 1;
  uint32_t i;
  printf("%-12s %9" PRIu64 " steps %8" PRIu64 " bytecodes %8" PRIu64
         " on traces; %.0f reads:",
         title, j->steps, j->ops, j->traced, (double)j->reads / n);
  for (i = 0; i < JUDGE_KINDS; i++)
    if (j->bad[i])
      printf(" %s %" PRIu64 " (%.4f%%)", kinds[i], j->bad[i],
             100 * (double)j->bad[i] / n);
  printf("%s%.0d\n", j->untold ? " untold " : "", (int)j->untold);
  ck_assert_ptr_nonnull(c);
  memcpy(c, j->class, j->nclass * sizeof(*c));
  qsort(c, j->nclass, sizeof(*c), by_count);
  for (i = 0; i < j->nclass && c[i].count; i++) {
    printf("  %-11s %7" PRIu64 " %s\n", kinds[c[i].kind], c[i].count,
           c[i].text);
    if ((int)i < examples && c[i].example)
      fputs(c[i].example, stdout);
  }
  free(c);
  fflush(stdout);
}

void judge_end(Judge *j)
{
  while (j->nclass)
    free(j->class[--j->nclass].example);
}

double judge_failed(const Judge *j, uint32_t which)
{
  uint64_t n = 0;
  uint32_t i;
  for (i = 0; i < JUDGE_KINDS; i++)
    if (which >> i & 1)
      n += j->bad[i];
  return j->steps ? (double)n / (double)j->steps : 1;
}
