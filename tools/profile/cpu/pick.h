/*
** Which processes and threads are wanted, by their labels.
*/

#ifndef LP_PICK_H
#define LP_PICK_H

#include "cpu.h"

/* Labels of processes and threads. */
typedef enum LpPickKey {
  LP_PICK_PID,
  LP_PICK_COMM,   /* The name of the process. */
  LP_PICK_THREAD, /* The name of the thread. */
  LP_PICK_TID,
  LP_PICK_CGROUP,
  LP_PICK_HOST,
  LP_NPICK
} LpPickKey;

/* Keys of labels, as --label and reports have them. */
extern const char *const lp_pick_key[LP_NPICK];

/* A condition. Of each label that has conditions, at least one must hold. */
typedef struct LpPick {
  LpPickKey key;
  const char *glob; /* As fnmatch; of a cgroup, also one of its components. */
} LpPick;

/* Append the value of a label of thread ID; nothing if it is not known. */
void lp_pick_value(LpBuf *b, const LpCpu *cpu, uint32_t id, LpPickKey key);

/* The same of process ID; nothing of labels of threads. */
void lp_pick_process_value(LpBuf *b, const LpCpu *cpu, uint32_t id,
                           LpPickKey key);

/* Is thread ID wanted, by N conditions? */
int lp_pick_thread(const LpPick *pick, size_t n, const LpCpu *cpu, uint32_t id);

/* The same of process P, of which no thread is known: conditions of threads do
** not hold.
*/
int lp_pick_process(const LpPick *pick, size_t n, const LpCpu *cpu,
                    const LpProcessInfo *p);

#endif
