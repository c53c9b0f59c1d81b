/*
** Budgets of processes and of users.
**
** A process has a share of what there is, and a user one for all of his
** processes, so no process takes all of it, and forking does not help. Time
** grows again while the process runs.
*/

#include <stdlib.h>
#include <time.h>

#include "budget.h"
#include "hash.h"

/* Shares of a process, and of a user. A file is counted as a module once it is
** read. What it takes is CPU time: on a loaded machine any file waits, and a
** slow disk is nobody's fault; but who waits for it cannot read others.
*/
typedef struct Share {
  uint64_t loaded, ever; /* Files at a time, and in all. */
  LsCost cost;
} Share;

#define MIB    ((uint64_t)1 << 20)
#define SECOND ((uint64_t)1000000000)

static const Share share[2] = {
    {512, 4096, {16384, 64 * MIB, 2 * SECOND, 10 * SECOND}},
    {2048, 16384, {32768, 128 * MIB, 4 * SECOND, 20 * SECOND}},
};

#define REGROWS                                                                \
  50 /* A second of time is granted for so many that have passed. */

/* A process (its number and its start) or a user (its number and
** UINT64_MAX).
*/
typedef struct Key {
  uint64_t id, start;
} Key;

typedef struct Account {
  Key key;
  uint64_t loaded, ever;
  LsCost cost;
  uint64_t since; /* Time is counted from here on. */
} Account;

struct LsBudget {
  LsHash accounts;
};

uint64_t ls_budget_now(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

LsBudget *ls_budget_open(void)
{
  return calloc(1, sizeof(LsBudget));
}

void ls_budget_close(LsBudget *b)
{
  if (b)
    ls_hash_free(&b->accounts);
  free(b);
}

/* The account of the owner's process, or with USER of its user. NULL without
** memory.
*/
static Account *account(LsBudget *b, const LsOwner *owner, int user)
{
  Key key = {(uint64_t)owner->pid, owner->start};
  Account *a;
  if (user)
    key = (Key){owner->uid, UINT64_MAX};
  a = ls_hash_find(&b->accounts, &key, sizeof(key), sizeof(*a));
  if (!a && (a = ls_hash_put(&b->accounts, &key, sizeof(key), sizeof(*a))))
    a->since = ls_budget_now();
  return a;
}

/* Is this more time than was granted until now? Root has many processes and no
** need to attack this one: only each of its processes is limited.
*/
static int too_slow(const Account *a, const Share *s, const LsOwner *owner,
                    int user)
{
  uint64_t grown = (ls_budget_now() - a->since) / REGROWS;
  return !(user && owner->uid == 0) &&
         (a->cost.cpu > s->cost.cpu + grown || a->cost.ns > s->cost.ns + grown);
}

const char *ls_budget_refuse(LsBudget *b, const LsOwner *owner, int fresh)
{
  static const char *const why[2][3] = {
      {"more files than one process may have read",
       "more files, one after the other, than one process may have read",
       "files that take too long to read"},
      {"more files than one user may have read",
       "more files, one after the other, than one user may have read",
       "a user whose files take too long to read"},
  };
  int user;
  for (user = 0; owner && user < 2; user++) {
    const Account *a = account(b, owner, user);
    const Share *s = &share[user];
    if (!a)
      return "out of memory";
    if (a->loaded >= s->loaded)
      return why[user][0];
    if (fresh && a->ever >= s->ever)
      return why[user][1];
    if (too_slow(a, s, owner, user))
      return why[user][2];
  }
  return NULL;
}

const char *ls_budget_exceeds(LsBudget *b, const LsOwner *owner,
                              const LsCost *cost)
{
  int user;
  for (user = 0; owner && user < 2; user++) {
    const Account *a = account(b, owner, user);
    const LsCost *most = &share[user].cost;
    if (!a)
      return "out of memory";
    if (a->cost.pages + cost->pages > most->pages)
      return user ? "larger unwind tables than one user may have"
                  : "larger unwind tables than one process may have";
    if (a->cost.bytes + cost->bytes > most->bytes)
      return user ? "more names than one user may have"
                  : "more names than one process may have";
  }
  return NULL;
}

void ls_budget_charge(LsBudget *b, const LsOwner *owner, const LsCost *cost,
                      int fresh)
{
  int user;
  for (user = 0; owner && user < 2; user++) {
    Account *a = account(b, owner, user);
    if (!a)
      continue;
    a->loaded++;
    a->ever += fresh != 0;
    a->cost.pages += cost->pages;
    a->cost.bytes += cost->bytes;
    a->cost.cpu += cost->cpu;
    a->cost.ns += cost->ns;
  }
}

void ls_budget_return(LsBudget *b, const LsOwner *owner, const LsCost *cost)
{
  int user;
  for (user = 0; owner && user < 2; user++) {
    Account *a = account(b, owner, user);
    if (!a || !a->loaded)
      continue;
    a->loaded--;
    a->cost.pages -= cost->pages;
    a->cost.bytes -= cost->bytes;
  }
}
