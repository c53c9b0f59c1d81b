/*
** The unwinder over whatever there is.
*/

#include <stdlib.h>
#include <string.h>

#include "anywalk.h"
#include "walk.h"

#define CHECK(cond)                                                            \
  do {                                                                         \
    if (!(cond))                                                               \
      abort();                                                                 \
  } while (0)

#define BASE    0x10000000ull /* Where there is memory, */
#define SIZE    0x20000ull    /* and how much: the bytes, over and over. */
#define CODE    0x400000ull   /* Where there is code. */
#define ROWS    16
#define MODULES 3

typedef struct Bytes {
  const uint8_t *p, *memory;
  size_t n, nmemory;
} Bytes;

/* The next bytes, or zeroes. */
static uint64_t take(Bytes *b, size_t n)
{
  uint64_t v = 0;
  if (n <= b->n) {
    memcpy(&v, b->p, n);
    b->p += n;
    b->n -= n;
  }
  return v;
}

/* An address: mostly one where something is. */
static uint64_t take_address(Bytes *b)
{
  uint64_t v = take(b, 4);
  switch (v >> 30) {
  case 0:
    return CODE + (v & 0x3fff);
  case 1:
    return v << 20;
  default:
    return BASE + (v & (SIZE - 1));
  }
}

/* Words in memory are addresses there, as far as they look like ones. */
static int read_any(void *ctx, void *dst, uint32_t n, uint64_t addr)
{
  const Bytes *b = ctx;
  uint8_t *to = dst;
  uint32_t i;
  if (addr < BASE || addr - BASE > SIZE - n || !b->nmemory)
    return -1;
  for (i = 0; i < n; i++)
    to[i] = b->memory[(addr - BASE + i) % b->nmemory];
  return 0;
}

/* The layout of a VM whose fields are near each other, as they are. */
static void take_vm(Bytes *b, struct ljs_vm *vm)
{
  uint32_t kind = (uint32_t)take(b, 1);
  memset(vm, 0, sizeof(*vm));
  vm->gc64 = kind & 1;
  vm->jit = kind >> 1 & 1;
  vm->frame = (uint16_t)(64 + (take(b, 1) & 0x78));
  vm->save_l = take(b, 1) & 0x38;
  vm->save_pc = take(b, 1) & 0x3c;
  vm->save_nres = take(b, 1) & 0x3c;
  vm->save_cframe = take(b, 1) & 0x38;
  vm->bp = -16;
  vm->bx = -24;
  vm->vmstate = (int32_t)(take(b, 1) & 0x7c);
  vm->jit_base = (int32_t)(take(b, 1) & 0x7c);
  vm->trace = (int32_t)(take(b, 1) & 0x7c);
  vm->l_gct = take(b, 1) & 0x7f;
  vm->l_glref = take(b, 1) & 0x7c;
  vm->l_base = take(b, 1) & 0x7c;
  vm->l_maxstack = take(b, 1) & 0x7c;
  vm->l_stack = take(b, 1) & 0x7c;
  vm->l_cframe = take(b, 1) & 0x7c;
  vm->fn_ffid = (uint16_t)(1 + (take(b, 1) & 0x3f));
  vm->fn_pc = take(b, 1) & 0x7c;
  vm->fn_f = take(b, 1) & 0x7c;
  vm->pt_size = take(b, 1) & 0x7c;
  vm->pt_sizebc = take(b, 1) & 0x7c;
  vm->t_mcode = take(b, 1) & 0xff;
  vm->t_szmcode = take(b, 1) & 0xff;
}

static void take_rows(Bytes *b, struct ljs_row *row, uint32_t n)
{
  uint32_t i, pc = 0;
  for (i = 0; i < n; i++) {
    pc += 1 + (uint32_t)(take(b, 1) << 3);
    row[i].pc = pc;
    row[i].how = take(b, 1) % (LJS_CFA_VM + 2);
    row[i].cfa = (int8_t)take(b, 1) * 8;
    if (row[i].how == LJS_CFA_VM)
      row[i].cfa = (__s32)take(b, 2);
    row[i].bphow = take(b, 1) & 3;
    row[i].bxhow = take(b, 1) & 3;
    row[i].bp = (__s16)((int8_t)take(b, 1) * 8);
    row[i].bx = (__s16)((int8_t)take(b, 1) * 8);
  }
}

/* Whatever it is, it is bounded, and it tells when it is not whole. */
static void check(const WalkInput *in, const Walk *w)
{
  uint32_t i, native = 0, marks = 0;
  CHECK(w->steps <= 4096 && w->reads <= w->steps * 32);
  CHECK(w->out.nframes <= LJS_MAX_FRAMES && w->out.cut < LJS_CUT_REASONS);
  for (i = 0; i < w->out.nframes; i++) {
    const struct ljs_frame *f = &w->out.frame[i];
    CHECK(f->kind <= LJS_FRAME_MARK && f->kind != LJS_FRAME_KERNEL);
    native += f->kind == LJS_FRAME_NATIVE;
    marks += f->kind == LJS_FRAME_MARK;
    if (f->kind == LJS_FRAME_MARK)
      CHECK(f->x > LJS_CUT_NOT && f->x < LJS_CUT_REASONS);
  }
  CHECK(!marks == !w->out.cut);
  CHECK(native <= LJS_MAX_NATIVE && w->out.nlua <= LJS_MAX_LUA + 1);
  CHECK(!in->nonative || !native);
}

void anywalk(const uint8_t *p, size_t n)
{
  static struct ljs_proc proc;
  static struct ljs_row row[MODULES][ROWS];
  static WalkModule module[MODULES];
  static Walk once, again;
  Bytes b = {p, p, n, n};
  WalkInput in = {.read = read_any,
                  .ctx = &b,
                  .proc = &proc,
                  .module = module,
                  .nmodule = MODULES};
  uint32_t i, flags = (uint32_t)take(&b, 1);
  in.pc = take_address(&b);
  in.sp = take_address(&b);
  in.bp = take_address(&b);
  in.bx = take_address(&b);
  in.dx = take_address(&b);
  in.nonative = flags & 1;
  in.nolua = flags >> 1 & 1;
  in.maxlua = flags & 4 ? 3 : 0;
  memset(&proc, 0, sizeof(proc));
  memset(row, 0, sizeof(row));
  for (i = 1; i < MODULES; i++) {
    uint64_t start = CODE + (i - 1) * 0x2000ull;
    proc.map[proc.nmaps++] = (struct ljs_map){
        .start = start, .end = start + 0x2000, .bias = start, .module = i};
    module[i].row = row[i];
    module[i].m.nrows = take(&b, 1) % (ROWS + 1);
    module[i].m.hasvm = 1;
    take_vm(&b, &module[i].m.vm);
    take_rows(&b, row[i], module[i].m.nrows);
  }
  proc.nvm = flags >> 3 & 1;
  proc.vm = 1 + (flags >> 4 & 1);
  b.memory = b.p; /* The rest. */
  b.nmemory = b.n;
  walk(&in, &once);
  check(&in, &once);
  walk(&in, &again);
  CHECK(once.out.key == again.out.key && once.steps == again.steps);
}
