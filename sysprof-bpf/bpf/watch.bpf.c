/*
** The BPF program of processes that begin: children of watched processes, and
** programs that these start.
*/

#include "kernel.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "ljs.h"
#include "ids.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile __u32 every = 0; /* Any process may start a program. */

__u32 lost = 0; /* Events for which there was no room. */

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 8192);
  __type(key, __u32); /* Of a process, as the sampler knows it. */
  __type(value, __u32);
} watched SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 17);
} events SEC(".maps");

static __always_inline void tell(__u32 what, __u32 pid)
{
  struct ljs_event e = {what, pid};
  if (bpf_ringbuf_output(&events, &e, sizeof(e), 0))
    __sync_fetch_and_add(&lost, 1);
}

/* A new process is watched at once: it may have children before user space
** knows of it.
*/
SEC("tp_btf/sched_process_fork")
int forked(__u64 *ctx)
{
  struct task_struct *parent = (struct task_struct *)ctx[0];
  struct task_struct *child = (struct task_struct *)ctx[1];
  struct bpf_pidns_info ids;
  __u32 pid, one = 1;
  if (child->tgid == parent->tgid || !current_ids(&ids)) /* A thread. */
    return 0;
  pid = ids.tgid;
  if (!bpf_map_lookup_elem(&watched, &pid))
    return 0;
  pid = number_of(child);
  if (bpf_map_update_elem(&watched, &pid, &one, BPF_ANY))
    __sync_fetch_and_add(&lost, 1);
  tell(LJS_EVENT_FORK, pid);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int executed(void *ctx)
{
  struct bpf_pidns_info ids;
  __u32 pid;
  (void)ctx;
  if (!current_ids(&ids))
    return 0;
  pid = ids.tgid;
  if (every || bpf_map_lookup_elem(&watched, &pid))
    tell(LJS_EVENT_EXEC, pid);
  return 0;
}
