/*
** Which processes and threads are wanted, by their labels.
*/

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "pick.h"

const char *const lp_pick_key[LP_NPICK] = {
    [LP_PICK_PID] = "pid",       [LP_PICK_COMM] = "comm",
    [LP_PICK_THREAD] = "thread", [LP_PICK_TID] = "tid",
    [LP_PICK_CGROUP] = "cgroup", [LP_PICK_HOST] = "host",
};

/* Append a name. */
static void pick_name(LpBuf *b, const LpCpu *cpu, uint32_t name)
{
  size_t n;
  const char *s = lp_intern_get(cpu->names, name, &n);
  lp_buf_add(b, s, n);
}

/* Append the value of a label of a thread T of a process P. */
static void pick_value(LpBuf *b, const LpCpu *cpu, const LpProcessInfo *p,
                       const LpThreadInfo *t, LpPickKey key)
{
  if (key == LP_PICK_PID && p->pid)
    lp_buf_printf(b, "%" PRIu64, p->pid);
  else if (key == LP_PICK_TID && t->tid)
    lp_buf_printf(b, "%" PRIu64, t->tid);
  else if (key == LP_PICK_COMM)
    pick_name(b, cpu, p->command);
  else if (key == LP_PICK_THREAD)
    pick_name(b, cpu, t->name);
  else if (key == LP_PICK_CGROUP)
    pick_name(b, cpu, p->cgroup);
  else if (key == LP_PICK_HOST)
    pick_name(b, cpu, p->host);
}

void lp_pick_value(LpBuf *b, const LpCpu *cpu, uint32_t id, LpPickKey key)
{
  LpThreadInfo t;
  LpProcessInfo p;
  lp_cpu_info(&cpu->threads, id, &t);
  lp_cpu_info(&cpu->processes, t.process, &p);
  pick_value(b, cpu, &p, &t, key);
}

void lp_pick_process_value(LpBuf *b, const LpCpu *cpu, uint32_t id,
                           LpPickKey key)
{
  LpThreadInfo none;
  LpProcessInfo p;
  lp_cpu_info(&cpu->threads, LP_THREAD_NONE, &none);
  lp_cpu_info(&cpu->processes, id, &p);
  pick_value(b, cpu, &p, &none, key);
}

/* Does a component of a path match? */
static int pick_component(const char *glob, char *path)
{
  char *save = NULL, *s;
  for (s = strtok_r(path, "/", &save); s; s = strtok_r(NULL, "/", &save))
    if (fnmatch(glob, s, 0) == 0)
      return 1;
  return 0;
}

static int pick_is(const LpPick *pick, LpBuf *value)
{
  if (!value->n)
    return 0;
  return fnmatch(pick->glob, value->s, 0) == 0 ||
         (pick->key == LP_PICK_CGROUP && pick_component(pick->glob, value->s));
}

/* Do all conditions hold? */
static int pick_all(const LpPick *pick, size_t n, const LpCpu *cpu,
                    const LpProcessInfo *p, const LpThreadInfo *t)
{
  unsigned asked = 0, held = 0;
  size_t i;
  for (i = 0; i < n; i++) {
    LpBuf value = {0};
    asked |= 1u << pick[i].key;
    pick_value(&value, cpu, p, t, pick[i].key);
    if (pick_is(&pick[i], &value))
      held |= 1u << pick[i].key;
    lp_buf_free(&value);
  }
  return held == asked;
}

int lp_pick_thread(const LpPick *pick, size_t n, const LpCpu *cpu, uint32_t id)
{
  LpThreadInfo t;
  LpProcessInfo p;
  lp_cpu_info(&cpu->threads, id, &t);
  lp_cpu_info(&cpu->processes, t.process, &p);
  return pick_all(pick, n, cpu, &p, &t);
}

int lp_pick_process(const LpPick *pick, size_t n, const LpCpu *cpu,
                    const LpProcessInfo *p)
{
  LpThreadInfo none;
  lp_cpu_info(&cpu->threads, LP_THREAD_NONE, &none);
  return pick_all(pick, n, cpu, p, &none);
}
