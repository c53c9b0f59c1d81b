/*
** Snapshots of other years, and where their code begins: traces of a live VM
** are given the older forms, and what their exits say is compared with the
** offsets that the VM has kept.
*/

#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "luamcofs.h"
#include "luasnapform.h"
#include "suites.h"

#define FAKE     0x7eeeeeee0000ull /* Where no process has anything. */
#define FAKE_MAX 65536

static LsRemoteReader *real_reader;
static struct {
  uint8_t data[FAKE_MAX];
  size_t n;
} fake;

/* Memory of the process, and besides what a test has made up. */
static int fake_read(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  if (addr < FAKE || addr + n > FAKE + FAKE_MAX)
    return real_reader(pid, addr, buf, n);
  memcpy(buf, fake.data + (addr - FAKE), n);
  return 0;
}

/* A VM that has made traces, and what it has of them. */
typedef struct Vm {
  Live p;
  LsRemote mem;
  LsView view;
  unsigned traces, snaps;
} Vm;

static void vm_start(Vm *vm)
{
  const char *argv[] = {LUAJIT, SOURCE "/traces.lua", NULL};
  memset(vm, 0, sizeof(*vm));
  real_reader = ls_remote_reader;
  ls_remote_reader = fake_read;
  live_start(&vm->p, argv, NULL);
  ck_assert_int_eq(live_wait(&vm->p), 1);
  live_find(&vm->p);
  vm->mem.pid = vm->p.pid;
  ls_view_init(&vm->view, &vm->mem, &vm->p.vm);
}

static void vm_end(Vm *vm)
{
  live_end(&vm->p);
  ls_remote_reader = real_reader;
}

/* The header of a trace, as it is. */
static LsIr vm_ir(Vm *vm, uint64_t T)
{
  const struct ljs_vm *f = &vm->p.vm;
  LsRemote *m = &vm->mem;
  LsIr t = {.v = &vm->view};
  t.nsnap = (uint32_t)ls_remote_uint(m, T + f->t_nsnap, 2);
  t.nins = (uint32_t)ls_remote_uint(m, T + f->t_nins, 4);
  t.nsnapmap = (uint32_t)ls_remote_uint(m, T + f->t_nsnapmap, 4);
  t.snap = ls_remote_uint(m, T + f->t_snap, 8);
  t.mcode = ls_remote_uint(m, T + f->t_mcode, 8);
  t.szmcode = (uint32_t)ls_remote_uint(m, T + f->t_szmcode, 4);
  t.ir = ls_remote_uint(m, T + f->t_ir, 8);
  t.mcloop = (uint32_t)ls_remote_uint(m, T + vm->view.lay->t_mcloop, 4);
  t.root = (uint32_t)ls_remote_uint(m, T + f->t_root, 2);
  t.ins = calloc(t.nins - LS_REF_BIAS, sizeof(*t.ins));
  ck_assert(ls_remote_get(m, t.ir + LS_REF_BIAS * 8ull, t.ins,
                          (t.nins - LS_REF_BIAS) * 8ull));
  ck_assert(!m->bad);
  return t;
}

/* Calls a function for each trace with its snapshots. */
static void vm_each(Vm *vm,
                    void (*fn)(Vm *vm, const LsIr *t, const LsRawSnap *raw))
{
  const struct ljs_vm *f = &vm->p.vm;
  uint64_t at = vm->p.g + (uint64_t)f->trace;
  uint64_t array = ls_remote_uint(&vm->mem, at, 8);
  uint32_t n = (uint32_t)ls_remote_uint(&vm->mem, at + 12, 4), no;
  for (no = 1; f->jit && no < n; no++) {
    uint64_t T =
        ls_view_ref(&vm->view, array + (uint64_t)no * (f->gc64 ? 8 : 4));
    LsRawSnap *raw;
    bool offsets = false;
    LsIr t;
    if (!T)
      continue;
    t = vm_ir(vm, T);
    raw = ls_snapform_read(&t, &offsets);
    ck_assert_msg(raw != NULL, "trace %u", no);
    ck_assert(offsets);
    vm->traces++;
    vm->snaps += t.nsnap;
    fn(vm, &t, raw);
    free(t.ins);
    free(raw);
  }
}

/* -- Exits ----------------------------------------------------------------- */

static unsigned known, likely; /* Begins that are certain, or right. */

