/*
** The kernel's own timer tick.
**
** The timer of a CPU's tick is one of the CPU's own variables, as is the
** pointer to the registers that an interrupt has found. A CPU's variables are a
** copy of one section of the kernel, so their distances are those in the
** section, which BTF has. That needs no addresses: /proc/kallsyms has them of
** variables on some kernels only (CONFIG_KALLSYMS_ALL), and names of the tick's
** functions change.
*/

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <bpf/btf.h>

#include "tick.h"

#define SECOND 1000000000

unsigned ls_tick_hz(void)
{
  struct timespec fine, coarse; /* The coarse clock goes on at each tick. */
  if (clock_getres(CLOCK_MONOTONIC, &fine) || fine.tv_nsec != 1 ||
      clock_getres(CLOCK_MONOTONIC_COARSE, &coarse) || coarse.tv_nsec <= 0)
    return 0;
  return (unsigned)((SECOND + coarse.tv_nsec / 2) / coarse.tv_nsec);
}

/* Where a variable is in the section of those that each CPU has; or -1. */
static int64_t variable(const struct btf *btf, const char *name)
{
  int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
  const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(btf, id);
  const struct btf_var_secinfo *var;
  unsigned i;
  if (!section)
    return -1;
  var = btf_var_secinfos(section);
  for (i = 0; i < btf_vlen(section); i++) {
    const struct btf_type *t = btf__type_by_id(btf, var[i].type);
    if (t && strcmp(btf__name_by_offset(btf, t->name_off), name) == 0)
      return var[i].offset;
  }
  return -1;
}

/* Where a member of a structure is; or -1. */
static int64_t member(const struct btf *btf, const char *of, const char *name)
{
  int id = btf__find_by_name_kind(btf, of, BTF_KIND_STRUCT);
  const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, id);
  unsigned i;
  for (i = 0; t && i < btf_vlen(t); i++) {
    const struct btf_member *m = btf_members(t) + i;
    if (strcmp(btf__name_by_offset(btf, m->name_off), name) == 0)
      return btf_member_bit_offset(t, i) / 8;
  }
  return -1;
}

/* Finds all that is needed. Returns what is not there, or NULL. */
static const char *find(LsTick *t, const struct btf *btf)
{
  int64_t sched = variable(btf, "tick_cpu_sched");
  int64_t timer = member(btf, "tick_sched", "sched_timer");
  int64_t bases = variable(btf, "hrtimer_bases");
  int64_t regs = variable(btf, "__irq_regs");
  if (sched < 0 || timer < 0)
    return "tick_cpu_sched";
  if (bases < 0)
    return "hrtimer_bases";
  if (regs < 0)
    return "__irq_regs";
  if (btf__find_by_name_kind(btf, "btf_trace_hrtimer_expire_entry",
                             BTF_KIND_TYPEDEF) < 0)
    return "hrtimer_expire_entry";
  t->bases = bases - sched - timer;
  t->regs = regs - sched - timer;
  return NULL;
}

int ls_tick_find(LsTick *t, char *why, size_t size)
{
  struct btf *btf = btf__load_vmlinux_btf();
  const char *none = btf ? find(t, btf) : "BTF";
  btf__free(btf);
  if (none)
    snprintf(why, size, "this kernel has no %s: leave out -e tick", none);
  return none ? -1 : 0;
}
