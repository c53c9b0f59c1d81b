/*
** Lines of compiled code, against the truth: a LuaJIT that has been marked (see
** test/lines/) has told which bytecode instruction each piece of machine code
** was emitted for. The environment has:
**
**   LINES_LUAJIT  the marked luajit
**   LINES_RUN     a program that it runs, and arguments, for a shell
**   LJ_MARK       the file that the luajit writes
**   V             1: list what is wrong and is not marked, 2: all wrong lines,
**                 3: snapshots and the paths between them, too, 4: all
**                 lines
*/

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "live.h"
#include "luanaming.h"
#include "luatraceline.h"
#include "luatraces.h"
#include "suites.h"
#include "tracepath.h"
#include "x86.h"

#define LINES_TIMES 10000 /* Traces that are timed. */

/* The machine code of one IR instruction, and what it was emitted for. */
typedef struct Mark {
  uint64_t begin, end;
  uint32_t first, line, pos, op;
  uint32_t caller[4], ncaller; /* The lines of the calls that led to it. */
} Mark;

/* Instructions of machine code. */
typedef struct Count {
  unsigned all, right, plain, wrong; /* Wrong ones of the plain. */
  unsigned sure, strange;     /* Those whose function is sure, and those of them
                              ** where it is wrong, or its callers are. */
  unsigned steps, stepsright; /* Of the collector. */
} Count;

typedef struct Vm {
  Live p;
  LsRemote mem;
  LsView view;
  LsPool pool;
  LsFuncs funcs;
  LsTraces traces;
  LsNaming naming;
  struct ljs_stack stack;
  Count n;
  int verbose;
  double time[LINES_TIMES]; /* That reading a trace took, in microseconds. */
  unsigned ntime;
  size_t bytes; /* Memory of traces. */
} Vm;

/* Whether the callers of a position are right, if all of them are certain. */
static bool lines_callers(const LsTraceLine *here, const Mark *m)
{
  uint32_t i, n = here->nvia + here->nouter;
  for (i = 0; here->shared >= n && i < m->ncaller && i < n; i++) {
    const LsPlace *p =
        i < here->nvia ? &here->via[i] : &here->outer[i - here->nvia];
    if (!p->f)
      break;
    if (ls_func_line(p->f, p->pos) != m->caller[i])
      return false;
  }
  return true;
}

/* Judge one instruction at an offset of a trace, of which a call returns. */
static void lines_ins(Vm *vm, const LsTrace *T, uint32_t ofs, bool call,
                      const Mark *m)
{
  LsTraceLine here = {0};
  bool found = ls_traceline_find(T, ofs, call, &here) && here.f;
  uint32_t line = found ? ls_func_line(here.f, here.pos) : 0;
  bool same = found && here.f->first == (int32_t)m->first;
  bool right = same && line == m->line, plain = found && here.exact;
  bool sure = found && !here.unsure;
  bool strange = sure && (!same || !lines_callers(&here, m));
  vm->n.all++;
  vm->n.right += right;
  vm->n.plain += plain;
  vm->n.wrong += plain && !right;
  vm->n.sure += sure;
  vm->n.strange += strange;
  if (vm->verbose > 3 || (vm->verbose > 0 && strange) ||
      (!right && (vm->verbose > 1 || (vm->verbose > 0 && (plain || strange)))))
    fprintf(stderr,
            "trace of f%d, code at %u of %u: IR %u, instruction %u, "
            "line %u of f%u; said %s%u of %sf%d\n",
            T->start.f ? T->start.f->first : -1, ofs, T->szmcode, m->op, m->pos,
            m->line, m->first, plain ? "" : "~", line, sure ? "" : "?",
            found ? here.f->first : -1);
}

/* Judge the machine code of one IR instruction. */
static void lines_mark(Vm *vm, const LsTrace *T, const Mark *m)
{
  uint8_t code[4096];
  size_t n = m->end - m->begin, at;
  LsX86 x;
  if (m->begin < T->mcode || m->end > T->mcode + T->szmcode ||
      n > sizeof(code) || !ls_remote_get(&vm->mem, m->begin, code, n))
    return;
  for (at = 0; at < n && ls_x86_decode(code + at, n - at, &x); at += x.len)
    lines_ins(vm, T, (uint32_t)(m->begin - T->mcode + at),
              x.map == 0 && x.op == 0xe8, m);
}