static void exits_of(Vm *vm, const LsIr *t, const LsRawSnap *raw)
{
  LsCode c;
  LsBegin *b, *kept;
  uint32_t i;
  (void)vm;
  ck_assert(ls_code_read(t, &c));
  b = ls_exits_read(t, &c, raw);
  kept = ls_mcofs_read(t, &c, raw);
  ck_assert_ptr_nonnull(b);
  ck_assert_ptr_nonnull(kept);
  for (i = 0; i < t->nsnap; i++) {
    ck_assert_msg(b[i].early <= kept[i].late && kept[i].early <= b[i].late,
                  "snapshot %u of %u at %u, not in %u to %u of %u", i, t->nsnap,
                  raw[i].mcofs, b[i].early, b[i].late, t->szmcode);
    ck_assert_uint_ge(b[i].likely, b[i].early);
    ck_assert_uint_le(b[i].likely, b[i].late);
    if (i > 0) {
      ck_assert_uint_ge(b[i].early, b[i - 1].early);
      ck_assert_uint_ge(b[i].likely, b[i - 1].likely);
      ck_assert_uint_ge(b[i].late, b[i - 1].late);
    }
    known += b[i].early == b[i].late;
    likely += b[i].likely == kept[i].likely;
  }
  free(kept);
  free(b);
  ls_code_free(&c);
}

/* Each snapshot's code begins where the exits allow it to. */
START_TEST(begins)
{
  static Vm vm;
  vm_start(&vm);
  known = likely = 0;
  vm_each(&vm, exits_of);
  if (vm.p.vm.jit) {
    ck_assert_uint_gt(vm.snaps, 100);
    ck_assert_uint_gt(likely * 3, vm.snaps);
  }
  vm_end(&vm);
}
END_TEST

/* -- Forms ----------------------------------------------------------------- */

/* Appends a number of 1, 2 or 4 bytes. */
static void fake_put(uint32_t x, size_t size)
{
  ck_assert_uint_le(fake.n + size, FAKE_MAX);
  memcpy(fake.data + fake.n, &x, size);
  fake.n += size;
}

/* Makes up a trace's snapshots in the form of 2017 or of 2020. */
static LsIr fake_make(const LsIr *t, const LsRawSnap *raw, bool old)
{
  LsIr to = *t;
  uint32_t i;
  memset(&fake, 0, sizeof(fake));
  for (i = 0; i < t->nsnap; i++) {
    fake_put(raw[i].map, old ? 2 : 4);
    fake_put(raw[i].ref, 2);
    fake_put(250, 1); /* Slots; the highest of them; */
    fake_put(251, 1);
    fake_put(raw[i].nent, 1);
    fake_put(i % 3, 1); /* exits that were taken. */
    if (!old)
      fake_put(0xaaaa, 2);
  }
  to.snap = FAKE;
  if (old) { /* In place of the count: a slot, and how the trace ends. */
    to.nsnap = 0x0105;
    to.nsnapmap = t->nsnap | t->nsnapmap << 16;
  }
  return to;
}

/* Reads what was made up; the pages of it that were read are forgotten. */
static LsRawSnap *fake_snaps(Vm *vm, LsIr *t)
{
  bool offsets = true;
  LsRawSnap *s;
  ls_remote_moment(&vm->mem);
  s = ls_snapform_read(t, &offsets);
  ck_assert(!s || !offsets);
  return s;
}

static void forms_of(Vm *vm, const LsIr *t, const LsRawSnap *raw)
{
  int old;
  uint32_t i;
  for (old = 0; old < 2; old++) {
    LsIr to = fake_make(t, raw, old);
    size_t at = (t->nsnap / 2) * (old ? 8u : 12u);
    LsRawSnap *s = fake_snaps(vm, &to);
    ck_assert_ptr_nonnull(s);
    ck_assert_uint_eq(to.nsnap, t->nsnap);
    ck_assert_uint_eq(to.nsnapmap, t->nsnapmap);
    for (i = 0; i < t->nsnap; i++) {
      ck_assert_uint_eq(s[i].map, raw[i].map);
      ck_assert_uint_eq(s[i].end, raw[i].end);
      ck_assert_uint_eq(s[i].ref, raw[i].ref);
      ck_assert_uint_eq(s[i].nent, raw[i].nent);
    }
    free(s);
    fake.data[at + 1] ^= 0x40; /* A part that begins elsewhere. */
    ck_assert_ptr_null(fake_snaps(vm, &to));
    to = fake_make(t, raw, old);
    fake.data[at + (old ? 6 : 8)] = 251; /* More entries than slots. */
    ck_assert_ptr_null(fake_snaps(vm, &to));
    to = fake_make(t, raw, old);
    to.nsnapmap += old ? 0x10000 : 1; /* The map has no end there. */
    if (vm->view.vm.gc64)
      ck_assert_ptr_null(fake_snaps(vm, &to));
    to = fake_make(t, raw, old);
    to.nsnap += !old; /* One snapshot more than there are. */
    to.nsnapmap += old;
    ck_assert_ptr_null(fake_snaps(vm, &to));
  }
}

/* Every form is told from the others; what does not agree is none. */
START_TEST(forms)
{
  static Vm vm;
  vm_start(&vm);
  vm_each(&vm, forms_of);
  if (vm.p.vm.jit)
    ck_assert_uint_gt(vm.traces, 20);
  vm_end(&vm);
}
END_TEST

Suite *suite_snapforms(void)
{
  const TTest *tests[] = {begins, forms, NULL};
  return suite_of("snapforms", tests);
}
