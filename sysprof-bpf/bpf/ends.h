/*
** CPU time of processes that end.
*/

#ifndef LJS_ENDS_H
#define LJS_ENDS_H

/* By the kernel's own number of the process: there is no other when its memory
** is freed.
*/
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct ljs_end);
} ends SEC(".maps");

/* A thread ends. */
SEC("tp_btf/sched_process_exit")
int ending(void *ctx)
{
  __u32 tgid = bpf_get_current_pid_tgid() >> 32, pid;
  struct ljs_end end = {0};
  struct bpf_pidns_info ids;
  (void)ctx;
  if (!current_ids(&ids))
    return 0;
  pid = end.pid = ids.tgid;
  if (bpf_map_lookup_elem(&procs, &pid))
    bpf_map_update_elem(&ends, &tgid, &end, BPF_NOEXIST);
  return 0;
}

/* A thread has been waited for, and has used all the time that it will. */
SEC("tp_btf/sched_process_free")
int ended(__u64 *ctx)
{
  struct task_struct *task = (struct task_struct *)ctx[0];
  __u32 tgid = task->tgid;
  struct ljs_end *end = bpf_map_lookup_elem(&ends, &tgid);
  __u64 cpu;
  if (!end)
    return 0;
  cpu = task->signal->sum_sched_runtime;
  if (cpu > end->cpu)
    end->cpu = cpu;
  if (!task->signal->nr_threads)
    end->done = 1;
  return 0;
}

#endif