/* Judge the call of a collector's step: TEXT has the functions and lines that
** allocate what it is made for, where that is known. Its line is one of them,
** the only one if it is exact.
*/
static void lines_step(Vm *vm, const LsTrace *T, uint32_t ofs, const char *text)
{
  LsTraceLine here = {0};
  bool found = ls_traceline_find(T, ofs, true, &here) && here.f;
  uint32_t line = found ? ls_func_line(here.f, here.pos) : 0;
  bool right = false, only = true, same = true;
  unsigned first, at, n = 0;
  int len;
  for (; sscanf(text, "%u %u%n", &first, &at, &len) == 2; text += len, n++) {
    bool in = found && here.f->first == (int32_t)first;
    same = same && in;
    only = only && in && line == at;
    right = right || first == 0 || (in && line == at);
  }
  vm->n.steps++;
  vm->n.stepsright += right;
  vm->n.wrong += found && here.exact && !only;
  vm->n.strange += found && !here.unsure && !same;
  if (vm->verbose > 1 || (vm->verbose > 0 && !right))
    fprintf(stderr, "step at %u of %u, for %u: said %s%u\n", ofs, T->szmcode, n,
            here.exact ? "" : "~", line);
}

/* Judge the machine code of a step. */
static void lines_markstep(Vm *vm, const LsTrace *T, uint64_t begin,
                           uint64_t end, const char *text)
{
  uint8_t code[256];
  size_t n = end - begin, at;
  LsX86 x;
  if (begin < T->mcode || end > T->mcode + T->szmcode || n > sizeof(code) ||
      !ls_remote_get(&vm->mem, begin, code, n))
    return;
  for (at = 0; at < n && ls_x86_decode(code + at, n - at, &x); at += x.len)
    if (x.map == 0 && (x.op == 0xe8 || (x.op == 0xff && (x.reg & 7) == 2)))
      lines_step(vm, T, (uint32_t)(begin - T->mcode + at), text);
}

static double lines_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The trace that is at an address, if it still has the size. It is read twice,
** as the pages that it is in are not there for the first time.
*/
static const LsTrace *lines_trace(Vm *vm, uint64_t mcode, uint32_t size)
{
  const LsTrace *T = ls_trace_ofpc(&vm->traces, &vm->view, vm->p.g, mcode);
  LsTraces again = {.funcs = &vm->funcs};
  double then;
  if (!T || T->mcode != mcode || T->szmcode != size)
    return NULL;
  then = lines_now();
  ls_trace_get(&again, &vm->view, vm->p.g, T->addr, LJS_CHECK(T->check));
  if (vm->ntime < LINES_TIMES)
    vm->time[vm->ntime++] = lines_now() - then;
  vm->bytes += sizeof(*T) + T->nsnap * sizeof(*T->snap) +
               T->sizeplace * sizeof(*T->place) + T->nspan * sizeof(*T->span) +
               T->nload * sizeof(*T->load);
  ls_traces_free(&again);
  return T;
}

