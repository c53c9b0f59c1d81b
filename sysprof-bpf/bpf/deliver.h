/*
** Stacks that are whole: counted, and handed to user space if they are new.
*/

#ifndef LJS_DELIVER_H
#define LJS_DELIVER_H

/* What user space has seen and can name later: VMs, and the functions and
** traces of frames.
*/
#define MET_BITS 16

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1 << MET_BITS);
  __type(key, __u32);
  __type(value, __u64);
} met SEC(".maps");

/* Is it new in the process, and so may be freed soon? */
static __always_inline __u32 is_new(__u32 pid, __u64 what, __u64 more)
{
  __u64 key = ljs_mix(ljs_mix(ljs_mix(0, pid), what), more), *old;
  __u32 at = (__u32)(key >> (64 - MET_BITS));
  old = bpf_map_lookup_elem(&met, &at);
  if (!old || *old == key)
    return 0;
  *old = key;
  return 1;
}

/* Kinds of frames whose names are read from the process. */
#define ASKED                                                                  \
  (1u << LJS_FRAME_LUA | 1u << LJS_FRAME_BUILTIN | 1u << LJS_FRAME_TRACE |     \
   1u << LJS_FRAME_JIT)

#define CODE_BITS 16 /* Of an address: code that is asked for at once. */

/* Is frame I of the stack in something new, or in code of no known file, which
** may have been mapped lately? Not inlined: verified once only.
*/
__noinline int frame_is_new(__u32 i)
{
  struct scratch *s = get_scratch();
  const struct ljs_frame *f;
  __u32 x;
  if (!s || i >= LJS_MAX_FRAMES)
    return 0;
  f = &s->walk.out.frame[i];
  if (f->kind == LJS_FRAME_MARK && f->x == LJS_CUT_NOMAP && i > 0)
    return (int)is_new(s->walk.out.pid,
                       s->walk.out.frame[i - 1].addr >> CODE_BITS,
                       LJS_FRAME_MARK);
  if (!(ASKED >> (f->kind & 31) & 1))
    return 0;
  x = f->kind == LJS_FRAME_BUILTIN ? f->x : 0;
  return (int)is_new(s->walk.out.pid, f->addr,
                     (__u64)x << 32 | f->check << 8 | f->kind);
}

/* Must user space be woken for a stack? That takes an interrupt of this CPU and
** one of another, and more time than the rest of a sample. Without it, stacks
** are read when a table of counts is emptied.
*/
static __always_inline __u64 wakeup(const struct ljs_stack *out)
{
  __u32 n = out->nframes, i, urgent = 0;
  __u64 last = 0;
  if (out->g)
    urgent = is_new(out->pid, out->g, 0);
#pragma nounroll
  for (i = 0; i < LJS_MAX_FRAMES && i < n; i++) {
    if (out->frame[i].addr != last)
      urgent |= (__u32)frame_is_new(i);
    last = out->frame[i].addr;
  }
  if (!urgent && bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < ring_size / 4)
    return BPF_RB_NO_WAKEUP;
  count_statistic(LJS_WOKEN);
  return BPF_RB_FORCE_WAKEUP;
}

/* Sends a new stack to user space. Returns 0, or -1 if the ring is full. */
static __always_inline int deliver(struct ljs_stack *out)
{
  __u32 n = out->nframes;
  __u64 size;
  if (n > LJS_MAX_FRAMES)
    n = LJS_MAX_FRAMES;
  size = sizeof(*out) - sizeof(out->frame) + n * sizeof(struct ljs_frame);
  if (size > sizeof(*out))
    return -1;
  /* The thread may have ended before user space reads its name. */
  bpf_get_current_comm(out->name, sizeof(out->name));
  return bpf_ringbuf_output(&ring, out, size, wakeup(out)) ? -1 : 0;
}

/* Counts the finished stack. Not inlined: verified only once. */
__noinline int finish(void)
{
  struct scratch *s = get_scratch();
  struct ljs_stack *out;
  struct ljs_key key = {0};
  __u64 *n, one = 1;
  if (!s)
    return 0;
  out = &s->walk.out;
  /* With other mappings, the same addresses are other places. */
  out->key = ljs_mix(ljs_mix(out->key, out->cut), s->walk.version);
  key.key = out->key;
  key.pid = out->pid;
  key.tid = out->tid;
  if (generation & 1)
    n = bpf_map_lookup_elem(&counts1, &key);
  else
    n = bpf_map_lookup_elem(&counts0, &key);
  if (n) {
    __sync_fetch_and_add(n, 1);
  } else if (deliver(out)) {
    count_statistic(LJS_DROPPED_RING);
  } else {
    long err;
    if (generation & 1)
      err = bpf_map_update_elem(&counts1, &key, &one, BPF_NOEXIST);
    else
      err = bpf_map_update_elem(&counts0, &key, &one, BPF_NOEXIST);
    if (err)
      count_statistic(LJS_DROPPED_FULL);
  }
  s->busy = 0;
  return 0;
}

#endif
