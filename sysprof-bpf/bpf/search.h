/*
** Rows of the unwind tables, by address: what the unwinder looks up, and memory
** of each CPU to walk in.
*/

#ifndef LJS_SEARCH_H
#define LJS_SEARCH_H

#include "unwind.h"

#define SEARCH_MAPS 11 /* 2^n is more than LJS_MAX_MAPS. */

/* -- What the unwinder needs ----------------------------------------------- */

/* For the unwinder: see unwind.h. */
static __always_inline int ljs_read(void *dst, __u32 n, __u64 addr)
{
  return bpf_probe_read_user(dst, n, (const void *)addr) ? -1 : 0;
}

/* For the unwinder: see unwind.h. */
static __always_inline struct ljs_module *ljs_find_module(__u32 module)
{
  return bpf_map_lookup_elem(&modules, &module);
}

/* -- Memory of a CPU ------------------------------------------------------ */

/* The state of a CPU, too large for the stack. */
struct scratch {
  __u32 busy;
  __u32 owed; /* Samples due by ticks, times tick_hz. */
  __u64 kernel[LJS_MAX_KERNEL];
  struct ljs_walk walk;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct scratch);
} scratches SEC(".maps");

/* The memory of this CPU, or NULL. */
static __always_inline struct scratch *get_scratch(void)
{
  __u32 zero = 0;
  return bpf_map_lookup_elem(&scratches, &zero);
}

/* The mapping that holds PC. */
static __always_inline struct ljs_map *find_map(struct ljs_proc *proc, __u64 pc)
{
  __u32 lo = 0, hi = proc->nmaps, i;
  for (i = 0; i < SEARCH_MAPS; i++) {
    __u32 mid = (lo + hi) / 2;
    if (lo >= hi || mid >= LJS_MAX_MAPS)
      break;
    if (pc < proc->map[mid].start)
      hi = mid;
    else if (pc >= proc->map[mid].end)
      lo = mid + 1;
    else
      return &proc->map[mid];
  }
  return 0;
}

/* Page N of a module's unwind table, or NULL. */
static __always_inline struct ljs_page *find_page(__u32 module, __u32 n)
{
  __u64 key = LJS_PAGE_KEY(module, n);
  return bpf_map_lookup_elem(&pages, &key);
}

/* Which of an array's entries is the last one with pc_of(I) <= PC; 0 if none
** is. Without a branch that depends on what is compared, which the verifier
** would follow both ways: 2^steps paths. What is not used is UINT32_MAX.
*/
#define FIND_LAST(last, first_half, max, pc_of)                                \
  do {                                                                         \
    __u32 half_;                                                               \
    (last) = 0;                                                                \
    _Pragma("unroll") for (half_ = (first_half); half_; half_ /= 2)            \
    {                                                                          \
      __u32 i_ = (last) + half_;                                               \
      if (i_ < (max))                                                          \
        (last) += half_ & (__u32)((((__u64)pc - (pc_of)) >> 63) - 1);          \
    }                                                                          \
  } while (0)

/* The last row at or before an address, by two pages. */
static __always_inline struct ljs_row *search_rows(__u32 module, __u64 pc)
{
  struct ljs_module *m = ljs_find_module(module);
  struct ljs_page *page;
  __u32 n, at;
  if (!m || pc >> 32)
    return 0;
  FIND_LAST(n, LJS_DIRS / 2, LJS_DIRS, m->dir[i_]);
  page = find_page(module, LJS_PAGE_DIR | n);
  if (!page)
    return 0;
  FIND_LAST(at, 512, LJS_PAGE_PCS, page->pc[i_]);
  page = find_page(module, n * LJS_PAGE_PCS + at);
  if (!page)
    return 0;
  FIND_LAST(at, 128, LJS_PAGE_ROWS, page->row[i_].pc);
  if (at >= LJS_PAGE_ROWS || page->row[at].pc > pc)
    return 0;
  return &page->row[at];
}

/* A cache of rows. Most samples have the same callers; a search touches twenty
** cold cache lines, the cache one.
*/
#define LATELY 256

struct lately {
  __u64 pc;
  __u32 version; /* Of the mappings of a process, from 1. */
  __u32 module;
  struct ljs_row row;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, LATELY);
  __type(key, __u32);
  __type(value, struct lately);
} lately_rows SEC(".maps");

/* Where the row of an address may be, if it was found lately; or NULL. */
static __always_inline struct lately *lately(__u32 version, __u64 pc)
{
  __u32 at = (__u32)(ljs_mix(version, pc) >> 56) % LATELY;
  return bpf_map_lookup_elem(&lately_rows, &at);
}

/* Searches the last row at or before an address. Returns 1, and it is found
** lately, or 0. Not inlined: verified once only.
*/
__noinline int search(__u64 pc)
{
  struct scratch *s = get_scratch();
  struct ljs_proc *proc;
  struct ljs_map *map;
  struct ljs_row *row;
  struct lately *l;
  __u32 pid, module;
  __u64 bias;
  if (!s)
    return 0;
  s->walk.code = LJS_NO_MODULE;
  pid = s->walk.out.pid;
  proc = bpf_map_lookup_elem(&procs, &pid);
  if (!proc)
    return 0;
  s->walk.version = proc->version; /* They may be newer than the walk. */
  map = find_map(proc, pc);
  if (!map)
    return 0;
  module = map->module;
  bias = map->bias;
  if (*(volatile __u32 *)&proc->version != s->walk.version)
    return 0; /* The entry was reused meanwhile. */
  s->walk.code = module;
  row = search_rows(module, pc - bias);
  l = lately(s->walk.version, pc);
  if (!row || !l)
    return 0;
  l->pc = pc;
  l->version = s->walk.version;
  l->module = module;
  l->row = *row;
  return 1;
}

/* For the unwinder: see unwind.h. */
static __always_inline struct ljs_row *ljs_find_row(struct ljs_walk *w,
                                                    __u64 pc)
{
  struct lately *l = lately(w->version, pc);
  if (!l || l->pc != pc || l->version != w->version) {
    if (!search(pc))
      return 0;
    l = lately(w->version, pc);
    if (!l)
      return 0;
  }
  w->code = l->module;
  return &l->row;
}

#endif