static int lines_shorter(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Print what it takes to read a trace. */
static void lines_cost(Vm *vm)
{
  unsigned n = vm->ntime;
  qsort(vm->time, n, sizeof(vm->time[0]), lines_shorter);
  if (n > 0)
    printf("%7u traces: median %.0f us, largest %.0f us, %zu bytes\n", n,
           vm->time[n / 2], vm->time[n - 1], vm->bytes / n);
}

/* List the snapshots of a trace. */
static void lines_list(const LsTrace *T)
{
  uint32_t i;
  unsigned k;
  for (i = 0; i < T->nsnap; i++) {
    const LsSnap *s = &T->snap[i];
    const LsPlace *at = T->place + s->place;
    LsPath p;
    uint32_t next = ls_path_from(&p, T, i);
    fprintf(stderr, "  #%u at %u (%u to %u), %u deep, instruction %u", i,
            s->mcofs, s->early, s->late, s->nplace, s->nplace ? at->pos : 0);
    if (s->branches)
      fprintf(stderr, " instead of %u behind %u", s->go, s->branch);
    fprintf(stderr, "; to #%u%s:", next, p.vague ? " vaguely" : "");
    for (k = 0; k < p.n; k++)
      fprintf(stderr, " f%d %u to %u", p.leg[k].f->first, p.leg[k].pos,
              p.leg[k].end);
    fprintf(stderr, "\n");
  }
}

/* Judge all that was marked. */
static void lines_judge(Vm *vm)
{
  FILE *f = fopen(getenv("LJ_MARK"), "r");
  const LsTrace *T = NULL;
  static char line[65536];
  ck_assert_msg(f != NULL, "no trace was made");
  while (fgets(line, sizeof(line), f)) {
    unsigned long long a, b;
    Mark m;
    int n;
    if (sscanf(line, "T %llu %llu", &a, &b) == 2) {
      T = lines_trace(vm, a, (uint32_t)b);
      if (T && vm->verbose > 2)
        lines_list(T);
    } else if (T &&
               (n = sscanf(line, "I %llu %llu %u %u %u %u %u %u %u %u", &a, &b,
                           &m.first, &m.line, &m.pos, &m.op, &m.caller[0],
                           &m.caller[1], &m.caller[2], &m.caller[3])) >= 6) {
      m.begin = a;
      m.end = b;
      m.ncaller = (uint32_t)n - 6;
      lines_mark(vm, T, &m);
    } else if (T && sscanf(line, "S %llu %llu%n", &a, &b, &n) == 2) {
      lines_markstep(vm, T, a, b, line + n);
    }
  }
  fclose(f);
}

/* Name the functions of a trace, as the sampler does. */
static void lines_met(void *ctx, const LsTrace *T)
{
  Vm *vm = ctx;
  ls_naming_hold(&vm->naming, T);
}

static void lines_start(Vm *vm)
{
  const char *luajit = getenv("LINES_LUAJIT"), *run = getenv("LINES_RUN");
  const char *mark = getenv("LJ_MARK");
  char command[4096];
  const char *argv[] = {"/bin/sh", "-c", command, NULL};
  ck_assert_msg(luajit && run && mark,
                "LINES_LUAJIT, LINES_RUN and LJ_MARK have to be set");
  snprintf(command, sizeof(command),
           "exec '%s' " LINES "/whole.lua %s > /dev/null", luajit, run);
  unlink(mark);
  live_start(&vm->p, argv, luajit);
  ck_assert_msg(live_wait(&vm->p), "the program failed: %s", run);
  live_find(&vm->p);
  vm->mem.pid = vm->p.pid;
  ls_view_init(&vm->view, &vm->mem, &vm->p.vm);
  vm->funcs.pool = &vm->pool;
  ls_naming_init(&vm->naming, &vm->view, &vm->funcs);
  vm->stack.g = vm->p.g;
  vm->naming.stack = &vm->stack;
  vm->traces = (LsTraces){.funcs = &vm->funcs, .met = lines_met, .ctx = vm};
}

static double lines_share(const Vm *vm, unsigned n)
{
  return vm->n.all > 0 ? 100.0 * n / vm->n.all : 0;
}

/* A line without `~` is right, and a function that is not unsure. */
START_TEST(plain)
{
  static Vm vm;
  const char *v = getenv("V");
  vm.verbose = v ? atoi(v) : 0;
  lines_start(&vm);
  lines_judge(&vm);
  printf("%7u instructions: function sure %3.0f%%, wrong %u; line plain "
         "%3.0f%%, wrong %u; right %3.0f%%\n",
         vm.n.all, lines_share(&vm, vm.n.sure), vm.n.strange,
         lines_share(&vm, vm.n.plain), vm.n.wrong,
         lines_share(&vm, vm.n.right));
  printf("%7u steps of the collector, right %u\n", vm.n.steps, vm.n.stepsright);
  lines_cost(&vm);
  ck_assert_uint_eq(vm.n.wrong, 0);
  ck_assert_uint_eq(vm.n.strange, 0);
  ck_assert_uint_gt(vm.n.all, 0);
  ls_traces_free(&vm.traces);
  ls_naming_free(&vm.naming);
  ls_funcs_free(&vm.funcs);
  ls_pool_free(&vm.pool);
  live_end(&vm.p);
}
END_TEST

Suite *suite_lines(void)
{
  const TTest *tests[] = {plain, NULL};
  return suite_of("lines", tests);
}
