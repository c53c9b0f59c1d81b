/*
** The BPF program's settings, and the maps that it shares with user space.
*/

#ifndef LJS_BPFMAPS_H
#define LJS_BPFMAPS_H

#define RING_SIZE (4 << 20) /* Bytes, unless ring_size is another. */

/* -- Set before the program is loaded ------------------------------------- */

const volatile __u32 no_kernel = 0, no_user = 0;
const volatile __u32 no_native = 0, no_lua = 0;
const volatile __u32 max_native = LJS_MAX_NATIVE, max_lua = LJS_MAX_LUA;
const volatile __u32 old_regs = 0; /* The kernel has no bpf_task_pt_regs(). */
const volatile __u32 ring_size = RING_SIZE;
const volatile __u32 hz = 0, tick_hz = 0; /* Samples, and ticks, a second. */
const volatile __s64 tick_bases = 0, tick_regs = 0; /* See tick.h. */

__u32 generation = 0; /* Which table of counts is in use: 0 or 1. */
__u32 ticking = 0;    /* A tick was seen. */

/* -- Maps ----------------------------------------------------------------- */

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, __u32);
  __type(value, struct ljs_proc);
} procs SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, LJS_MODULES);
  __type(key, __u32);
  __type(value, struct ljs_module);
} modules SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, __u64); /* LJS_PAGE_KEY. */
  __type(value, struct ljs_page);
} pages SEC(".maps");

struct counts {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, struct ljs_key);
  __type(value, __u64);
};

/* Each is counted into while the other one is read: two maps in
** SEC(".maps").
*/
struct counts counts0 SEC(".maps");
struct counts counts1 SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, RING_SIZE);
} ring SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, LJS_STATISTICS);
  __type(key, __u32);
  __type(value, __u64);
} statistics SEC(".maps");

/* Add 1 to a statistic, LJS_STATISTIC_*. */
static __always_inline void count_statistic(__u32 which)
{
  __u64 *n = bpf_map_lookup_elem(&statistics, &which);
  if (n)
    *n += 1;
}

#endif
