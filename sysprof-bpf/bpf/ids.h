/*
** Numbers of the current process and thread, as the sampler knows them.
*/

#ifndef LJS_IDS_H
#define LJS_IDS_H

const volatile __u64 pidns_dev = 0, pidns_ino = 0; /* Set before the load. */

#define PIDNS_INIT 0xeffffffcu /* Fixed for the initial namespace. */

#define LEVELS 8 /* Of pid namespaces that are looked at. */

/* The number of a task in the sampler's pid namespace; 0 if it has none. */
static __always_inline __u32 number_of(struct task_struct *task)
{
  struct pid *pid = BPF_CORE_READ(task, thread_pid);
  __u32 level = BPF_CORE_READ(pid, level), i;
  for (i = 0; i < LEVELS; i++) {
    struct upid upid;
    if (i > level ||
        bpf_probe_read_kernel(&upid, sizeof(upid),
                              (void *)&pid->numbers[0] + i * sizeof(upid)))
      return 0;
    if (BPF_CORE_READ(upid.ns, ns.inum) == (__u32)pidns_ino)
      return upid.nr;
  }
  return 0;
}

/* Ids of the current thread and process in the sampler's pid namespace. Returns
** 0 if they are not in it.
*/
static __always_inline int current_ids(struct bpf_pidns_info *ids)
{
  struct task_struct *task;
  if (pidns_ino == PIDNS_INIT) { /* The kernel's own numbers, then. */
    __u64 both = bpf_get_current_pid_tgid();
    ids->pid = (__u32)both;
    ids->tgid = both >> 32;
    return 1;
  }
  if (!bpf_get_ns_current_pid_tgid(pidns_dev, pidns_ino, ids, sizeof(*ids)))
    return 1;
  task = (struct task_struct *)bpf_get_current_task();
  ids->pid = number_of(task);
  ids->tgid = number_of(BPF_CORE_READ(task, group_leader));
  return ids->tgid != 0;
}

#endif
