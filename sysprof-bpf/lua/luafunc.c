/*
** Lua functions that were met.
**
** A process may have hundreds of thousands of them over time, but few at one
** address: a sorted array of pointers serves to find them by address, by
** address and check, and by a PC in their bytecode.
*/

#include <stdlib.h>
#include <string.h>

#include "luafunc.h"

#define FUNC_BATCH    4096         /* Functions read for one that was met. */
#define FUNC_MAX      (1u << 18)   /* Functions that are kept. */
#define FUNC_MAXBYTES (256u << 20) /* Memory for their code and lines. */
#define FUNC_CALLS    1000         /* Calls of one whose names are kept. */
#define FUNC_STALE    64 /* Functions at one address that are searched. */

/* -- The array ------------------------------------------------------------ */

/* Index behind the last function at or below an address. */
static size_t func_bound(const LsFuncs *fs, uint64_t addr)
{
  size_t lo = 0, hi = fs->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (fs->at[mid]->addr <= addr)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Put a function in its place. Returns false without memory. */
static bool func_insert(LsFuncs *fs, LsFunc *f)
{
  size_t i = func_bound(fs, f->addr);
  if (fs->n == fs->size) {
    size_t size = fs->size ? fs->size * 2 : 256;
    LsFunc **at = realloc(fs->at, size * sizeof(void *));
    if (!at)
      return false;
    fs->at = at;
    fs->size = size;
  }
  memmove(fs->at + i + 1, fs->at + i, (fs->n - i) * sizeof(void *));
  fs->at[i] = f;
  fs->n++;
  return true;
}

static void func_free(LsFunc *f)
{
  free(f->bc);
  free(f->call);
  free(f->lineinfo);
  free(f);
}

void ls_funcs_free(LsFuncs *fs)
{
  size_t i;
  for (i = 0; i < fs->n; i++)
    func_free(fs->at[i]);
  free(fs->at);
  fs->at = NULL;
  fs->n = fs->size = fs->bytes = 0;
}

LsFunc *ls_func_known(const LsFuncs *fs, uint64_t addr, uint16_t check)
{
  size_t i = func_bound(fs, addr);
  for (; i > 0 && fs->at[i - 1]->addr == addr; i--)
    if (LJS_CHECK(fs->at[i - 1]->check) == check)
      return fs->at[i - 1];
  return NULL;
}

/* The same by the whole check. */
static LsFunc *func_same(const LsFuncs *fs, uint64_t addr, uint64_t check)
{
  size_t i = func_bound(fs, addr);
  for (; i > 0 && fs->at[i - 1]->addr == addr; i--)
    if (fs->at[i - 1]->check == check)
      return fs->at[i - 1];
  return NULL;
}

LsFunc *ls_func_ofpc(const LsFuncs *fs, LsView *v, uint64_t pc)
{
  size_t i = func_bound(fs, pc), tries = 0;
  for (; i > 0 && tries++ < FUNC_STALE; i--) {
    LsFunc *f = fs->at[i - 1];
    uint64_t check;
    if (pc < f->code || pc - f->code >= f->sizebc * 4ull || f->wrong)
      continue;
    if (ls_proto_check(v, f->addr, &check) && check == f->check)
      return f;
    f->wrong = true; /* Until it is met again. */
  }
  return NULL;
}

/* -- Reading -------------------------------------------------------------- */

static bool func_iscall(uint32_t op)
{
  return op >= LS_BC_CALLM && op <= LS_BC_ITERC;
}

#define FUNC_ARGUMENTS 16 /* Instructions that load others of a call. */

/* Whether what the instruction at POS loads is the first argument of a call.
** Those of calls for further arguments are in higher slots.
*/
static bool func_ispassed(const LsBlob *b, uint32_t pos)
{
  uint32_t slot = LS_BC_A(ls_proto_ins(b, pos)), i;
  for (i = pos + 1; i < b->sizebc && i <= pos + FUNC_ARGUMENTS; i++) {
    uint32_t ins = ls_proto_ins(b, i);
    if (func_iscall(LS_BC_OP(ins)) && LS_BC_A(ins) < slot)
      return LS_BC_A(ins) + 1 + b->v->vm.gc64 == slot;
  }
  return false;
}

/* Whether the instruction at POS has a name that is needed: it is a call, or
** loads a field for a condition, which is behind it, or to be called by pcall.
*/
static bool func_isnamed(const LsBlob *b, uint32_t pos)
{
  uint32_t op = LS_BC_OP(ls_proto_ins(b, pos)), next;
  if (func_iscall(op))
    return true;
  if ((op != LS_BC_GGET && op != LS_BC_TGETS) || pos + 1 >= b->sizebc)
    return false;
  next = LS_BC_OP(ls_proto_ins(b, pos + 1));
  return (next > LS_BC_ISNEP && next <= LS_BC_ISF) || func_ispassed(b, pos);
}

/* A copy of N bytes, or NULL. */
static void *func_copy(LsFuncs *fs, const void *p, size_t n)
{
  void *q = malloc(n ? n : 1);
  if (q) {
    memcpy(q, p, n);
    fs->bytes += n;
  }
  return q;
}

/* Keep the names that its instructions have, as far as there is room. */
static void func_calls(LsFuncs *fs, LsFunc *f, const LsBlob *b)
{
  uint32_t pos, n = 0;
  for (pos = 1; pos < b->sizebc && n < FUNC_CALLS; pos++)
    n += func_isnamed(b, pos);
  f->call = n > 0 ? calloc(n, sizeof(*f->call)) : NULL;
  if (!f->call)
    return;
  fs->bytes += n * sizeof(*f->call);
  for (pos = 1; pos < b->sizebc && f->ncall < n; pos++) {
    char name[LS_NAME_MAX + 1];
    LsCall *c = &f->call[f->ncall];
    size_t len;
    if (!func_isnamed(b, pos))
      continue;
    len = ls_proto_nameuse(b, pos, name);
    c->pos = pos;
    c->name = ls_pool_add(fs->pool, name, len);
    if (!c->name)
      return;
    f->ncall++;
  }
}

const char *ls_func_callee(const LsFunc *f, uint32_t pos)
{
  uint32_t lo = 0, hi = f->ncall;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (f->call[mid].pos < pos)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < f->ncall && f->call[lo].pos == pos ? f->call[lo].name : "";
}

/* Fill in what the copy of a proto has. Returns false without memory. */
static bool func_fill(LsFuncs *fs, LsFunc *f, const LsBlob *b)
{
  char chunk[LS_CHUNK_MAX + 1];
  f->addr = b->addr;
  f->check = b->check;
  f->first = b->first;
  f->numline = b->numline;
  f->hash = ls_proto_fullhash(b);
  f->code = b->addr + b->bc;
  f->sizebc = b->sizebc;
  f->chunklen = ls_view_string(b->v, b->chunkname, chunk, sizeof(chunk));
  f->chunk = ls_pool_add(fs->pool, chunk, f->chunklen);
  f->name = ls_pool_add(fs->pool, "", 0);
  f->bc = func_copy(fs, b->p + b->bc, b->sizebc * sizeof(uint32_t));
  if (!f->chunk || !f->name || !f->bc)
    return false;
  func_calls(fs, f, b);
  if (b->lineinfo && b->first >= 0) {
    f->linesize = b->numline < 256 ? 1 : b->numline < 65536 ? 2 : 4;
    f->lineinfo = func_copy(fs, b->p + b->lineinfo,
                            (size_t)(b->sizebc - 1) * f->linesize);
    if (!f->lineinfo)
      return false;
  }
  return true;
}

/* The function of a copy, made if it was not met yet. */
static LsFunc *func_make(LsFuncs *fs, const LsBlob *b)
{
  LsFunc *f = func_same(fs, b->addr, b->check);
  if (f) {
    f->wrong = false;
    return f;
  }
  if (fs->n >= FUNC_MAX || fs->bytes >= FUNC_MAXBYTES)
    return NULL;
  f = calloc(1, sizeof(*f));
  if (f && func_fill(fs, f, b) && func_insert(fs, f))
    return f;
  if (f)
    func_free(f);
  return NULL;
}

/* Functions that are still to be read, and the names that they will have. */
typedef struct Batch {
  struct {
    uint64_t addr;
    uint64_t chunkname; /* Of the one that defines it. */
    const char *name;
  } todo[FUNC_BATCH];
  unsigned n;
} Batch;

/* Put on the list what a function defines. */
static void func_children(LsFuncs *fs, const LsBlob *b, Batch *t)
{
  uint32_t i;
  for (i = 1; i < b->sizebc && t->n < FUNC_BATCH; i++) {
    uint32_t ins = ls_proto_ins(b, i);
    char name[LS_NAME_MAX + 1];
    uint64_t child;
    size_t len;
    if (LS_BC_OP(ins) != LS_BC_FNEW)
      continue;
    child = ls_proto_kgc(b, LS_BC_D(ins));
    if (!child || child == b->addr)
      continue;
    len = ls_proto_namechild(b, i, name);
    t->todo[t->n].addr = child;
    t->todo[t->n].chunkname = b->chunkname;
    t->todo[t->n++].name = ls_pool_add(fs->pool, name, len);
  }
}

/* Read the functions on the list, and what they define in their turn. */
static void func_batch(LsFuncs *fs, LsView *v, Batch *t)
{
  unsigned i;
  for (i = 0; i < t->n; i++) {
    LsBlob b;
    LsFunc *f;
    bool fresh;
    if (!ls_proto_read(v, t->todo[i].addr, &b))
      continue;
    if (b.chunkname != t->todo[i].chunkname) { /* Another one's by now. */
      free(b.p);
      continue;
    }
    fresh = func_same(fs, b.addr, b.check) == NULL;
    f = func_make(fs, &b);
    if (f && !f->known) {
      f->known = true;
      if (t->todo[i].name)
        f->name = t->todo[i].name;
    }
    if (f && fresh)
      func_children(fs, &b, t);
    free(b.p);
  }
}

LsFunc *ls_func_read(LsFuncs *fs, LsView *v, uint64_t addr)
{
  LsBlob b;
  LsFunc *f;
  Batch *t;
  bool fresh;
  if (!ls_proto_read(v, addr, &b))
    return NULL;
  fresh = func_same(fs, addr, b.check) == NULL;
  f = func_make(fs, &b);
  if (f && fresh && (t = calloc(1, sizeof(*t))) != NULL) {
    func_children(fs, &b, t);
    func_batch(fs, v, t);
    free(t);
  }
  free(b.p);
  return f;
}

/* Whether instruction POS, which makes the function of CHILD, is on the line
** where that ends, as it always is; unless there are no lines.
*/
static bool func_endshere(const LsBlob *b, uint32_t pos, const LsBlob *child)
{
  unsigned size = b->numline < 256 ? 1 : b->numline < 65536 ? 2 : 4;
  uint32_t line = 0;
  if (!b->lineinfo || !child->lineinfo)
    return true;
  memcpy(&line, b->p + b->lineinfo + (size_t)(pos - 1) * size, size);
  return (uint32_t)b->first + line == (uint32_t)child->first + child->numline;
}

/* The instruction of a function that makes that of CHILD; 0 if none does. */
static uint32_t func_maker(const LsBlob *b, const LsBlob *child)
{
  uint32_t pos;
  for (pos = 1; pos < b->sizebc; pos++) {
    uint32_t ins = ls_proto_ins(b, pos);
    if (LS_BC_OP(ins) == LS_BC_FNEW &&
        ls_proto_kgc(b, LS_BC_D(ins)) == child->addr &&
        func_endshere(b, pos, child))
      return pos;
  }
  return 0;
}

int ls_func_define(LsFuncs *fs, uint64_t addr, const LsBlob *child)
{
  char text[LS_NAME_MAX + 1];
  const char *name;
  uint32_t pos;
  int found = -1;
  LsFunc *f;
  LsBlob b;
  if (!ls_proto_read(child->v, addr, &b))
    return -1;
  if (b.chunkname == child->chunkname) {
    pos = func_maker(&b, child);
    f = pos ? func_make(fs, child) : NULL;
    found = f != NULL;
    if (f && !f->known) {
      name = ls_pool_add(fs->pool, text, ls_proto_namechild(&b, pos, text));
      f->known = name != NULL;
      f->name = name ? name : f->name;
    }
  }
  free(b.p);
  return found;
}

uint32_t ls_func_line(const LsFunc *f, uint32_t pos)
{
  uint32_t first = f->first > 0 ? (uint32_t)f->first : 0, line = 0;
  if (!f->lineinfo)
    return 0;
  if (pos == 0 || pos >= f->sizebc)
    return first;
  memcpy(&line, f->lineinfo + (size_t)(pos - 1) * f->linesize, f->linesize);
  return first + line;
}
