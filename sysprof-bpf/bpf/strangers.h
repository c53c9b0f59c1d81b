/*
** Processes that are not sampled, as no LuaJIT was found in them, or not yet:
** whoever runs is told of, to be looked at again.
*/

#ifndef LJS_STRANGERS_H
#define LJS_STRANGERS_H

const volatile __u32 no_strangers = 0;

#define STRANGERS 4096 /* Are remembered. */

/* Nanoseconds until one is told of again, at first and at most; it doubles. */
#define STRANGER_FIRST 2000000u
#define STRANGER_MOST  500000000u

/* One that was told of. With another program it has another memory. */
struct stranger {
  __u64 mm;
  __u64 next; /* When to tell of it again. */
  __u32 pid, pause;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, STRANGERS);
  __type(key, __u32);
  __type(value, struct stranger);
} known SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 16);
} strangers SEC(".maps"); /* Of their numbers. */

/* The process that runs is not sampled. */
static __always_inline void meet(__u32 pid)
{
  struct task_struct *task = (struct task_struct *)bpf_get_current_task();
  __u64 mm = (__u64)BPF_CORE_READ(task, mm), now = bpf_ktime_get_ns();
  __u32 at = (__u32)(ljs_mix(0, pid) >> 32) % STRANGERS;
  struct stranger *s = bpf_map_lookup_elem(&known, &at);
  if (!mm || !s)
    return;
  if (s->pid != pid || s->mm != mm)
    s->pause = STRANGER_FIRST / 2;
  else if (now < s->next)
    return;
  s->pid = pid;
  s->mm = mm;
  s->pause = s->pause < STRANGER_MOST / 2 ? s->pause * 2 : STRANGER_MOST;
  s->next = now + s->pause;
  bpf_ringbuf_output(&strangers, &pid, sizeof(pid), 0);
}

#endif
