/*
** Files that were not read, by process.
*/

#include <stdio.h>

#include "timedread.h"
#include "refused.h"
#include "say.h"

/* The number of T's entry, a new one if there is room; or LS_REFUSED_MAX. */
static size_t entry(LsRefused *r, const LsTarget *t)
{
  size_t i;
  for (i = 0; i < r->n; i++)
    if (r->process[i].pid == t->pid && r->process[i].start == t->start)
      return i;
  if (i == LS_REFUSED_MAX)
    return i;
  r->n++;
  r->process[i].pid = t->pid;
  r->process[i].start = t->start;
  snprintf(r->process[i].key, sizeof(r->process[i].key), "refused_%d",
           (int)t->pid);
  return i;
}

void ls_refused_note(LsRefused *r, LsTarget *t)
{
  uint64_t more = t->refused - t->counted;
  size_t i;
  if (!more)
    return;
  t->counted = t->refused;
  r->total += more;
  i = entry(r, t);
  if (i == LS_REFUSED_MAX) {
    return;
  }
  if (!r->process[i].files)
    ls_say("process %d (%s) has %s: code is cut or without names in %u or more",
           (int)t->pid, t->command, t->why, t->refused);
  r->process[i].files += more;
}

void ls_refused_held(LsRefused *r, LsTarget *t)
{
  if (t->held || !ls_timedread_held(t->pid))
    return;
  t->held = 1;
  r->held++;
  ls_say("process %d (%s) holds up who reads its memory: its Lua frames are "
         "left out or without names",
         (int)t->pid, t->command);
}

size_t ls_refused_list(const LsRefused *r, LsStatistic out[LS_REFUSED_PAIRS])
{
  size_t n = 0, i;
  if (r->held)
    out[n++] = (LsStatistic){"held_up", r->held};
  if (!r->total)
    return n;
  out[n++] = (LsStatistic){"refused", r->total};
  for (i = 0; i < r->n; i++)
    out[n++] = (LsStatistic){r->process[i].key, r->process[i].files};
  return n;
}
